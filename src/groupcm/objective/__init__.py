"""The objective: losses, penalties, grouping, terms, the problem and its dual."""
