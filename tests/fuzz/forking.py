"""One process per case: forked from a process that has imported everything and started no thread.

`Zygote` is the caller's end. It starts ``python -m fuzz.forking``, which imports what a target
needs, compiles its kernels once, and then forks for each case it is sent. Only that process
forks, and it refuses to while it has more than one thread, because a lock that another thread
holds stays locked for ever in a forked process.
"""

from __future__ import annotations

import gc
import importlib
import json
import math
import os
import resource
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType, TracebackType
from typing import Any, TextIO

from fuzz.outcomes import Failed, Verdict, judge_error

__all__ = ["Sandbox", "Zygote"]

# One thread in the process that forks. Cases that want more set GROUPCM_NUM_THREADS themselves.
# Address space is limited, and of Arrow's allocators only the system's reserves none in advance.
_ENVIRONMENT = {
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "GROUPCM_NUM_THREADS": "1",
    "ARROW_DEFAULT_MEMORY_POOL": "system",
    "JE_ARROW_MALLOC_CONF": "background_thread:false",
    "POLARS_MAX_THREADS": "1",
    "RAYON_NUM_THREADS": "1",
}
# A process that neither ends nor uses its processor time is stuck.
_STUCK_SECONDS = 180.0
_MEGABYTE = 1 << 20


class Sandbox:
    """What a case may use while it runs: a folder, and limited processor time and memory.

    Parameters
    ----------
    folder : Path
        Empty, removed after the case.
    megabytes : int
        Memory that the case may use beyond what the process had before.
    """

    def __init__(self, folder: Path, megabytes: int) -> None:
        self.folder = folder
        self.megabytes = megabytes
        self.cpu_seconds = 0.0
        self._stage = ""
        in_use = _status("VmSize:")
        resource.setrlimit(resource.RLIMIT_AS, ((in_use + megabytes) * _MEGABYTE,) * 2)
        Path("/proc/self/clear_refs").write_text("5")  # the peak starts from here
        self._resident = _status("VmRSS:")

    @contextmanager
    def budget(self, stage: str, cpu_seconds: int) -> Iterator[None]:
        """Within the block, the process ends when it has used more than this processor time."""
        before = time.process_time()
        _limit_cpu(before + cpu_seconds)
        self._report_stage(stage)
        yield
        self.cpu_seconds = max(self.cpu_seconds, time.process_time() - before)
        _limit_cpu(time.process_time() + 60)
        self._report_stage("checking")

    @property
    def peak_megabytes(self) -> float:
        """How far memory has grown since the case began."""
        return max(0.0, _status("VmHWM:") - self._resident)

    def require_memory(self, megabytes: float) -> None:
        """Fail where the case has used more memory than this so far."""
        if self.peak_megabytes > megabytes:
            figure = f"{self.peak_megabytes:.0f} MB, where {megabytes:.0f} MB are allowed"
            raise Failed("over_memory", f"peak while {self._stage}", figure)

    def _report_stage(self, stage: str) -> None:
        self._stage = stage
        (self.folder / ".stage").write_text(stage)


def _limit_cpu(seconds: float) -> None:
    hard = resource.getrlimit(resource.RLIMIT_CPU)[1]
    resource.setrlimit(resource.RLIMIT_CPU, (math.ceil(seconds), hard))


def _status(field: str) -> int:
    """A field of the process's status, in megabytes."""
    with open("/proc/self/status", encoding="ascii") as file:
        for line in file:
            if line.startswith(field):
                return int(line.split()[1]) // 1024
    raise RuntimeError(f"/proc/self/status has no {field}")


class Zygote:
    """A process that runs cases, each in a fork of itself."""

    def __init__(self) -> None:
        if not sys.platform.startswith("linux"):
            raise SystemExit("The fuzzers fork and read /proc, so they run on Linux only.")
        self._process: subprocess.Popen[str] | None = None
        self._folder: str | None = None
        self._has_answered = False

    def __enter__(self) -> Zygote:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def run(self, target: str, case: Any) -> Verdict:
        """Run one case and wait for its verdict."""
        self.send(target, case)
        return self.receive()

    def send(self, target: str, case: Any) -> None:
        """Start one case; `receive` waits for it."""
        if self._process is None:
            self._folder = tempfile.mkdtemp(prefix="groupcm-fuzz-")
            self._process = _start(self._folder)
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps({"target": target, "case": case}) + "\n")
        self._process.stdin.flush()

    def fileno(self) -> int:
        """What `select` waits on."""
        assert self._process is not None
        assert self._process.stdout is not None
        return self._process.stdout.fileno()

    def receive(self) -> Verdict:
        """Return the verdict of the case that was sent."""
        assert self._process is not None
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            code = self._process.wait()
            self.close()
            if not self._has_answered:  # it would not start another time either
                raise RuntimeError(f"the process that forks has ended with status {code}")
            return Verdict("death", "the process that forks has ended", f"status {code}")
        self._has_answered = True
        return Verdict(**json.loads(line))

    def close(self) -> None:
        """End the process and the case that it is running."""
        if self._process is not None:
            if self._process.poll() is None:
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
            for stream in (self._process.stdin, self._process.stdout):
                assert stream is not None
                stream.close()
            self._process = None
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)


