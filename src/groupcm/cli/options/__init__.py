"""The options of every command; only the standard library is imported here."""
