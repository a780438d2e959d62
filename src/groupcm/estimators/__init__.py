"""Estimators fitted to candidates."""
