"""Scores of pictures with a fitted model."""
