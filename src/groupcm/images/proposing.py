"""From the pixels of one picture to its rows in a table of candidates."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

import pyarrow as pa

from groupcm import __version__
from groupcm.errors import InputError
from groupcm.images.labelling import Labelling
from groupcm.images.proposal_tally import picture_notes
from groupcm.images.proposal_tasks import ProposalTask
from groupcm.images.reading import Pixels, has_small_range
from groupcm.images.recipe import Recipe
from groupcm.images.table import as_stored, candidate_rows
from groupcm.images.truth import object_regions

__all__ = ["FoundRows", "Proposing"]


@dataclass(frozen=True, eq=False)
class FoundRows:
    """Rows of a picture, and plain values to remember of it."""

    rows: pa.RecordBatch
    notes: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Proposing:
    """Work on a picture; it can be sent to other processes.

    Parameters
    ----------
    recipe
        How candidates and features are made.
    schema
        Columns of the table; without its description, which every row would carry along.
    labelling
        When a candidate is positive; None where nothing is marked.
    where
        What an error calls the annotations.
    """

    recipe: Recipe
    schema: pa.Schema
    labelling: Labelling | None = None
    where: str = "the annotations"

    def __call__(self, task: ProposalTask, pixels: Pixels) -> FoundRows:
        """Find, measure and label the candidates of a picture."""
        try:
            found = self.recipe.candidates(pixels, task.given)
        except ValueError as error:
            raise InputError(f"the picture {task.name}: {error}") from error
        small_range = {"small_range": True} if has_small_range(pixels) else {}
        if self.labelling is None or task.marked is None:
            rows = candidate_rows(self.schema, task.name, found, None, task.patient, task.split)
            return FoundRows(rows, small_range)
        height, width = pixels.shape[:2]
        objects = object_regions(task.name, task.marked, height, width, self.where)
        candidates = as_stored(found.regions)
        labels = self.labelling.of(candidates, objects)
        rows = candidate_rows(self.schema, task.name, found, labels, task.patient, task.split)
        notes = picture_notes(candidates, objects, labels, self.labelling.overlap)
        return FoundRows(rows, notes | small_range)

    def settings(self) -> dict[str, Any]:
        """Plain values that the rows of all pictures depend on."""
        return {
            "groupcm": __version__,
            "recipe": self.recipe.to_json(),
            "columns": self.schema.names,
            "labelling": None if self.labelling is None else asdict(self.labelling),
        }
