"""Pictures scored by a model: a folder, a video or a table of candidates."""
