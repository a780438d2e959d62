"""How long a made frame takes, what a second core gives, and what memory many frames need."""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import Any

from groupcm.images.features import DEFAULT_FAMILIES
from groupcm.images.proposals import Proposals
from groupcm.images.reading import Pixels
from groupcm.images.recipe import Recipe
from groupcm.images.recipe_options import recipe_named
from groupcm.images.synthetic import make_frames, write_frames
from groupcm.images.tables.propose import propose_folder
from groupcm.images.view import View

__all__ = ["show_speed"]

_AT_MOST = 200
_N_FRAMES, _N_LARGE = 20, 4
_LARGE = (1224, 1632)
_N_FRAMES_OF_NETWORK = 5
_FEW, _MANY = 50, 400


_MODES: dict[str, dict[str, Any]] = {
    "crops of 64 pixels": {"crop_size": 64},
    "crops of 96 pixels": {"crop_size": 96},
    "crops of 96 pixels at two scales": {"crop_size": 96, "context": (0.5,)},
    "pooled maps": {"network_mode": "pool"},
}


def show_speed(network: str | None = None) -> None:
    """Print all three; with a network only what it costs in each mode."""
    if network is not None:
        for line in _of_network(network):
            print(line, flush=True)
        return
    print(_one_frame([frame.pixels for frame in make_frames(_N_FRAMES)]))
    height, width = _LARGE
    large = make_frames(_N_LARGE, height=height, width=width)
    print(_one_frame([frame.pixels for frame in large]))
    with tempfile.TemporaryDirectory() as folder:
        write_frames(Path(folder) / "made", _MANY // 4)
        print(_two_processes(Path(folder)))
    print(_memory())


def _recipe() -> Recipe:
    return Recipe(Proposals(Proposals.default().parts, at_most=_AT_MOST))


def _one_frame(frames: list[Pixels]) -> str:
    """Time frames at their full size."""
    recipe = replace(_recipe(), longest_side=max(frames[0].shape))
    recipe.candidates(frames[0])
    whole, found, counts = [], [], []
    for pixels in frames:
        began = time.process_time()
        counts.append(len(recipe.candidates(pixels).regions))
        whole.append(time.process_time() - began)
        began = time.process_time()
        recipe.proposals.propose(View.of(pixels, recipe.longest_side))
        found.append(time.process_time() - began)
    height, width = frames[0].shape[:2]
    n_features = len(recipe.feature_names)
    return (
        f"a made frame of {width} × {height}, {median(counts):.0f} candidates × {n_features} "
        f"features of {len(DEFAULT_FAMILIES)} families: {median(whole):.3f} s on one core "
        f"(median of {len(frames)}), of which {median(found):.3f} s to find them"
    )


def _of_network(network: str) -> Iterator[str]:
    """CPU seconds a frame that a network adds to finding the candidates, mode by mode."""
    views = [View.of(frame.pixels) for frame in make_frames(_N_FRAMES_OF_NETWORK)]
    found = [(view, _recipe().proposals.propose(view)) for view in views]
    for mode, options in _MODES.items():
        [family] = recipe_named(
            features=["network"], network=[network], components=0, **options
        ).features
        family.measure(*found[0])
        seconds = []
        for view, regions in found:
            began = time.process_time()
            family.measure(view, regions)
            seconds.append(time.process_time() - began)
        yield f"{mode}: {median(seconds):.3f} s a frame of {_AT_MOST} candidates on one core"


def _two_processes(folder: Path) -> str:
    seconds = {}
    for workers in (1, 2):
        began = time.perf_counter()
        done = propose_folder(
            folder / "made" / "frames", folder / "c.parquet", recipe=_recipe(), workers=workers
        )
        seconds[workers] = time.perf_counter() - began
    return (
        f"{done.n_pictures} frames: {seconds[1]:.1f} s with one process, {seconds[2]:.1f} s with "
        f"two, {seconds[1] / seconds[2]:.2f} times the frames a second (starting included)"
    )


def _memory() -> str:
    few, many = (_peak(n) for n in (_FEW, _MANY))
    return (
        f"memory of the process that gathers: {few:.0f} MB at its peak for {_FEW} frames, "
        f"{many:.0f} MB for {_MANY}"
    )


def _peak(n_frames: int) -> float:
    """Largest memory of a process that proposes for so many small frames, in MB."""
    run = subprocess.run(
        [sys.executable, "-m", __name__, str(n_frames)], capture_output=True, text=True, check=True
    )
    return float(run.stdout.split()[-1])


def _print_peak(n_frames: int) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_frames(folder / "made", n_frames, height=144, width=192)
        propose_folder(folder / "made" / "frames", folder / "c.parquet", workers=2)
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)


if __name__ == "__main__":
    _print_peak(int(sys.argv[1]))
