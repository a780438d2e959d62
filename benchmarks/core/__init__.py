"""Benchmarks (a) to (f) and (m): fits in memory."""
