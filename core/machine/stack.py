"""What stands between a line of Python and the silicon, with this machine's versions."""

from dataclasses import dataclass

from core.language import N_, _
from core.machine.kept_probe import Device, Probe
from core.machine.machine import Machine
from core.units import format_bytes

KERNEL_NAMES = {"cuda": "CUDA {version}", "rocm": "ROCm {version}", "mps": "Metal", "xpu": "oneAPI"}

_LAYERS = (
    (N_("application"), N_("asks: train this model on that text")),
    (N_("model and training loop"), N_("says which layers, which loss, which update")),
    (N_("PyTorch"), N_("tensors, autograd, and for each operation the kernel to call")),
    (N_("kernels and driver"), N_("the machine code that multiplies and adds")),
    (N_("hardware"), N_("moves bytes and switches transistors")),
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Layer:
    """One layer, from top to bottom: who it is, what it does for the one above, what is here."""

    name: str  # a message id
    duty: str  # a message id
    found: str  # names and versions, the same in every language


def software_stack(machine: Machine, probe: Probe) -> tuple[Layer, ...]:
    """Return the five layers of this machine, the reader's own program first."""
    device = probe.best_device
    versions = dict(machine.versions)
    found = (
        f"Bits to GPT, Streamlit {versions.get('streamlit', '?')}",
        f"core.models, core.train, Python {machine.python}",
        f"torch {probe.torch}",
        _(", ").join(_kernels(probe, device)),
        _hardware(device, machine),
    )
    layers = zip(_LAYERS, found, strict=True)
    return tuple(Layer(name=name, duty=duty, found=here) for (name, duty), here in layers)


def _kernels(probe: Probe, device: Device) -> tuple[str, ...]:
    if device.kind == "cpu":
        level = (device.capability,) if device.capability else ()
        return (*probe.kernels, *level)
    version = probe.rocm if device.kind == "rocm" else probe.cuda
    libraries = tuple(name for name in probe.kernels if name.startswith("cuDNN"))
    return (KERNEL_NAMES[device.kind].format(version=version), *libraries)


def _hardware(device: Device, machine: Machine) -> str:
    memory = format_bytes(device.memory_total) if device.memory_total else "?"
    if device.kind == "cpu":
        return f"{device.name}, {machine.physical_cores} × CPU, {memory}"
    return f"{device.name}, {memory}"
