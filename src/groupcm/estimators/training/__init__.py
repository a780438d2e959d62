"""From rows to a solved task."""
