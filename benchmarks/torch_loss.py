"""The group loss against torch's log loss: forward and backward over the same candidates.

Run as ``python -m benchmarks.torch_loss``; ``--rows``, ``--groups`` and ``--repeat`` say how much.
Every figure is the median of its rounds divided by that of ``binary_cross_entropy_with_logits``
in the same run, the calls taking turns.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from functools import partial

from torch.nn.functional import binary_cross_entropy_with_logits as log_loss

import torch
from benchmarks.support.machine import cores
from benchmarks.support.measure import interleave
from benchmarks.support.text_table import aligned
from groupcm.torch import GroupLoss
from torch import Tensor

BOUND = 2.0
POSITIVE_SHARE = 0.05
TEMPERATURE = 0.1
LOG_LOSS = "binary_cross_entropy_with_logits"


def main() -> None:
    """Print the table."""
    arguments = _arguments()
    calls = _calls(arguments.rows, arguments.groups)
    for call in calls.values():
        call()  # the first call allocates
    timed = interleave(calls, arguments.repeat)
    unit = timed[LOG_LOSS].median
    lines = [("forward and backward", "ms", "ratio", "bound", "")]
    for name, each in timed.items():
        ratio = each.median / unit
        verdict = "" if name == LOG_LOSS else "met" if ratio <= BOUND else "missed"
        bound = "" if name == LOG_LOSS else f"{BOUND:g}"
        lines.append((name, f"{1000 * each.median:.2f}", f"{ratio:.2f}", bound, verdict))
    print(
        f"{arguments.rows:,} candidates in {arguments.groups:,} ragged groups, float32, "
        f"{cores()} cores, torch {torch.__version__}"
    )
    print(aligned(lines))


def _calls(rows: int, groups: int) -> dict[str, Callable[[], float]]:
    torch.manual_seed(0)
    size = torch.multinomial(0.1 + torch.rand(groups), rows - groups, replacement=True)
    size = torch.bincount(size, minlength=groups) + 1
    offsets = torch.cat([torch.zeros(1, dtype=torch.int64), size.cumsum(0)])
    together = torch.repeat_interleave(size)
    labels = torch.zeros(rows)
    # The first candidate of some groups, and its neighbour.
    first = offsets[torch.randperm(groups)[: int(POSITIVE_SHARE * groups)]]
    labels[torch.cat([first, (first + 1).clamp(max=rows - 1)])] = 1.0
    scores, overlap, order = torch.randn(rows), torch.rand(rows), torch.randperm(rows)
    hard, soft = GroupLoss(), GroupLoss(temperature=TEMPERATURE)
    stand = {"labels": labels, "overlap": overlap, "offsets": offsets}
    mixed = {"labels": labels[order], "overlap": overlap[order], "groups": together[order]}
    return {
        LOG_LOSS: partial(_step, partial(log_loss, target=labels), scores),
        "hard maximum, offsets": partial(_step, partial(hard, **stand), scores),
        "hard maximum, groups in any order": partial(_step, partial(hard, **mixed), scores[order]),
        "soft maximum, offsets": partial(_step, partial(soft, **stand), scores),
        "soft maximum, groups in any order": partial(_step, partial(soft, **mixed), scores[order]),
    }


def _step(loss: Callable[[Tensor], Tensor], scores: Tensor) -> float:
    leaf = scores.detach().requires_grad_()
    value = loss(leaf)
    value.backward()
    return value.item()


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rows", type=lambda text: int(float(text)), default=1_000_000)
    parser.add_argument("--groups", type=lambda text: int(float(text)), default=5_000)
    parser.add_argument("--repeat", type=int, default=25)
    return parser.parse_args()


if __name__ == "__main__":
    main()
