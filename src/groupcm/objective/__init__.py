"""The objective: losses, penalties, the terms of a grouping, the problem and its dual.

The chain from raw rows to what a solver evaluates, with one type per stage::

    raw rows     one group id per row    an array, or a column of a source
      │  index_groups; of a source CandidateIndex, which joins the runs of its chunks
    GroupIndex   row → group             the ids, numbered in order of first appearance
      │  Groups.from_index
    Groups       group → its rows        ranges of positions, and the order of the rows
      │  binary_terms, with the labels, the overlaps and the grouping
    Terms        term → its rows         the rows that count together, with a sign and a weight
      │  SolverRows.blocks, or the rows that a solver keeps
    Block        term → its features     the rows themselves, loaded when they are needed

Where the rows of every group are contiguous, ``order`` is empty: nothing is sorted, and no stage
copies a row or needs more than a few numbers per group. `GroupTable` and `TrainingGroups` hold the
label and the patient of each group, for folds and metrics, and take no part in the chain.
"""
