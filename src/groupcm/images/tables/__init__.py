"""Tables of candidates, from folders of pictures and their annotations."""
