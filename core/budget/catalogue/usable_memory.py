"""The memory of a device that tensors can fill: read off torch's own messages, else estimated.

`torch.OutOfMemoryError` prints the total that the driver reports. The readings are from public
issues on GitHub, on Linux, each named by its repository and number. They differ by driver: newer
ones keep more. Windows prints what stands on the box and moves memory to the host. What nvidia-smi
reports: modal-labs/modal-client#2797 for T4, A10, L4, L40S, A100 and H100; the others are recalled.
"""

from collections.abc import Mapping
from dataclasses import replace
from statistics import median_low
from typing import Any, Final, NamedTuple

from core.budget.cluster import Evidence
from core.language import N_
from core.units import GIB, MIB

HALF_A_DIGIT: Final = 0.005
"""GiB: the messages are rounded to two digits behind the point."""
SPREAD: Final = 0.21
"""GiB: as far as readings of one device lie apart, from 16 GiB to 80: a single one may be off."""
KEPT: Final = (0.24, 0.86)
"""GiB that NVIDIA's driver keeps of what nvidia-smi reports, over all devices with a reading."""
TYPICAL: Final = 0.5
CUDA_CONTEXT: Final = 512 * MIB
"""What a process's CUDA context takes of what torch sees, for kernels, their stacks and cuBLAS. It
is subtracted here, once: no budget counts it again."""
CONTEXTS: Final = (300 * MIB, 700 * MIB)
"""Between these lies what nvidia-smi shows for a process that has used torch and freed all."""

READINGS: Final = N_("total capacity in torch's out-of-memory messages, GiB: {readings}")
_NVIDIA: Final = N_(
    "no reading found: what nvidia-smi reports, recalled, less 0.5 GiB; on devices with a reading "
    "the driver keeps 0.24 to 0.86"
)
_LOGGED: Final = N_(
    "no reading of torch found: nvidia-smi prints {readings} MiB in public logs, less 0.5 GiB; on "
    "devices with a reading the driver keeps 0.24 to 0.86"
)
_AMD: Final = N_(
    "no reading found: on four other AMD devices torch sees 0.02 GiB less than is sold (16, 24, "
    "32 and 288 GiB: ROCm/TheRock#2118)"
)
_TPU: Final = N_(
    "recalled from JAX; of a v4's 32 GiB it sees 30.75, the rest is reserved (erfanzar/EasyDeL#166)"
)
_METAL: Final = N_(
    "three quarters of the memory, as an M1 Max of 64 GB allows (BoBo0037/bobo-fun#8); Metal "
    "allows 65 to 75 % (sgl-project/sglang#21443)"
)


class Usable(NamedTuple):
    """GiB that a process can get, and how that is known."""

    gib: float
    evidence: Evidence

    @property
    def num_bytes(self) -> int:
        """The same in whole bytes."""
        return round(self.gib * GIB)

    def at_most(self, sold_gib: int) -> "Usable":
        """Return the same with a band that ends at the memory on the box."""
        below, above = self.evidence.band
        band = (below, min(above, sold_gib * GIB / self.num_bytes - 1))
        return self._replace(evidence=replace(self.evidence, band=band))

    def less_a_context(self) -> "Usable":
        """Return what a process's CUDA context leaves; how much it takes is an estimate."""
        (below, above), (least, most) = self.evidence.band, CONTEXTS
        left = self.gib - CUDA_CONTEXT / GIB
        band = _band(
            left, self.gib * (1 - below) - most / GIB, self.gib * (1 + above) - least / GIB
        )
        return Usable(left, replace(self.evidence, kind="estimated", band=band))


def usable_memory(row: dict[str, Any], sold_gib: int) -> Usable:
    """Take from a row what is known of its memory and return what a process sees of it.

    That is the middle of readings (`seen`: issue -> GiB), or what is left of the memory that
    nvidia-smi reports (`nvidia_smi` in public logs, `nvidia_smi_recalled`), or what JAX sees of a
    TPU's, within 3 % (`jax`). Without any it is what AMD's driver leaves, or what Metal recommends
    to use of the memory that it shares with the host.
    """
    if readings := row.pop("seen", None):
        return _seen(readings)
    for key, source in (("nvidia_smi", _LOGGED), ("nvidia_smi_recalled", _NVIDIA)):
        if mib := row.pop(key, 0):
            gib, (least, most) = mib / 1024, KEPT
            return _estimated(gib - TYPICAL, gib - most, gib - least, source, f"{mib:,}")
    if gib := row.pop("jax", 0.0):
        return _estimated(gib, 0.97 * gib, 1.01 * gib, _TPU)
    if row["maker"] == "AMD":
        return _estimated(sold_gib - 0.02, sold_gib - 0.02 - SPREAD, sold_gib, _AMD)
    return _estimated(0.75 * sold_gib, 0.65 * sold_gib, 0.75 * sold_gib, _METAL)


def _seen(readings: Mapping[str, float]) -> Usable:
    found = readings.values()
    gib, around = median_low(found), HALF_A_DIGIT if len(readings) > 1 else SPREAD
    words = ", ".join(f"{reading:.2f} ({issue})" for issue, reading in readings.items())
    band = _band(gib, min(found) - around, max(found) + around)
    return Usable(gib, Evidence(kind="measured", source=READINGS, readings=words, band=band))


def _estimated(gib: float, low: float, high: float, source: str, readings: str = "") -> Usable:
    band = _band(gib, low, high)
    return Usable(gib, Evidence(kind="estimated", source=source, readings=readings, band=band))


def _band(gib: float, low: float, high: float) -> tuple[float, float]:
    return 1 - low / gib, high / gib - 1
