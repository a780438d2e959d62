"""The figures of reports, one family per module."""
