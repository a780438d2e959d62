"""Classify groups of candidates, trained to a certified optimum."""

__version__ = "0.1.0"
