"""What the page of model sizes asks for: a size, a device, how narrow formats are stored."""

from dataclasses import dataclass
from typing import Final

import streamlit as st

from core.budget.budget import Verdict, verdict_of
from core.budget.catalogue.devices import DEVICES
from core.budget.cluster import pool
from core.budget.item import Item
from core.budget.weights.sizes import FORMAT_NAMES, OFFERED, SIZES, nearest_model
from core.budget.weights.stored import Size, size_of
from core.language import _
from core.models.spec import ModelSpec
from core.units import format_count
from pages.shared.inputs import Inputs
from pages.shared.plan.choices import AS_RELEASED, RELEASED, choose_device
from pages.shared.plan.own_config import own_model
from pages.shared.sides import box

ASK: Final = Inputs("sizes", of_picture=("formats",))
DEFAULT_SIZE: Final = "llama-2-7b"
DEFAULT_DEVICE: Final = "rtx-4090"
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
    """What the pictures of the page speak of."""

    size: Size
    line: Line
    rest_in_16_bits: bool
    format: str = DEFAULT_FORMAT
    formats: tuple[str, ...] = FORMAT_NAMES
    config: str = ""


def choose_case() -> Case:
    """Show the inputs, the slider of sizes first, and return what was chosen."""
    # Whether it slides is known when all have been asked.
    first = box(st.container, key="sizes_slider")
    chosen = _choose_format()
    device = choose_device(ASK, default=DEFAULT_DEVICE).device
    with box(st.popover, _("Settings"), icon=":material/tune:", key="sizes_settings"):
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
    own = own_model(ASK)
    with first:
        word = ASK.select_slider(
            "size",
            _("Parameters"),
            tuple(SIZES),
            default=DEFAULT_SIZE,
            labels=size_label,
            help=_("Every stop is a published model or a round number; the arrow keys step."),
            disabled=own is not None,
        )
    size = SIZES[word] if own is None else size_of("own", own[0])
    if chosen == RELEASED:
        chosen = (size.spec and size.spec.quantized) or DEFAULT_FORMAT
        if chosen != DEFAULT_FORMAT and chosen not in formats:
            formats = (chosen, *formats)
    line = Line(device.name, device.memory_usable)
    text = "" if own is None else own[1]
    return Case(
        size=size, line=line, rest_in_16_bits=rest, format=chosen, formats=formats, config=text
    )


def _choose_format() -> str:
    return ASK.select_slider(
        "format",
        _("Weight format"),
        (RELEASED, *OFFERED),
        default=RELEASED,
        labels=lambda word: _("as released") if word == RELEASED else word,
        help=_(AS_RELEASED),
    )


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
