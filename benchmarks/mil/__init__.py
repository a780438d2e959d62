"""Benchmarks (m) to (o): MI-SVM."""
