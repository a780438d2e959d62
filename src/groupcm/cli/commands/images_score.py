"""``groupcm images score``: a model and pictures in; scores, places and overlays out."""

from __future__ import annotations

import argparse
from pathlib import Path

from groupcm.cli.output import print_error, print_line, running, show_rows
from groupcm.errors import InputError
from groupcm.evaluation.outcomes import LEAST_OVERLAP
from groupcm.images.features.user_families import import_family
from groupcm.images.scoring.folder import score_folder
from groupcm.images.scoring.table import Agreement, PictureScores
from groupcm.persistence.model_file import read

__all__ = ["run", "score_rows"]


def run(arguments: argparse.Namespace) -> int:
    """Score every picture, write the scores, and print how it went."""
    for written in (arguments.output, arguments.marks):
        if written is not None and Path(written).resolve() == Path(arguments.model).resolve():
            raise InputError(f"{written} is an input and cannot be overwritten; name another file")
    for family in arguments.family:
        import_family(family)
    with running():
        found = score_folder(
            read(arguments.model),
            arguments.folder,
            arguments.output,
            vote=arguments.vote,
            refine=arguments.refine,
            threshold=arguments.threshold,
            marks=arguments.marks,
            overlays=arguments.overlays,
            annotations=arguments.annotations,
            category=arguments.category,
            unmarked=arguments.unmarked.replace("-", "_"),
            missing_pictures=arguments.missing_pictures,
            patients=arguments.patients,
            split=arguments.split,
            given=arguments.given,
            networks=arguments.network,
            cache=arguments.cache,
            video=arguments.video,
            every=arguments.every,
            skip_unreadable=arguments.skip_unreadable,
            most_pixels=arguments.most_pixels,
            workers=arguments.workers,
            name=arguments.model,
        )
        if found.shift is not None and found.shift.note is not None:
            print_error(f"groupcm: {found.shift.note}")
    for picture in found.skipped:
        print_error(f"groupcm: left out: {picture.reason}")
    rows = score_rows(found.scores)
    if found.skipped:
        rows.append(("left out", f"{len(found.skipped):,} unreadable"))
    show_rows(rows)
    for path in (arguments.output, arguments.marks, arguments.overlays):
        if path is not None:
            print_line(f"Wrote {path}.")
    return 0


def score_rows(scores: PictureScores) -> list[tuple[str, str]]:
    """Return the counts of pictures, and how they agree with annotations, as names and values."""
    n, n_candidates = len(scores), scores.n_candidates
    rows = [
        ("pictures", f"{n:,}"),
        ("candidates", f"{n_candidates:,}, {n_candidates / max(n, 1):.0f} per picture"),
    ]
    if scores.threshold is not None:
        rows += [
            ("threshold", f"{scores.threshold:.6g}"),
            ("alarms", f"{scores.n_alarms:,} of {n:,} pictures"),
            ("marked", f"{scores.n_marked:,} candidates"),
        ]
    agreement = scores.agreement()
    return rows if agreement is None else rows + _agreement_rows(agreement)


def _agreement_rows(found: Agreement) -> list[tuple[str, str]]:
    n, n_positive = found.n_pictures, found.n_positive
    rows = [("annotated", f"{n:,} pictures, {n_positive:,} of them with an object")]
    if found.auc is None:
        which = "every" if n_positive else "no"
        rows.append(("AUC", f"not defined: {which} annotated picture shows an object"))
    else:
        rows.append(("AUC", f"{found.auc:.4f}"))
    if not found.n_located:
        return rows
    for name, hits in (
        ("winner on object", found.n_winner_on_object),
        ("vote on object", found.n_vote_on_object),
    ):
        share = f"{hits / found.n_located:.3f}, {hits:,} of {found.n_located:,} positive pictures"
        rows.append((name, f"{share} (box IoU {LEAST_OVERLAP:g} or more)"))
    return rows
