"""One module per format, each with ``read(reading)`` and ``write(annotations, writing)``."""
