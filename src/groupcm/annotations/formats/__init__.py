"""One file a format: ``read(reading)`` and ``write(annotations, writing)`` each."""