def _start(folder: str) -> subprocess.Popen[str]:
    tests = Path(__file__).parents[1]
    path = os.pathsep.join([str(tests), str(tests / "support"), *sys.path])
    return subprocess.Popen(
        [sys.executable, "-m", "fuzz.forking"],
        env=os.environ | _ENVIRONMENT | {"PYTHONPATH": path, "TMPDIR": folder},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,  # Ctrl-C is for the caller, who ends this process
    )


def _serve() -> None:
    """Answer cases until the caller is gone."""
    requests = os.fdopen(os.dup(0), encoding="utf-8")
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)  # what the libraries print is no answer
    warmed: dict[str, ModuleType] = {}
    for line in requests:
        request = json.loads(line)
        name = request["target"]
        if name not in warmed:
            warmed[name] = _warm(name)
        verdict = _fork(warmed[name], request["case"])
        print(json.dumps(verdict.as_dict()), file=answers, flush=True)


def _warm(name: str) -> ModuleType:
    """Import a target and let it compile its kernels, here and not in every case."""
    target = importlib.import_module(f"fuzz.{name}")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        target.warm_up()
    gc.collect()
    gc.freeze()
    threads = os.listdir("/proc/self/task")
    if len(threads) > 1:
        raise RuntimeError(f"{len(threads)} threads are running, so forking is not safe")
    return target


def _fork(target: ModuleType, case: Any) -> Verdict:
    folder = Path(tempfile.mkdtemp())
    reading, writing = os.pipe()
    try:
        child = os.fork()
        if child == 0:
            os.close(reading)
            _run_and_exit(target, case, folder, writing)
        os.close(writing)
        said, stuck = _listen(reading, child)
        _, status, used = os.wait4(child, 0)
        if said:
            return Verdict(**json.loads(said))
        return _post_mortem(folder, status, stuck, used.ru_utime + used.ru_stime)
    finally:
        os.close(reading)
        shutil.rmtree(folder, ignore_errors=True)


def _listen(reading: int, child: int) -> tuple[bytes, bool]:
    """What the child writes until it ends; whether it had to be ended."""
    said, deadline = b"", time.monotonic() + _STUCK_SECONDS
    while True:
        ready, _, _ = select.select([reading], [], [], max(0.0, deadline - time.monotonic()))
        if not ready:
            os.kill(child, signal.SIGKILL)
            return b"", True
        piece = os.read(reading, 1 << 16)
        if not piece:
            return said, False
        said += piece


def _post_mortem(folder: Path, status: int, stuck: bool, cpu_seconds: float) -> Verdict:
    """The verdict on a process that ended without one."""
    try:
        stage = (folder / ".stage").read_text()
        last_words = (folder / ".stderr").read_text(errors="replace")[-400:]
    except OSError:
        stage, last_words = "starting", ""
    if stuck:
        what = f"no answer after {_STUCK_SECONDS:.0f} s"
        return Verdict("over_time", f"stuck while {stage}", what, cpu_seconds)
    ended_by = os.waitstatus_to_exitcode(status)
    if ended_by == -signal.SIGXCPU:
        what = f"ended after {cpu_seconds:.0f} s of processor time"
        return Verdict("over_time", f"while {stage}", what, cpu_seconds)
    name = signal.Signals(-ended_by).name if ended_by < 0 else f"status {ended_by}"
    return Verdict("death", f"{name} while {stage}", last_words, cpu_seconds)


def _run_and_exit(target: ModuleType, case: Any, folder: Path, writing: int) -> None:
    """Run a case in this forked process, report its verdict, and end the process."""
    status = 1
    try:
        os.dup2(os.open(folder / ".stdout", os.O_WRONLY | os.O_CREAT), 1)
        os.dup2(os.open(folder / ".stderr", os.O_WRONLY | os.O_CREAT), 2)
        sys.stdout, sys.stderr = _text(1), _text(2)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        sandbox = Sandbox(folder, target.MEGABYTES)
        try:
            verdict = target.run(case, sandbox)
        except Exception as error:
            verdict = judge_error(error)
        fields = verdict.as_dict() | {
            "detail": verdict.detail[:2000],
            "cpu_seconds": round(sandbox.cpu_seconds, 3),
            "megabytes": round(sandbox.peak_megabytes, 1),
        }
        os.write(writing, json.dumps(fields).encode())
        status = 0
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(status)


def _text(descriptor: int) -> TextIO:
    return os.fdopen(descriptor, "w", encoding="utf-8", errors="replace", closefd=False)


if __name__ == "__main__":
    _serve()
