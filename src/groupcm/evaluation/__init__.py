"""From scores and truth to the numbers of an evaluation."""
