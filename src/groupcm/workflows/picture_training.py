"""From a folder of annotated pictures to a model, its evaluation on other patients, and overlays.

`train_folder` recognises pictures and annotations, holds out some of the patients, finds and
measures candidates, fits a model, and evaluates it on the patients held out. Every step writes its
result into one folder; a run that is repeated after an interruption continues where it ended.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from groupcm import annotations as annotation_files
from groupcm.data.folds import group_folds
from groupcm.errors import Argument, FileName, InputError, SetAsideWarning
from groupcm.estimators.tables import TableFit, fit_tables
from groupcm.evaluation.model_choice import ModelChoice, choose_model, model_named, tree_validation
from groupcm.evaluation.results import Evaluation
from groupcm.evaluation.table_evaluation import evaluate_tables
from groupcm.images.cropping import cut_windows
from groupcm.images.features.network_embedding import with_networks
from groupcm.images.picture_set import PictureSet, read_picture_set
from groupcm.images.recipe import Recipe
from groupcm.images.scoring.folder import score_folder
from groupcm.images.tables.propose import propose_folder
from groupcm.images.tables.table import table_recipe
from groupcm.images.truth import Truth
from groupcm.persistence.model_file import read, save
from groupcm.report.model_card import fit_notes
from groupcm.sources.tables import read_candidates
from groupcm.utils.files import whole_file
from groupcm.utils.merged_warnings import ignore_warnings
from groupcm.utils.progress import announce_stage
from groupcm.workflows.training_choices import TrainingChoices

__all__ = ["PictureTraining", "train_folder"]

TRAIN, TEST = "train", "test"
_CONFIG, _STATE = "train.toml", ".state.json"
_FEWEST_TO_CHOOSE = 12  # patients, or pictures, of the rarer class


@dataclass(frozen=True)
class PictureTraining:
    """What `train_folder` did; its files are in ``output``.

    Attributes
    ----------
    output : Path
        The folder with ``model.json``, ``report.html``, ``overlays``, ``scores.parquet``,
        ``train.parquet``, ``test.parquet``, ``annotations.json``, ``split.csv`` and
        ``train.toml``.
    pictures : PictureSet
        What was understood of the folder.
    split : dict of str to str
        "train" or "test" for each picture.
    choice : ModelChoice or None
        The comparison of the models, with ``model="auto"``.
    fit : TableFit
    evaluation : Evaluation
        On the pictures held out.
    findings : tuple of str
        What was understood, assumed and found, in sentences.
    """

    output: Path
    pictures: PictureSet
    split: dict[str, str]
    choice: ModelChoice | None
    fit: TableFit
    evaluation: Evaluation
    findings: tuple[str, ...]


def train_folder(
    folder: str | os.PathLike[str],
    output: str | os.PathLike[str],
    choices: TrainingChoices | None = None,
    **changes: Any,
) -> PictureTraining:
    """Train and evaluate a model on a folder of annotated pictures.

    ``groupcm images train`` calls this function. A quarter of the patients is held out; nothing
    about the model is chosen on them.

    Parameters
    ----------
    folder : path
        Pictures with their annotations; see `groupcm.images.picture_set` for the layouts that are
        recognised.
    output : path
        The folder for the results. A training that is repeated with the same output continues
        after the last complete picture.
    choices : TrainingChoices, optional
    **changes
        Single parameters of `TrainingChoices`.

    Returns
    -------
    PictureTraining

    Examples
    --------
    >>> import tempfile
    >>> import groupcm
    >>> from groupcm.images.synthetic import write_frames
    >>> home = Path(tempfile.mkdtemp())
    >>> size = {"n_patients": 80, "height": 32, "width": 40}
    >>> _ = write_frames(home / "set", 80, share_with_polyps=0.5, **size)
    >>> quick = {"proposals": ("windows",), "features": ("colour",), "workers": 1}
    >>> done = groupcm.train_folder(home / "set", home / "out", model="linear", **quick)
    >>> print(done.findings[-1])
    Training: 60 pictures (30 with an object, 60 patients); Test: 20 pictures ...
    """
    choices = TrainingChoices(**{**({} if choices is None else asdict(choices)), **changes})
    home = _prepared(Path(output), Path(folder))
    from groupcm.report.save import check_report  # it requires an extra

    check_report(home / "report.html")
    cache = choices.cache or home / "cache"
    recipe = choices.recipe.with_cache(cache)
    announce_stage("looking at the pictures")
    pictures = read_picture_set(
        folder,
        annotations=choices.annotations,
        patients=choices.patients,
        category=choices.category or None,
        unannotated=choices.unannotated,
        mask_values=choices.mask_values,
    )
    if choices.windows is not None:
        pictures = cut_windows(pictures, choices.windows, home / "windows")
    split = _split(pictures, choices.test_share, choices.seed)
    _write_text(home / _CONFIG, choices.to_toml())
    _write_text(home / "split.csv", _split_csv(pictures, split))
    annotation_files.write(pictures.annotations, home / "annotations.json", "coco")
    known = {"annotations": home / "annotations.json", "patients": home / "split.csv"}
    work: dict[str, Any] = {
        "workers": choices.workers,
        "skip_unreadable": choices.skip_unreadable,
    }
    state = _State(home / _STATE)
    for part in (TRAIN, TEST):
        table = home / f"{part}.parquet"
        if part == TEST:  # with the components of the training pictures
            recipe = _with_components(home / f"{TRAIN}.parquet", choices).with_cache(cache)
        copies = choices.augment if part == TRAIN else 0
        stamp = _stamp(pictures, split, part, recipe, copies)
        if not state.is_current(part, stamp, table):
            with _quiet_about_masks():
                propose_folder(
                    pictures.folder,
                    table,
                    recipe=recipe,
                    split=part,
                    augment=copies,
                    **known,
                    **work,
                )
            state.note(part, stamp)
    train, test = home / "train.parquet", home / "test.parquet"
    choice, name = None, choices.model
    n_units = _fewest_units(pictures, split)
    if name == "auto" and n_units < _FEWEST_TO_CHOOSE:
        name = "linear"
    elif name == "auto":
        choice = choose_model(read_candidates(train), seed=choices.seed)
        name = choice.name
    validation = tree_validation(read_candidates(train)) if name == "trees" else None
    model = model_named(name, seed=choices.seed, folds=min(5, n_units), validation=validation)
    place = choices.place
    if place is not None:
        place = model_named(place, seed=choices.seed, folds=min(5, n_units))
    fit = fit_tables(model, train, specificity=choices.specificity, place=place)
    save(fit.model, home / "model.json", notes=fit_notes(fit))
    saved = read(home / "model.json")
    evaluation = evaluate_tables(
        saved, test, title=f"Pictures of {Path(folder).name}", name="model.json"
    )
    announce_stage("drawing the report")
    from groupcm.report.picture_folder import PictureFolder
    from groupcm.report.save import save_evaluation

    truth = Truth(pictures.annotations, str(pictures.source or "the annotations"))
    cases = PictureFolder(pictures.folder, truth).draw_cases(evaluation, [test])
    save_evaluation(evaluation, home / "report.html", cases)
    with _quiet_about_masks():
        score_folder(
            saved,
            pictures.folder,
            home / "scores.parquet",
            refine=choices.refine,
            overlays=home / "overlays",
            split=TEST,
            missing_pictures="skip",
            networks=choices.network,
            cache=cache,
            **known,
            **work,
        )
    findings = [*pictures.findings, _split_sentence(pictures, split)]
    if choice is not None:
        findings.append(f"Chose {choice}.")
    elif choices.model == "auto":
        findings.append(
            "Chose linear, because the training pictures are too few to compare models."
        )
    return PictureTraining(home, pictures, split, choice, fit, evaluation, tuple(findings))


def _prepared(output: Path, folder: Path) -> Path:
    """Create the folder for the results; refuse one that is, or contains, the pictures."""
    if output.exists() and not output.is_dir():
        raise InputError("cannot write into ", FileName(output), ": it is a file, not a folder")
    if folder.resolve().is_relative_to(output.resolve()):
        raise InputError(
            "cannot write into ", FileName(output), ": the pictures are in it; name a new folder"
        )
    if output.resolve().is_relative_to(folder.resolve()):
        raise InputError(
            "cannot write into ",
            FileName(output),
            ": it is in the folder of pictures, where the overlays would be taken for pictures; "
            "name a folder elsewhere",
        )
    is_other = output.is_dir() and any(output.iterdir()) and not (output / _CONFIG).exists()
    if is_other:
        raise InputError(
            FileName(output),
            " contains files of something else; name a new folder, or one of an earlier training",
        )
    output.mkdir(parents=True, exist_ok=True)
    return output


def _split(pictures: PictureSet, share: float, seed: int) -> dict[str, str]:
    """Return "train" or "test" for each picture; patients stay on one side."""
    names = pictures.names
    if {TRAIN, TEST} <= set(pictures.splits.values()):
        return {name: TEST if pictures.splits[name] == TEST else TRAIN for name in names}
    y = np.array([pictures.is_positive(name) for name in names])
    for kind, found in (("an object", y), ("no object", ~y)):
        if found.sum() < 2:
            raise InputError(
                f"{int(found.sum())} of the {len(names):,} pictures show {kind}; training and "
                "testing need two or more, from different patients"
            )
    patients = [pictures.patients[name] for name in names] if pictures.patients else None
    folds = group_folds(
        y.astype(int),
        np.arange(len(names)),
        patients,
        n_splits=max(2, round(1 / share)),
        random_state=seed,
    )
    is_test = np.zeros(len(names), dtype=bool)
    is_test[folds[0][1]] = True
    return {name: TEST if held else TRAIN for name, held in zip(names, is_test, strict=True)}


def _fewest_units(pictures: PictureSet, split: dict[str, str]) -> int:
    """Return the number of patients, or pictures, of the rarer class in the training part."""
    units: dict[bool, set[str]] = {True: set(), False: set()}
    for name, part in split.items():
        if part == TRAIN:
            units[pictures.is_positive(name)].add(pictures.patients.get(name, name))
    fewest = min(map(len, units.values()))
    if fewest < 2:
        raise InputError(
            "the training pictures of one class come from fewer than two patients; annotate "
            "pictures of more patients, or lower ",
            Argument("test_share"),
        )
    return fewest


def _split_csv(pictures: PictureSet, split: dict[str, str]) -> str:
    text = io.StringIO()
    rows = csv.writer(text, lineterminator="\n")
    has_patients = bool(pictures.patients)
    rows.writerow(["image", *(["patient"] if has_patients else []), "split"])
    everything = split | dict.fromkeys(pictures.left_out, "left_out")
    for name, part in everything.items():
        patient = [pictures.patients.get(name, "unknown")] if has_patients else []
        rows.writerow([name, *patient, part])
    return text.getvalue()


def _split_sentence(pictures: PictureSet, split: dict[str, str]) -> str:
    counts = []
    for part, of in ((TRAIN, "Training"), (TEST, "Test")):
        names = [name for name, each in split.items() if each == part]
        n_positive = sum(map(pictures.is_positive, names))
        patients = {pictures.patients[name] for name in names if name in pictures.patients}
        about = f", {len(patients):,} patients" if patients else ""
        counts.append(f"{of}: {len(names):,} pictures ({n_positive:,} with an object{about})")
    return "; ".join(counts) + "."


def _with_components(table: Path, choices: TrainingChoices) -> Recipe:
    """Return the recipe of a table with its networks, which may be too large to be stored in it."""
    recipe = table_recipe(table, families=choices.family)
    return replace(recipe, features=with_networks(recipe.features, choices.network))


def _stamp(
    pictures: PictureSet, split: dict[str, str], part: str, recipe: Recipe, copies: int
) -> str:
    """Return a digest of all that a table of candidates depends on."""
    names = [name for name, each in split.items() if each == part]
    files = [(pictures.folder / name.partition("#")[0]).stat() for name in names]
    content: list[Any] = [
        recipe.to_json(),
        copies,
        names,
        [pictures.patients.get(n) for n in names],
    ]
    content += [[(file.st_size, file.st_mtime_ns) for file in files]]
    content += [[repr(pictures.annotations[name]) for name in names]]
    return hashlib.sha256(repr(content).encode()).hexdigest()


class _State:
    """The tables that are complete, each with the digest of what it was made from."""

    def __init__(self, path: Path) -> None:
        self._path = path
        try:
            self._done = dict(json.loads(path.read_text(encoding="utf-8")))
        except (OSError, ValueError, TypeError):
            self._done = {}

    def is_current(self, part: str, stamp: str, table: Path) -> bool:
        return table.is_file() and self._done.get(part) == stamp

    def note(self, part: str, stamp: str) -> None:
        self._done[part] = stamp
        _write_text(self._path, json.dumps(self._done))


def _write_text(path: Path, text: str) -> None:
    with whole_file(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


@contextmanager
def _quiet_about_masks() -> Iterator[None]:
    """Within the block, do not repeat that masks are not pictures, which the findings state."""
    with ignore_warnings(SetAsideWarning):
        yield
