"""What the benchmarks share: data, measuring, processes and tables of text."""
