"""From folders of pictures to tables of candidates."""
