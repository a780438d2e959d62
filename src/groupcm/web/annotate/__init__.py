"""The page on which objects are annotated."""
