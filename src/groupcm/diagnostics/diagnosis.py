"""The diagnosis of an installation, as values, as plain text and as JSON."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass

from groupcm import __version__
from groupcm.diagnostics.computer import (
    Computer,
    KernelCache,
    TorchDevices,
    computer,
    kernel_cache,
    torch_devices,
)
from groupcm.diagnostics.packages import ExtraStatus, Package, core_packages, extras_status
from groupcm.diagnostics.self_test import Check, run_self_test
from groupcm.utils.sections import Section, sections_as_text
from groupcm.utils.text import seconds

__all__ = ["Diagnosis", "diagnose"]

_FORMAT, _VERSION = "groupcm-diagnosis", 1
_GIB = 1024**3
_NOT_KNOWN = "not known"


@dataclass(frozen=True)
class Diagnosis:
    """What an installation consists of, and whether it works; created by `diagnose`.

    Attributes
    ----------
    groupcm : str
        The version of groupcm.
    packages : tuple of Package
        The packages that groupcm always requires; empty if it runs from a folder of sources
        without having been installed.
    extras : tuple of ExtraStatus
    computer : Computer
    kernel_cache : KernelCache
    torch : TorchDevices or None
        None if torch is not installed.
    checks : tuple of Check
        The parts of the self-test.
    """

    groupcm: str
    packages: tuple[Package, ...]
    extras: tuple[ExtraStatus, ...]
    computer: Computer
    kernel_cache: KernelCache
    torch: TorchDevices | None
    checks: tuple[Check, ...]

    @property
    def passed(self) -> bool:
        """Whether every part of the self-test passed."""
        return all(check.passed for check in self.checks)

    def json(self) -> str:
        """Return the diagnosis as JSON, every attribute under its own name."""
        values = {"format": _FORMAT, "version": _VERSION, "passed": self.passed, **asdict(self)}
        return json.dumps(values, ensure_ascii=False, indent=2)

    def sections(self) -> list[Section]:
        """Return the diagnosis as sections of names and values."""
        found = [
            Section("Versions", self._versions()),
            Section("Extras", [(extra.name, _extra(extra)) for extra in self.extras]),
            Section("Computer", self._computer()),
            Section("Self-test", [(check.name, _outcome(check)) for check in self.checks]),
        ]
        return [section for section in found if section.rows]

    def text(self) -> str:
        """Return the diagnosis as plain text."""
        return sections_as_text(self.sections())

    def _versions(self) -> list[tuple[str, str]]:
        rows = [("groupcm", self.groupcm), ("Python", self.computer.python)]
        rows += [(package.name, _version(package)) for package in self.packages]
        if not self.packages:
            rows.append(("packages", "not known, because groupcm is not installed"))
        return rows

    def _computer(self) -> list[tuple[str, str]]:
        this, cache = self.computer, self.kernel_cache
        writable = "writable" if cache.is_writable else f"cannot be written ({cache.problem})"
        rows = [
            ("system", this.system),
            ("processor", this.processor),
            ("threads", f"{this.n_threads or _NOT_KNOWN} of {this.n_cores or _NOT_KNOWN} cores"),
            ("linear algebra", ", ".join(this.blas) or _NOT_KNOWN),
            ("memory", f"{_amount(this.free_memory)} free of {_amount(this.total_memory)}"),
            ("Python program", this.executable),
            ("groupcm in", this.location),
            ("kernel cache", f"{cache.path or _NOT_KNOWN}, {writable}"),
            ("browser", this.browser or "none found; open the printed address yourself"),
            ("GPU for torch", _gpus(self.torch)),
        ]
        return rows + list(this.variables.items())


def diagnose() -> Diagnosis:
    """Describe this installation and run its self-test, which takes a few seconds.

    No failure raises an error: it becomes part of the result. Paths below the home directory are
    shortened to ``~``, and of the environment only variables that change how groupcm computes are
    included, so that the result can be published in an issue.

    Returns
    -------
    Diagnosis

    Examples
    --------
    >>> from groupcm.diagnostics import diagnose
    >>> found = diagnose()
    >>> found.passed
    True
    >>> [check.name for check in found.checks][:3]
    ['kernels', 'certified fit', 'saving and loading']
    """
    extras = extras_status()
    installed = [extra.name for extra in extras if extra.is_installed]
    return Diagnosis(
        groupcm=__version__,
        packages=core_packages(),
        extras=extras,
        checks=run_self_test(installed),
        computer=computer(),
        kernel_cache=kernel_cache(),
        torch=torch_devices(),
    )


def _version(package: Package) -> str:
    version = package.version or "not installed"
    return version if package.is_suitable else f"{version}; groupcm needs {package.required}"


def _extra(extra: ExtraStatus) -> str:
    if extra.is_installed:
        return ", ".join(f"{each.name} {each.version}" for each in extra.packages)
    wrong = [each for each in extra.packages if not each.is_suitable]
    missing = ", ".join(f"{each.name} {_version(each)}" for each in wrong if each.version)
    if len(wrong) == len(extra.packages) and not missing:
        return f"not installed; install with: {extra.install_command}"
    missing = missing or f"{', '.join(each.name for each in wrong)} not installed"
    return f"incomplete ({missing}); install with: {extra.install_command}"


def _outcome(check: Check) -> str:
    if check.passed:
        return f"passed in {seconds(check.seconds)}: {check.detail}"
    return f"FAILED: {check.detail}"


def _amount(n_bytes: int | None) -> str:
    return _NOT_KNOWN if n_bytes is None else f"{n_bytes / _GIB:.1f} GiB"


def _gpus(torch: TorchDevices | None) -> str:
    if torch is None:
        return "torch is not installed"
    found = ", ".join(torch.gpus) or "none"
    return f"{found} ({torch.problem})" if torch.problem else found
