"""`weft bench`: the benchmark programs of bench/ on several OpenMP runtimes, interleaved, as tables, JSON and plots."""
