"""What the page of model sizes asks for: the plan's model and device, or a round number."""

from dataclasses import dataclass
from typing import Final

import streamlit as st

from core.budget.budget import Verdict, verdict_of
from core.budget.catalogue.devices import DEVICES
from core.budget.cluster import pool
from core.budget.item import Item
from core.budget.planning.settings import RELEASED
from core.budget.weights.sizes import FORMAT_NAMES, OFFERED, SIZES, nearest_model
from core.budget.weights.stored import Size, size_of
from core.language import _
from core.models.spec import ModelSpec
from core.units import format_count
from pages.shared.inputs import Inputs
from pages.shared.plan import plan
from pages.shared.plan.plan import Chosen, choose_plan

ASK: Final = Inputs("sizes", of_picture=("formats",))
DEFAULT_FORMAT: Final = "bfloat16"
MOST_FORMATS: Final = 8
_LANDMARKS: Final = (
    *(("rtx-4090", 1), ("h100-sxm", 1), ("h100-sxm", 8), ("b200", 1)),
    *(("t4", 1), ("mi355x", 1), ("a100-40gb", 1), ("b200", 8)),
)
"""Well-known memories, the most welcome in a picture first."""


@dataclass(frozen=True, slots=True)
class Line:
    """A memory in a picture: a name that everybody reads alike, and its bytes."""

    name: str
    num_bytes: float

    def holds(self, need: Item) -> Verdict:
        """Return whether it holds what is needed."""
        return verdict_of(need, self.num_bytes, (0.0, 0.0))


def verdict(weights: Item, chosen: Line) -> str:
    """Return whether weights fit into the chosen memory, or into how many of them at least."""
    num_bytes, is_sure = weights.amount, chosen.holds(weights) != "close"
    if num_bytes <= chosen.num_bytes:
        return _("✓ fits") if is_sure else _("≈ may fit")
    if not is_sure:
        return _("≈ may not fit")
    if not chosen.num_bytes:
        return _("✗ no memory")
    needed = -int(-num_bytes // chosen.num_bytes)
    return _("✗ ≥ {count} devices").format(count=f"{needed:,}")


@dataclass(frozen=True, kw_only=True, slots=True)
class Case:
    """What the pictures of the page speak of.

    Attributes:
        chosen: The plan of the reader.
        size: Its model, or the round number in its place.
        line: The memory of one of its devices, that the bytes are held against.
        rest_in_16_bits: Whether what is not a matrix of a layer stays in 16 bits.
        format: The format that the headline speaks of.
        formats: Those of the picture, in the reader's order.
        config: The reader's own config.json, where there is one.
    """

    chosen: Chosen
    size: Size
    line: Line
    rest_in_16_bits: bool
    format: str
    formats: tuple[str, ...]
    config: str


def choose_case() -> Case:
    billions = ASK.number(
        "params", _("Parameters (B), 0: the plan's model"), 0.0, 100_000.0, default=0.0, step=1.0
    )
    seen = ["model", "device"]
    if ASK.used("tab", "model") == "model":
        seen.insert(1, "weights")
    chosen = choose_plan(seen, {}, _choose_own)
    formats, rest = chosen.own
    size = _size_of(chosen, billions)
    released = (size.spec and size.spec.quantized) or DEFAULT_FORMAT
    word = str(plan.ASK.used("weights", RELEASED))
    wanted = released if word == RELEASED else word
    if wanted not in (*formats, DEFAULT_FORMAT):
        formats = (wanted, *formats)
    device = chosen.device.device
    return Case(
        chosen=chosen, size=size, line=Line(device.name, device.memory_usable),
        rest_in_16_bits=rest, format=wanted, formats=formats,
        config="" if chosen.model.key or billions else plan.ASK.used("config"),
    )  # fmt: skip


def _choose_own() -> tuple[tuple[str, ...], bool]:
    formats = ASK.several(
        "formats",
        _("Formats in the picture"),
        OFFERED,
        default=FORMAT_NAMES,
        most=MOST_FORMATS,
        help=_("They stand in the order in which you choose them."),
    )
    rest = ASK.toggle(
        "rest",
        _("Embeddings, head and norms stay in 16 bits"),
        default=True,
        help=_("So it is in real checkpoints: only the layers' matrices are quantized."),
    )
    ASK.toggle("several", _("Several sizes at once"), default=False)
    return formats, rest


def _size_of(chosen: Chosen, billions: float) -> Size:
    if billions:
        name = f"{billions:g}B"
        return Size(word=name.lower(), name=name, num_params=round(billions * 1e9))
    key = chosen.model.key
    return SIZES[key] if key else size_of("own", chosen.plan.spec)


def size_label(word: str) -> str:
    """Return a stop of the slider in words: a model with its count, or a round number."""
    size = SIZES[word]
    if size.spec is None:
        return _("{count} parameters").format(count=format_count(size.num_params))
    return f"{size.name} · {format_count(size.num_params)}"


def several_devices(key: str, count: int) -> Line:
    """Return the memory of a device of the table, or of several of them together."""
    device = DEVICES[key]
    name = f"{count} × {device.name}" if count > 1 else device.name
    return Line(name, pool(device, count))


def landmarks() -> list[Line]:
    return [several_devices(*each) for each in _LANDMARKS]


def with_parts(size: Size) -> ModelSpec:
    """Return the model of a size; of a round number the nearest one, and say so."""
    if size.spec is None:
        text = _("{size} is a round number without parts: here are those of the nearest model.")
        st.caption(text.format(size=size.name))
    return nearest_model(size)
