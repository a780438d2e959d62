"""A new threshold for the pictures of another site, from unlabelled ones or a few annotated."""

from __future__ import annotations

import csv
import os
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from groupcm.errors import Argument, InputError
from groupcm.evaluation.recalibration import Recalibration, recalibrate
from groupcm.images.listing import list_pictures
from groupcm.images.picture_set import read_picture_set
from groupcm.images.scoring.folder import score_folder
from groupcm.persistence.model_file import SavedModel

__all__ = ["recalibrate_folder"]


def recalibrate_folder(
    model: SavedModel,
    folder: str | os.PathLike[str],
    *,
    annotations: str | os.PathLike[str] | None = None,
    patients: str | os.PathLike[str] | None = None,
    unannotated: str = "leave_out",
    networks: Sequence[str | os.PathLike[str]] = (),
    workers: int | None = None,
    name: str = "the model",
    false_alarms: float | None = None,
    **goal: Any,
) -> Recalibration:
    """Set the threshold of a picture model from the pictures of another site.

    Parameters
    ----------
    model : SavedModel
        As `groupcm.persistence.read` returns it; its model's threshold changes in place.
    folder : path
    annotations : path, optional
        Annotations of some of the pictures, in any format; without them pictures are unlabelled.
    patients : str or path, optional
        As for `groupcm.images.picture_set.read_picture_set`, with annotations.
    unannotated : {"leave_out", "auto", "negative"}
        The pictures that the annotations do not mention.
    networks, workers, name
        As for `groupcm.images.score_folder`.
    false_alarms : None
        Not for pictures, of which only whole ones have scores; see `recalibrate_tables`.
    **goal
        As for `recalibrate_tables`.

    Examples
    --------
    >>> from groupcm import GroupClassifier, fit_tables
    >>> from groupcm.images import propose_folder
    >>> from groupcm.images.recipe_options import recipe_named
    >>> from groupcm.images.synthetic import write_frames
    >>> home = Path(tempfile.mkdtemp())
    >>> _ = write_frames(home, 8, share_with_polyps=0.5, height=32, width=40)
    >>> truth, table = home / "annotations.json", home / "candidates.parquet"
    >>> recipe = recipe_named(["windows"], ["colour"])
    >>> _ = propose_folder(home / "frames", table, annotations=truth, recipe=recipe, workers=1)
    >>> fit = fit_tables(GroupClassifier(), table)
    >>> saved = SavedModel(fit.model, fit.notes())
    >>> recalibrate_folder(saved, home / "frames", alarm_rate=0.25, workers=1).n_groups
    8
    """
    if false_alarms is not None:
        raise InputError(
            Argument("false_alarms"),
            " counts candidates, and of pictures only the scores of whole pictures are computed; "
            "give the table of their candidates instead of the folder",
        )
    options: dict[str, Any] = {"networks": networks, "workers": workers, "name": name}
    if annotations is None:
        found = score_folder(model, folder, **options)
        scores = found.scores.table()["score"].to_numpy()
        return recalibrate(model.model, scores, where="unlabelled pictures", **goal)
    pictures = read_picture_set(
        folder, annotations=annotations, patients=patients, unannotated=unannotated
    )
    used = set(pictures.names)
    with tempfile.TemporaryDirectory() as place:
        # Only the annotated pictures are scored.
        listed = Path(place) / "split.csv"
        with listed.open("w", encoding="utf-8", newline="") as file:
            rows = csv.writer(file)
            rows.writerow(["image", "split"])
            for each in list_pictures(pictures.folder):
                rows.writerow([each, "used" if each in used else "other"])
        found = score_folder(model, pictures.folder, patients=listed, split="used", **options)
    table = found.scores.table()
    names = table["image"].to_pylist()
    owners = [pictures.patients[each] for each in names] if pictures.patients else None
    return recalibrate(
        model.model,
        table["score"].to_numpy(),
        [pictures.is_positive(each) for each in names],
        patients=owners,
        where="labelled pictures",
        **goal,
    )
