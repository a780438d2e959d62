"""Diagnosis of an installation: versions, extras, the computer, and a self-test.

Only the standard library is imported until `diagnose` runs, and no failure of a package stops it:
a broken installation is what it describes.
"""

from groupcm.diagnostics.computer import Computer, KernelCache, TorchDevices
from groupcm.diagnostics.diagnosis import Diagnosis, diagnose
from groupcm.diagnostics.packages import ExtraStatus, Package
from groupcm.diagnostics.self_test import Check, run_self_test

__all__ = [
    "Check",
    "Computer",
    "Diagnosis",
    "ExtraStatus",
    "KernelCache",
    "Package",
    "TorchDevices",
    "diagnose",
    "run_self_test",
]
