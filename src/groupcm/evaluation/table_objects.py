"""What tables record of objects: the complete list of them, and columns that hit rules read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from groupcm.data.tables.formats import find_tables, open_table
from groupcm.data.tables.role_columns import object_names, read_key, read_numbers
from groupcm.errors import Argument, InputError
from groupcm.evaluation.scored import ScoredCandidates
from groupcm.sources.candidates import Candidates

__all__ = ["AllObjects", "read_all_objects", "with_hit_column"]


@dataclass(frozen=True)
class AllObjects:
    """Every object with the groups that show it, as a table lists them.

    Attributes
    ----------
    pairs : list of tuple
        The number of the object, as `read_objects` numbers those of the candidates, and the id of a
        group that shows it.
    patients : dict or None
        The patient of each group.
    """

    pairs: list[tuple[int, Any]]
    patients: dict[Any, Any] | None


def read_all_objects(
    path: str | Path,
    files: Sequence[Path],
    *,
    object: str,
    group: str,
    patient: str | None = None,
) -> AllObjects:
    """Read a table that lists every object, one row for each group that shows it.

    Parameters
    ----------
    path : path
        The list.
    files : sequence of Path
        The tables of candidates, whose objects keep their numbers.
    object, group, patient : str
        The columns of the list; ``object`` and ``group`` are those of the candidates too. The
        column of patients is read where the list has it.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> _ = (folder / "rows.csv").write_text("frame,polyp\\na,p7\\n")
    >>> _ = (folder / "polyps.csv").write_text("frame,polyp\\nb,p9\\na,p7\\n")
    >>> files = [folder / "rows.csv"]
    >>> read_all_objects(folder / "polyps.csv", files, object="polyp", group="frame").pairs
    [(1, 'b'), (0, 'a')]
    """
    listed = find_tables([path])
    groups = read_key(listed, group, "group").per_row().tolist()
    # Programs write the same id as a number or as text.
    number = {str(name): at for at, name in enumerate(object_names(files, object))}
    ids = read_key(listed, object, "object").per_row().tolist()
    numbers = [number.setdefault(str(each), len(number)) for each in ids]
    has_patients = patient is not None and all(
        patient in open_table(file).schema.names for file in listed
    )
    patients = None
    if has_patients and patient is not None:
        patients = dict(
            zip(groups, read_key(listed, patient, "patient").per_row().tolist(), strict=True)
        )
    return AllObjects(list(zip(numbers, groups, strict=True)), patients)


def with_hit_column(
    scored: ScoredCandidates, candidates: Candidates, hit_rule: str, column: str | None
) -> ScoredCandidates:
    """Read the column that a hit rule needs, where it needs another one than the overlap.

    Parameters
    ----------
    scored : ScoredCandidates
    candidates : Candidates
        The tables.
    hit_rule : str
    column : str or None
        By default ``centre_inside`` for "centre" and ``centre_distance`` for "distance".
    """
    field = {"centre": "centre_inside", "distance": "centre_distance"}.get(hit_rule)
    if field is None:
        if column is not None:
            raise InputError(
                Argument("hit_column"), f" is not read by the hit rule {hit_rule!r}; leave it out"
            )
        return scored
    values = read_numbers(candidates.files, column, field, field, allow_missing=True)
    if values is None:
        raise InputError(
            f"the hit rule {hit_rule!r} needs a column, and the tables have no {field!r}; name it "
            "with ",
            Argument("hit_column"),
        )
    return replace(scored, **{field: values})
