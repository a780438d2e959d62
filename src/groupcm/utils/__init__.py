"""Files, locks, memory, threads, progress and text: what every part of the package uses."""
