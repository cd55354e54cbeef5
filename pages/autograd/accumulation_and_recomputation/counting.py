"""What backward adds to: the gradient of one leaf, call by call, and what resets it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import streamlit as st

from core.autograd.accumulation import Call, Loss, Reset, bytes_after_reset, count_calls
from core.budget import Item
from core.figures.autograd.accumulation_and_recomputation.calls import calls_picture
from core.language import N_, _, ngettext
from core.units import format_count
from pages.autograd.accumulation_and_recomputation.checkpointing import measured_item
from pages.autograd.accumulation_and_recomputation.inputs import ASK
from pages.autograd.accumulation_and_recomputation.snippets import counting_snippet
from pages.shared.settings import look, presenting
from pages.shared.tabbed_page import Chart, Shown

LOSSES: Final[Mapping[Loss, str]] = {"square": "x**2", "multiples": "2x, 3x, 4x"}
RESETS: Final[tuple[Reset, ...]] = ("never", "zero", "none")
RESET_CODE: Final = {"zero": "grad.zero_()", "none": "grad = None"}
PARAMS: Final = (10_000, 100_000, 1_000_000, 10_000_000)
MOST_CALLS: Final = 8
_SOURCE: Final = N_("the storage of .grad, held weakly, after optimizer.zero_grad()")


@dataclass(frozen=True, kw_only=True, slots=True)
class Counting:
    """What is counted; the fields are those of `count_calls`, and the size of another model."""

    loss: Loss
    num_calls: int
    reset: Reset
    every: int
    num_params: int


def choose_counting() -> Counting:
    """Show the inputs of the tab and return what they say."""
    loss = ASK.segmented(
        "loss",
        _("Loss"),
        tuple(LOSSES),
        default="square",
        labels=LOSSES.__getitem__,
        help=_("Computed anew for every call, at x = 2."),
    )
    num_calls = ASK.slider("calls", _("Calls of backward"), 1, MOST_CALLS, default=3, step=1)
    reset = ASK.segmented("reset", _("Reset"), RESETS, default="never", labels=_reset_name)
    every = ASK.slider("every", _("Reset after every … calls"), 1, 4, default=1, step=1)
    with st.popover(_("Settings"), icon=":material/tune:", key=ASK.key("counting_settings")):
        num_params = ASK.select_slider(
            "params", _("Parameters of a model"), PARAMS, default=1_000_000, labels=format_count
        )
    return Counting(loss=loss, num_calls=num_calls, reset=reset, every=every, num_params=num_params)


def counting(asked: Counting) -> Shown:
    """Call backward on one number, and measure what a reset frees in a model."""
    calls = count_calls(asked.num_calls, loss=asked.loss, reset=asked.reset, every=asked.every)
    picture = calls_picture(calls, RESET_CODE.get(asked.reset, ""), look())
    return Shown(
        headline=_headline(calls, asked),
        charts=[Chart(picture=picture, file_name="gradient-by-call")],
        numbers=[] if presenting() else _numbers(asked),
        notes=[] if presenting() else [_note(calls)],
        code=counting_snippet(asked.loss, asked.reset, asked.num_calls, asked.every),
    )


def _headline(calls: tuple[Call, ...], asked: Counting) -> str:
    values = " → ".join(f"{each.after:g}" for each in calls)
    if asked.reset == "never":
        return _("Backward adds to `.grad`: {values}").format(values=values)
    said = ngettext(
        "With `{reset}` after every call: {values}",
        "With `{reset}` after every {every} calls: {values}",
        asked.every,
    )
    return said.format(reset=RESET_CODE[asked.reset], every=asked.every, values=values)


def _numbers(asked: Counting) -> list[tuple[str, Item]]:
    """Return the bytes of gradients that a model holds before and after each kind of reset."""
    before, zeroed = bytes_after_reset(asked.num_params, "zero")
    _before, freed = bytes_after_reset(asked.num_params, "none")
    rows = [
        (_("Gradients of {count} parameters").format(count=format_count(asked.num_params)), before),
        (_("After {code}").format(code="zero_()"), zeroed),
        (_("After {code}").format(code="None"), freed),
    ]
    return [(label, measured_item("gradients", size, source=_SOURCE)) for label, size in rows]


def _note(calls: tuple[Call, ...]) -> str:
    if any(each.is_same_tensor for each in calls[1:]):
        return _(
            "Where `.grad` is there already, backward adds to it in place: it stays the same "
            "tensor. zero_() writes zeros into that tensor, and frees nothing."
        )
    return _(
        "Where `.grad` is None, backward puts a new tensor there. Setting it to None lets go of "
        "the old one: its memory is free until the next backward pass."
    )


def _reset_name(reset: str) -> str:
    return {"never": _("never"), "zero": "zero_()", "none": "None"}[reset]
