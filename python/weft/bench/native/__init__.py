"""Benchmarks of the threading core: weft's native C API beside other threading libraries."""
