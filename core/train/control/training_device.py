"""What one run at a time trains on: the CPU, or one GPU of this machine; how its lock is called."""

import platform
import re
from dataclasses import dataclass

from core.language import _
from core.machine.nvml import VISIBLE, Gpu, least_busy_first, named_gpu, visible_gpus


class NoSuchGpuError(ValueError):
    """The GPU that a run asks for is not among those that it may see."""


@dataclass(frozen=True, slots=True)
class TrainingDevice:
    """The CPU, or one GPU; where nobody tells which GPUs there are, all of them together.

    Attributes:
        kind: "cpu", "cuda" or "mps".
        gpu: Which one, where that is known.
    """

    kind: str
    gpu: Gpu | None = None

    @property
    def file_name(self) -> str:
        """How its files begin: a home that machines share holds the locks of each."""
        words = (platform.node()[:64], self.kind, self.gpu.uuid if self.gpu else "")
        return "-".join(re.sub(r"[^A-Za-z0-9-]", "_", word) for word in words if word)

    @property
    def environment(self) -> dict[str, str]:
        """What shows a process this GPU alone, if it is set before CUDA looks for GPUs."""
        return {VISIBLE: self.gpu.uuid} if self.gpu else {}


def training_devices(kind: str, gpu: str = "") -> tuple[TrainingDevice, ...]:
    """Return what a run may train on, at least one: the GPUs from the least busy on, or the named.

    Args:
        kind: "cpu", "cuda" or "mps".
        gpu: A UUID or its beginning, or a number among the visible GPUs; empty for any.

    Raises:
        NoSuchGpuError: that names no GPU here, or several.
    """
    if kind != "cuda":
        return (TrainingDevice(kind),)
    gpus = visible_gpus()
    if not gpu:
        return tuple(TrainingDevice(kind, each) for each in least_busy_first(gpus) or (None,))
    named = named_gpu(gpus, gpu)
    if named is None:
        there = _(", ").join(
            f"{number} {each.name} ({each.uuid})" for number, each in enumerate(gpus)
        )
        message = _(
            "gpu is {gpu!r}, which names no GPU here, or several of them. There are: {there}. Give "
            "the number of one or the beginning of its UUID, or nothing for the least busy."
        )
        raise NoSuchGpuError(message.format(gpu=gpu, there=there or _("none that can be told")))
    return (TrainingDevice(kind, named),)
