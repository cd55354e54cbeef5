"""What this computer is and can do. Importing this room does not import torch."""

from core.machine.kept_probe import (
    Device,
    DtypeVerdict,
    Probe,
    Speed,
    Trial,
    cached_probe,
    keep_probe,
    probe_machine,
)
from core.machine.machine import Machine, describe_machine, installed_version, usable_cores
from core.machine.state import state_directory

__all__ = [
    "Device",
    "DtypeVerdict",
    "Machine",
    "Probe",
    "Speed",
    "Trial",
    "cached_probe",
    "describe_machine",
    "installed_version",
    "keep_probe",
    "probe_machine",
    "state_directory",
    "usable_cores",
]
