"""The computer: processor, threads, memory, browser, the cache of kernels, and GPUs.

Paths below the home directory are shortened to ``~``, because a diagnosis is pasted into issues.
"""

from __future__ import annotations

import os
import platform
import sys
import tempfile
import webbrowser
from dataclasses import dataclass
from pathlib import Path

from groupcm.utils.extras import TORCH, is_installed
from groupcm.utils.memory import free_memory, total_memory
from groupcm.utils.merged_warnings import record_warnings
from groupcm.utils.text import describe_error, shorten_home

__all__ = [
    "Computer",
    "KernelCache",
    "TorchDevices",
    "computer",
    "kernel_cache",
    "torch_devices",
]

# Variables that change what groupcm computes with; no others are reported.
_VARIABLES = (
    "GROUPCM_DATA",
    "GROUPCM_MOST_BYTES",
    "GROUPCM_MOST_PIXELS",
    "GROUPCM_NUM_THREADS",
    "NUMBA_CACHE_DIR",
    "NUMBA_DISABLE_JIT",
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "CUDA_VISIBLE_DEVICES",
)


@dataclass(frozen=True)
class Computer:
    """The computer and the interpreter.

    Attributes
    ----------
    system, processor : str
    n_cores : int or None
        The number of logical cores of the computer.
    n_threads : int or None
        The number of threads that groupcm uses; None if NumPy or threadpoolctl cannot be imported.
    blas : tuple of str
        The libraries of linear algebra that are loaded.
    free_memory, total_memory : int or None
        In bytes; None where the system does not report them.
    python, executable, location : str
        The version of Python, its program, and the folder of the package groupcm.
    browser : str or None
        The browser that opens the pages of ``groupcm annotate`` and ``groupcm review``.
    variables : dict
        The environment variables that change how groupcm computes, if they are set.
    """

    system: str
    processor: str
    n_cores: int | None
    n_threads: int | None
    blas: tuple[str, ...]
    free_memory: int | None
    total_memory: int | None
    python: str
    executable: str
    location: str
    browser: str | None
    variables: dict[str, str]


@dataclass(frozen=True)
class KernelCache:
    """The folder that stores compiled kernels.

    Attributes
    ----------
    path : str or None
        None if the kernels cannot be imported.
    is_writable : bool
    problem : str or None
        Why the cache cannot be used.
    """

    path: str | None
    is_writable: bool
    problem: str | None = None


@dataclass(frozen=True)
class TorchDevices:
    """The devices that PyTorch can use.

    Attributes
    ----------
    version : str or None
        None if torch cannot be imported.
    gpus : tuple of str
    problem : str or None
        Why torch or its GPU cannot be used.
    """

    version: str | None
    gpus: tuple[str, ...]
    problem: str | None = None


def computer() -> Computer:
    """Describe the computer and the interpreter.

    Examples
    --------
    >>> computer().n_threads >= 1
    True
    """
    threads: int | None = None
    blas: list[str] = []
    try:
        from threadpoolctl import threadpool_info

        from groupcm.utils.parallel import n_threads

        threads = n_threads()
        for pool in threadpool_info():
            name = f"{pool['internal_api']} {pool.get('version') or ''}".strip()
            blas.append(f"{name} ({pool['num_threads']} threads)")
    except Exception as error:  # a broken NumPy is reported, not raised
        blas.append(describe_error(error))
    return Computer(
        system=platform.platform(),
        processor=_processor(),
        n_cores=os.cpu_count(),
        n_threads=threads,
        blas=tuple(dict.fromkeys(blas)),
        free_memory=free_memory(),
        total_memory=total_memory(),
        python=f"{platform.python_implementation()} {platform.python_version()}",
        executable=shorten_home(sys.executable),
        location=shorten_home(Path(__file__).parent.parent),
        browser=_browser(),
        variables={
            name: shorten_home(os.environ[name]) for name in _VARIABLES if name in os.environ
        },
    )


def _processor() -> str:
    try:
        with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as file:
            for line in file:
                if line.startswith("model name"):
                    return f"{line.partition(':')[2].strip()} ({platform.machine()})"
    except OSError:
        pass
    return platform.processor() or platform.machine() or "not known"


def _browser() -> str | None:
    try:
        found = webbrowser.get()
    except (webbrowser.Error, OSError):
        return None
    return shorten_home(getattr(found, "name", "") or type(found).__name__)


def kernel_cache() -> KernelCache:
    """Find the folder that stores compiled kernels, and write a file there.

    Examples
    --------
    >>> kernel_cache().is_writable
    True
    """
    try:
        from groupcm.kernels.maxima import run_maxima

        if (statistics := getattr(run_maxima, "stats", None)) is None:
            return KernelCache(None, False, "kernels are not compiled in this process")
        folder = Path(statistics.cache_path)
    except Exception as error:  # numba raises where it finds no folder for its cache
        return KernelCache(None, False, describe_error(error))
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(b"groupcm")
    except OSError as error:
        return KernelCache(shorten_home(folder), False, describe_error(error))
    return KernelCache(shorten_home(folder), True)


def torch_devices() -> TorchDevices | None:
    """List the GPUs that PyTorch can use; None if torch is not installed.

    Examples
    --------
    >>> torch_devices().problem is None
    True
    """
    if not is_installed("torch"):
        return None
    with record_warnings() as caught:
        try:
            torch = TORCH.load("torch")
            cuda = torch.cuda
            found = [cuda.get_device_name(i) for i in range(cuda.device_count())]
            found = [f"{name} (CUDA {torch.version.cuda})" for name in found]
            if torch.backends.mps.is_available():
                found.append("Apple GPU (MPS)")
        except Exception as error:  # a driver may raise anything
            return TorchDevices(None, (), describe_error(error.__cause__ or error))
    # A driver that is too old is a warning of torch.
    warned = [shorten_home(each.message) for each in caught if "cuda" in each.filename]
    return TorchDevices(str(torch.__version__), tuple(found), warned[0] if warned else None)
