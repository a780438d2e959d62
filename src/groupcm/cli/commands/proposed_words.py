"""What came of proposing or labelling candidates, in words."""

from __future__ import annotations

import shlex
from collections.abc import Mapping

from groupcm.cli.output import print_line
from groupcm.images.proposals import Recall
from groupcm.images.tables.labelling import Proposed

__all__ = ["OPTION_OF_PARAMETER", "proposed_rows", "show_written"]

OPTION_OF_PARAMETER = {
    "skip_unreadable=True": "--skip-unreadable",
    'unmarked="negative"': "--unmarked negative",
    'missing_pictures="skip"': "--missing-pictures skip",
    "patients=FILE": "--patients FILE",
    "split is given": "--split is given",
    "which split=": "which --split ",
    "unmarked is 'negative' and no annotations are given": (
        "--unmarked negative is given and no --annotations"
    ),
    "positive_overlap is": "--positive-overlap is",
    "patient_from ": "--patient-from ",
    "given=FILE": "--given FILE",
    "unless most_pixels allows": "unless --most-pixels allows",
    "longest_side is": "--longest-side is",
    "at_most is": "--at-most is",
    "workers is": "--workers is",
    "workers=1": "--workers 1",
    "every is": "--every is",
    "or a video, one of the two": "or --video FILE, one of the two",
    "a category is given and no annotations": "--category is given and no --annotations",
    "the same call": "the same command",
    "to its proposals": "to --proposals",
    ' (in a script of your own, also write if __name__ == "__main__": around the call)': "",
}


def proposed_rows(done: Proposed) -> list[tuple[str, str]]:
    """Names and values: pictures, candidates, features, recall."""
    pictures = f"{done.n_pictures:,}"
    if done.n_positive is not None:
        pictures += f", of them {done.n_positive:,} with an object"
    if done.n_before:
        pictures += f"; {done.n_before:,} done by an earlier run"
    rows = [("pictures", pictures)]
    n_to_do = done.n_left_out - done.n_in_progress
    if n_to_do:
        told = f"{n_to_do:,} still to do; --unmarked negative takes them to show no object"
        rows.append(("left out", told))
    if done.n_in_progress:
        told = f"{done.n_in_progress:,} in progress; finish them on the annotate page to use them"
        rows.append(("left out", told))
    if done.skipped:
        rows.append(("unreadable", f"{len(done.skipped):,}, listed above"))
    candidates = f"{done.n_candidates:,}, {done.n_candidates / done.n_pictures:,.0f} a picture"
    if done.n_positive_candidates is not None:
        candidates += f"; {done.n_positive_candidates:,} positive"
    rows += [("candidates", candidates), ("features", f"{done.n_features:,}")]
    return rows + _recall_rows(done.recall)


def _recall_rows(recall: Mapping[str, Recall]) -> list[tuple[str, str]]:
    return [
        (
            "recall",
            f"{found.share_half:.3f} of {found.n_objects:,} objects have a candidate with "
            f"{kind} ≥ 0.5 (mean of the best: {found.mean_best:.2f})",
        )
        for kind, found in recall.items()
        if found.n_objects
    ]


def show_written(done: Proposed) -> None:
    """Say what was written, and what to do with it."""
    print_line(f"Wrote {done.output}.")
    if not done.n_positive:
        return
    if done.n_positive == done.n_pictures:
        print_line("To train on it, pictures without an object are needed too.")
        return
    print_line(f"Train on it with: groupcm fit {shlex.quote(str(done.output))} --cv -o model.json")
