"""What budget pages let a reader choose: a model, a device, sizes; the same on each, for links.

`choose_model(inputs)` is the settings `<page>_model` and `<page>_config`, `choose_device(inputs)`
is `<page>_device` and, for a device that the reader describes, its four numbers.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import streamlit as st

from core.budget.catalogue.devices import DEVICES, custom_device, local_device
from core.budget.catalogue.models import MODELS
from core.budget.cluster import DeviceSpec
from core.budget.weights.parameters import counts
from core.language import N_, _
from core.machine import cached_probe
from core.models.spec import ModelSpec
from core.units import GIB, format_bytes, format_count
from pages.shared.inputs import Inputs
from pages.shared.plan.own_config import own_model
from pages.shared.settings import presenting, unit_system
from pages.shared.sides import box

_GAP: Final = 16 * "\N{EM SPACE}"
"""Between what is seen of a label and the names by which typing finds it."""
OWN: Final = "own"
LOCAL: Final = "local"
DEFAULT_MODEL: Final = "llama-2-7b"
DEFAULT_DEVICE: Final = "h100-sxm"


def stops(least: int, most: int) -> tuple[int, ...]:
    """Return the powers of two from `least` to `most`, and 3, 6, 12, 24 ... between them.

    >>> stops(1, 16)
    (1, 2, 3, 4, 6, 8, 12, 16)
    """
    sizes = {size for power in range(1, 31) for size in (2 ** (power - 1), 3 * 2**power // 2)}
    return tuple(sorted(size for size in sizes if least <= size <= most))


# Of the ways to split a model.
TENSOR: Final = (1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 20, 24, 28, 32)
STAGES: Final = (1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 20, 24, 28, 32, 40, 48, 56, 64)
EXPERTS: Final = (1, 2, 4, 8, 16, 32, 64)
CONTEXT: Final = (1, 2, 4, 8, 16, 32, 64)
VIRTUAL: Final = (1, 2, 3, 4, 5, 6, 7, 8, 10)
TRAINED_LENGTHS: Final = stops(128, 2**20)  # tokens of a sequence
# 1, 2, 3, 4, 6, 8, 12 ... and 256, 384, 512, 768 ...: many stops on a slider.
SERVED_SEQUENCES: Final = (1, *(n for i in range(1, 11) for n in (2**i, 3 * 2 ** (i - 1))), 2**11)
SERVED_CONTEXTS: Final = (*(n for i in range(8, 20) for n in (2**i, 3 * 2 ** (i - 1))), 2**20)
AS_RELEASED: Final = N_(
    "As released: as its makers quantized it (gpt-oss: MXFP4, DeepSeek-V3: FP8), or bfloat16 where "
    "they did not."
)
REDUCED_IN: Final[Mapping[str, str]] = {"none": N_("bf16, as they are computed"), "float32": "fp32"}
"""In what FSDP2 reduces gradients, as a message id."""
CHECKPOINTED: Final[Mapping[str, str]] = {
    "none": N_("none"),
    "selective": N_("selective: recompute all but matmuls"),
    "full": N_("full: recompute every layer"),
    "every_k": N_("segments of several layers"),
}
"""Ways of activation checkpointing, as message ids."""
# Of the reader's own device: name in the address, label, largest, default, step.
OWN_NUMBERS: Final = (
    ("device_gib", N_("Memory in GiB"), 1024, 24, 1),
    ("device_tflops", N_("Dense TFLOP/s in bf16"), 100_000, 100, 10),
    ("device_gbs", N_("Memory bandwidth in GB/s"), 100_000, 1000, 50),
    ("device_link", N_("Link to other devices in GB/s, one way"), 100_000, 32, 50),
)
LINK_HELP: Final = N_(
    "Bandwidth to the other devices of the same machine: all links of the device together, in one "
    "direction. Data sheets often print both directions together: half of that."
)


@dataclass(frozen=True, kw_only=True, slots=True)
class ChosenModel:
    """The model of a page.

    Attributes:
        key: Of the catalogue; "" for the reader's own.
        spec: Its architecture.
        code: Python that makes the same spec, for snippets (MODELS, read_config).
    """

    key: str
    spec: ModelSpec
    code: str


@dataclass(frozen=True, kw_only=True, slots=True)
class ChosenDevice:
    """The device of a page.

    Attributes:
        key: Of the table of devices; "" for the reader's own or the local one.
        device: What it is.
        code: Python that makes the same device (DEVICES, custom_device, local_device).
    """

    key: str
    device: DeviceSpec
    code: str


def choose_model(inputs: Inputs, *, default: str = DEFAULT_MODEL) -> ChosenModel:
    """Show the list of models, in which the reader can search, and return the chosen one.

    Whoever has another model pastes or uploads its config.json; until it can be read, the default
    is used and a sentence says so.

    Args:
        inputs: The page's inputs.
        default: Key of the catalogue; a constant of the page.
    """
    key = inputs.selectbox("model", _("Model"), (*MODELS, OWN), default=default, labels=model_label)
    own = own_model(inputs) if key == OWN else None
    if key == OWN and own is None:
        st.caption(_("Until a config.json can be read, the default model is shown."))
    if own is not None:
        spec, text = own
        return ChosenModel(key="", spec=spec, code=f"read_config({text!r})")
    key = default if key == OWN else key
    return ChosenModel(key=key, spec=MODELS[key], code=f'MODELS["{key}"]')


def model_label(key: str) -> str:
    """Return a model's name for a list, with its size and its maker where there is room.

    The name stands once more, out of sight, with hyphens ("Qwen3-32B") and with spaces.
    """
    if key == OWN:
        return _("my own config.json")
    spec = MODELS[key]
    name, size = spec.name, format_count(counts(spec).total)
    shown = name if presenting() else f"{name} · {size} · {spec.maker}"
    return f"{shown}{_GAP}{name.replace(' ', '-')} {name.replace('-', ' ')}"


def choose_device(inputs: Inputs, *, default: str = DEFAULT_DEVICE) -> ChosenDevice:
    """Show the list of devices, maker by maker and searchable, and return the chosen one.

    Args:
        inputs: The page's inputs.
        default: Key of the table; a constant of the page.
    """
    key = inputs.selectbox(
        "device", _("Device"), (*DEVICES, LOCAL, OWN), default=default, labels=device_label
    )
    if key == OWN:
        return _own_device(inputs)
    if key == LOCAL:
        found = _local_device()
        if found is not None:
            return found
        key = default
    return ChosenDevice(key=key, device=DEVICES[key], code=f'DEVICES["{key}"]')


def device_label(key: str) -> str:
    """Return a device's name for a list, with its maker and memory where there is room.

    It stands once more, out of sight, as it is sold: "H100-SXM-80GB".
    """
    if key in DEVICES:
        device = DEVICES[key]
        size = format_bytes(device.memory_sold, unit_system())
        shown = device.name if presenting() else f"{device.maker} {device.name} · {size}"
        short = device.name.partition(" (")[0].replace(" GB", "GB")
        sold = short if short.endswith("GB") else f"{short} {device.memory_sold / GIB:.0f}GB"
        return f"{shown}{_GAP}{sold.replace(' ', '-')} {sold}"
    return _("this computer") if key == LOCAL else _("a device of my own")


def _local_device() -> ChosenDevice | None:
    """Return this computer's device; None, after a sentence, while torch was never asked."""
    probe = cached_probe()
    if probe is None:
        st.info(_("This computer has not been measured yet: Home does it. Until then the default."))
        return None
    code = "local_device(probe_machine())"
    return ChosenDevice(key="", device=local_device(probe), code=code)


def _own_device(inputs: Inputs) -> ChosenDevice:
    own = inputs.key("own_device")
    with box(st.popover, _("My device"), icon=":material/memory:", key=own):
        memory, tera, giga, link = (
            inputs.number(
                name, _(label), 1, most, default=default, step=step,
                help=_(LINK_HELP) if name == "device_link" else None,
            )
            for name, label, most, default, step in OWN_NUMBERS
        )  # fmt: skip
    device = custom_device(
        memory=memory * GIB, flops_per_second=tera * 1e12, bandwidth=giga * 1e9, link=link * 1e9
    )
    code = (
        f"custom_device(memory={memory} * 2**30, flops_per_second={tera}e12, "
        f"bandwidth={giga}e9, link={link}e9)"
    )
    return ChosenDevice(key="", device=device, code=code)


def note_long_context(spec: ModelSpec, num_tokens: int) -> None:
    if num_tokens > spec.seq_len:
        st.caption(
            _(
                "{model} was made for {longest} tokens; beyond that its answers cannot be trusted, "
                "though bytes and FLOPs are right."
            ).format(model=spec.name, longest=f"{spec.seq_len:,}")
        )
