"""Fuzzing: random problems and damaged files, each in a process of its own.

A *target* draws cases with Hypothesis and checks one case. `fuzz.forking` runs each case in a
forked process with limits on memory and time, `fuzz.cases` draws and shrinks cases, and
`fuzz.command` is what ``make fuzz`` runs.
"""
