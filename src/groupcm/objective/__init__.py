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

from __future__ import annotations

from groupcm.utils.parameters import Parameter, Values, number, one_of
from groupcm.utils.registry import Plugin, Registry

__all__ = ["OBJECTIVES", "OBJECTIVE_PARAMETERS"]

_SHARE = number("a share above 0, at most 1", lambda x: 0.0 < x <= 1.0)

#: The objectives by the name that an estimator's ``objective`` gives them.
OBJECTIVES = Registry(
    __name__,
    {
        "gcm": Plugin("problem.Problem"),
        "partial_auc": Plugin(
            "partial_auc.PartialAuc",
            Parameter(
                "max_fpr",
                Values(_SHARE.what, _SHARE.allow, "number or numbers"),
                1.0,
                option="--max-fpr",
                help="the false-positive rate of groups up to which --objective partial_auc "
                "maximises the area under the ROC curve; 1 is the whole area; several (0.05,0.1) "
                "with --cv, which chooses among them",
                metavar="SHARE",
            ),
        ),
    },
)
#: The hyperparameter that chooses one of them, and theirs.
OBJECTIVE_PARAMETERS = (
    Parameter(
        "objective",
        one_of(*OBJECTIVES),
        "gcm",
        option="--objective",
        help="minimise the loss of groups (gcm), or of pairs of groups for screening (partial_auc)",
    ),
    *OBJECTIVES.hyperparameters,
)
