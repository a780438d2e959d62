"""The scores of the candidates, and of the groups, of tables that are read."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from groupcm.estimators.place import place_scores
from groupcm.estimators.scoring import GroupScores
from groupcm.evaluation.scored import ScoredCandidates, rows_with_missing
from groupcm.evaluation.scoring import positive_rows, score_source, scores_of
from groupcm.sources.candidates import Candidates, InMemoryCandidates, StreamedCandidates
from groupcm.utils.merged_warnings import ignore_warnings
from groupcm.utils.progress import announce_stage

__all__ = ["group_scores_of_rows", "score_rows"]


def score_rows(model: Any, candidates: Candidates) -> ScoredCandidates:
    """Score every candidate of tables, and add what is known of it.

    Parameters
    ----------
    model : estimator
        A fitted model of two classes.
    candidates : Candidates
        Its features are in the order of the model.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from groupcm import GroupClassifier
    >>> from groupcm.sources import read_candidates
    >>> from groupcm.estimators.tables import fit_candidates
    >>> path = Path(tempfile.mkdtemp()) / "frames.csv"
    >>> _ = path.write_text("frame,polyp,size\\na,1,2.5\\na,0,1.5\\nb,0,2.0\\nb,0,1.0\\n")
    >>> rows = read_candidates(path, group="frame", label="polyp")
    >>> score_rows(fit_candidates(GroupClassifier(), rows), rows).group_positive.tolist()
    [True, False]
    """
    announce_stage(f"scoring {candidates.n_rows:,} rows")
    by_patient = candidates.patient_index
    if isinstance(candidates, StreamedCandidates):
        return score_source(model, candidates.X, by_patient=by_patient, **candidates.annotation())
    is_positive = positive_rows(model, candidates.labels)
    with _named_by_order():
        scores, place = scores_of(model, candidates.X), place_scores(model, candidates.X)
    marks = candidates.annotation()
    return ScoredCandidates(
        candidates.group_index,
        scores,
        is_positive,
        candidates.rows,
        by_patient,
        objects=marks.get("objects"),
        annotated=marks.get("annotated"),
        has_missing=rows_with_missing(candidates.X),
        place=place,
    )


def group_scores_of_rows(model: Any, candidates: Candidates) -> GroupScores:
    """Return the score and the winner of each group, by the names of groups in the tables.

    Parameters
    ----------
    model : estimator
        A fitted model.
    candidates : Candidates
        Its features are in the order of the model.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from groupcm import GroupClassifier
    >>> from groupcm.sources import read_candidates
    >>> from groupcm.estimators.tables import fit_candidates
    >>> path = Path(tempfile.mkdtemp()) / "frames.csv"
    >>> _ = path.write_text("frame,polyp,size\\na,1,2.5\\na,0,1.5\\nb,0,2.0\\nb,0,1.0\\n")
    >>> rows = read_candidates(path, group="frame", label="polyp")
    >>> group_scores_of_rows(fit_candidates(GroupClassifier(), rows), rows).group.tolist()
    ['a', 'b']
    """
    if not isinstance(candidates, InMemoryCandidates):
        return model.group_scores(candidates.X)
    group = candidates.table.group
    with _named_by_order():
        found = model.group_scores(candidates.X, group.codes)
    names = group.values(np.asarray(found.group)).to_numpy(zero_copy_only=False)
    return GroupScores(names, found.score, found.winner)


@contextmanager
def _named_by_order() -> Iterator[None]:
    """Within the block, ignore that a matrix has no names: its columns are in the model's order."""
    with ignore_warnings(UserWarning, module=r"sklearn\."):
        yield
