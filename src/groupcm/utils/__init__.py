"""Files, locks, memory, threads, progress and text: helpers that every package uses."""
