"""What a probe of torch found: made once in a child process and kept; never imports torch."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final

from filelock import FileLock

from core.machine.child import lines_of
from core.machine.gpus import gpu_facts
from core.machine.machine import describe_machine
from core.machine.state import keep_json, kept_file, state_directory

PROBE_SECONDS: Final = 180
FORMAT_VERSION: Final = 1


@dataclass(frozen=True, kw_only=True, slots=True)
class Trial:
    """One operation really tried; `message` holds torch's own words when it did not work."""

    operation: str  # "create" | "convert" | "add" | "matmul"
    works: bool
    message: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class DtypeVerdict:
    """What one torch dtype can do on one device."""

    name: str  # "float8_e4m3fn"
    item_bytes: int
    trials: tuple[Trial, ...]

    @property
    def works(self) -> bool:
        """Whether every operation worked."""
        return all(trial.works for trial in self.trials)


@dataclass(frozen=True, kw_only=True, slots=True)
class Speed:
    """A measured rate: the median of several runs, with the slowest and fastest beside it."""

    what: str  # "matmul float32" | "matmul bfloat16" | "copy"
    unit: str  # "FLOP/s" | "B/s"
    median: float
    low: float
    high: float
    num_runs: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Device:
    """A device torch can compute on; memory in bytes, None where the device does not tell."""

    kind: str  # "cpu" | "cuda" | "rocm" | "xpu" | "mps"
    torch_name: str  # "cpu", "cuda:0": what torch.device() takes
    name: str
    memory_total: int | None
    memory_free: int | None
    capability: str | None  # "9.0" on CUDA, "gfx942" on ROCm, "AVX512" on a CPU
    dtypes: tuple[DtypeVerdict, ...] = ()
    speeds: tuple[Speed, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Probe:
    """What torch says about this computer."""

    torch: str
    cuda: str | None
    rocm: str | None
    kernels: tuple[str, ...]  # the libraries that compute: "oneDNN v3.12.0"
    num_threads: int
    cpu_name: str
    features: tuple[tuple[str, bool], ...]  # "AVX-512 BF16" -> True
    devices: tuple[Device, ...] = field(default_factory=tuple)

    @property
    def best_device(self) -> Device:
        """The device a run uses when nobody chose one: the first accelerator, else the CPU."""
        return next((d for d in self.devices if d.kind != "cpu"), self.devices[0])


def probe_machine(*, refresh: bool = False) -> Probe:
    """Return the probe of this computer: the kept one, or a new one from a child process.

    A kept result is used while torch, the processor and the visible devices are the same.

    Raises:
        ValueError: the child failed, or the state folder cannot be written to.
    """
    with FileLock(state_directory() / "probe.lock"):  # one child at a time measures undisturbed
        known = None if refresh else cached_probe()
        if known is not None:
            return known
        lines = lines_of("core.machine.probe", seconds=PROBE_SECONDS)
        probe = probe_from_json(json.loads("".join(lines)))
        keep_probe(probe)
        return probe


def keep_probe(probe: Probe) -> None:
    """Keep a probe of this computer for later; a reader never sees half of it.

    Raises:
        ValueError: the state folder cannot be written to.
    """
    keep_json(_cache_file(), asdict(probe))


def cached_probe() -> Probe | None:
    """Return the kept probe at once, None when there is none that fits this computer."""
    try:
        return probe_from_json(json.loads(_cache_file().read_text(encoding="utf-8")))
    except (OSError, ValueError):
        return None


def probe_from_json(data: Mapping[str, Any]) -> Probe:
    """Read a probe back.

    Raises:
        ValueError: the data is not a probe.
    """
    try:
        features = tuple((str(name), bool(on)) for name, on in data["features"])
        devices = tuple(_device(device) for device in data["devices"])
        rest = {name: data[name] for name in ("torch", "cuda", "rocm", "num_threads", "cpu_name")}
        return Probe(**rest, kernels=tuple(data["kernels"]), features=features, devices=devices)
    except (KeyError, TypeError) as error:
        raise ValueError(f"this is not the result of a probe: {error}") from error


def _cache_file() -> Path:
    """Name the cache after what a result depends on and can be known without torch."""
    machine = describe_machine()
    facts = [FORMAT_VERSION, machine.torch, machine.system, machine.architecture, *gpu_facts()]
    facts += [machine.processor, machine.usable_cores, machine.memory_total >> 30]
    return kept_file("probe", facts)


def _device(data: Mapping[str, Any]) -> Device:
    dtypes = tuple(_verdict(verdict) for verdict in data["dtypes"])
    speeds = tuple(Speed(**speed) for speed in data["speeds"])
    return Device(**{**data, "dtypes": dtypes, "speeds": speeds})


def _verdict(data: Mapping[str, Any]) -> DtypeVerdict:
    trials: Sequence[Mapping[str, Any]] = data["trials"]
    return DtypeVerdict(**{**data, "trials": tuple(Trial(**trial) for trial in trials)})
