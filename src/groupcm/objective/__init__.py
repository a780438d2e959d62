"""The objective: losses, penalties, the terms of a grouping, the problem and its dual."""
