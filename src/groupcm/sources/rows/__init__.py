"""Rows as passes over a source read them: chunks, streams, samples and screening."""
