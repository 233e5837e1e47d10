"""The command `weft`: run OpenMP programs on weft, look at what they load, compare runtimes."""

__version__ = "0.1.0"
