"""`weft doctor`: which OpenMP runtimes a program or a process loads, and whether weft can stand in for them."""
