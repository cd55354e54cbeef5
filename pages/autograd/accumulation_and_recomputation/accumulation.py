"""What backward adds to: the gradient of one leaf, call by call, and of a batch in pieces."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

import streamlit as st

from core.autograd.accumulation import (
    Call,
    Loss,
    MicroBatches,
    Reset,
    bytes_after_reset,
    count_calls,
    micro_batches,
)
from core.budget import Item
from core.figures.picture import Drawing, Look, Picture
from core.language import N_, _, ngettext
from core.units import format_count
from pages.autograd.accumulation_and_recomputation.checkpointing import measured_item
from pages.autograd.accumulation_and_recomputation.inputs import ASK, DOING, Case
from pages.autograd.accumulation_and_recomputation.kept import kept_picture, layout_of
from pages.autograd.accumulation_and_recomputation.snippets import counting_snippet, pieces_snippet
from pages.shared.job import in_turn
from pages.shared.questions import Choice, predict_then_reveal
from pages.shared.settings import look, presenting
from pages.shared.tabbed_page import Chart, Shown, Tab

LOSSES: Final[Mapping[Loss, str]] = {"square": "x**2", "multiples": "2x, 3x, 4x"}
RESETS: Final[tuple[Reset, ...]] = ("never", "zero", "none")
RESET_CODE: Final = {"zero": "grad.zero_()", "none": "grad = None"}
PARAMS: Final = (10_000, 100_000, 1_000_000, 10_000_000)
COUNTS: Final = (1, 2, 4, 8)
_SOURCE: Final = N_("the storage of .grad, held weakly, after optimizer.zero_grad()")
_in_pieces = st.cache_data(max_entries=32, show_spinner=False)(micro_batches)


@dataclass(frozen=True, kw_only=True, slots=True)
class Accumulating:
    """What is added up."""

    num_pieces: int  # micro-batches, and so calls of backward before a step
    reset: Reset
    every: int  # calls after which `.grad` is reset
    loss: Loss  # of the one number, computed anew for every call
    is_divided: bool  # whether the loss of a micro-batch is divided by their number
    num_params: int  # of a model whose gradients are reset


def choose_accumulating() -> Accumulating:
    num_pieces = ASK.select_slider(
        "pieces", _("Micro-batches"), COUNTS, default=4,
        help=_("Each is one call of backward."),
    )  # fmt: skip
    names = {"never": _("never"), "zero": "zero_()", "none": "None"}
    reset = ASK.segmented("reset", _("Reset"), RESETS, default="never", labels=names.__getitem__)
    with st.popover(_("Calls"), icon=":material/tune:", key=ASK.key("counting_settings")):
        every = ASK.slider("every", _("Reset after every … calls"), 1, 4, default=1, step=1)
        is_divided = ASK.toggle(
            "divide", _("Loss ÷ micro-batches"), default=True,
            help=_("The loss is a mean over the rows of a piece: the mean over all rows is the sum "
                   "of these means, divided by the number of pieces."),
        )  # fmt: skip
        loss = ASK.segmented(
            "loss", _("Loss"), tuple(LOSSES), default="square", labels=LOSSES.__getitem__,
            help=_("Computed anew for every call, at x = 2."),
        )  # fmt: skip
        num_params = ASK.select_slider(
            "params", _("Parameters of a model"), PARAMS, default=1_000_000, labels=format_count
        )
    return Accumulating(
        num_pieces=num_pieces, reset=reset, every=every, loss=loss, is_divided=is_divided,
        num_params=num_params,
    )  # fmt: skip


def accumulation(case: Case, asked: Accumulating) -> Shown:
    """Call backward on one number; without a reset, run a batch in as many micro-batches."""
    calls = count_calls(asked.num_pieces, loss=asked.loss, reset=asked.reset, every=asked.every)
    picture = calls_picture(calls, RESET_CODE.get(asked.reset, ""), look())
    charts = [Chart(picture=picture, file_name="gradient-by-call")]
    headline, numbers = _headline(calls, asked), _reset_numbers(asked)
    notes, code = [_note(calls)], counting_snippet(asked.loss, asked.reset, len(calls), asked.every)
    if asked.reset == "never":  # only then the micro-batches of a step add up
        ran = _ran(case, asked)
        headline = _("{calls}; {pieces}").format(calls=headline, pieces=_pieces_headline(ran))
        numbers = [*_pieces_numbers(ran), *numbers]
        notes = [*notes, _pieces_note(ran, is_divided=asked.is_divided)]
        code += pieces_snippet(case.stack, asked.num_pieces, is_divided=asked.is_divided)
        if not presenting():
            names = (_("micro-batches"), _("whole batch"))
            kept = kept_picture(ran.pieces, names[0], ran.whole, names[1], look())
            charts += [Chart(picture=kept, file_name="micro-batches", key="pieces")]
    return Shown(
        headline=headline,
        charts=charts,
        numbers=[] if presenting() else numbers,
        notes=[] if presenting() else notes,
        code=code,
    )


def _ran(case: Case, asked: Accumulating) -> MicroBatches:
    divided = asked.is_divided
    work = partial(_in_pieces, case.stack, asked.num_pieces, is_divided=divided)
    name = f"pieces {asked.num_pieces} {divided} {case.stack}"
    return in_turn(name, work, case.stack.flops, doing=_(DOING))


def _headline(calls: tuple[Call, ...], asked: Accumulating) -> str:
    values = " → ".join(f"{each.after:g}" for each in calls)
    if asked.reset == "never":
        return _("Backward adds to `.grad`: {values}").format(values=values)
    message = ngettext(
        "With `{reset}` after every call: {values}",
        "With `{reset}` after every {every} calls: {values}",
        asked.every,
    )
    return message.format(reset=RESET_CODE[asked.reset], every=asked.every, values=values)


def _reset_numbers(asked: Accumulating) -> list[tuple[str, Item]]:
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


def _pieces_headline(ran: MicroBatches) -> str:
    whole, piece = map(look().format_bytes, ran.peaks)
    return _(
        "{count} micro-batches: activations {whole} → {piece}, gradient {ratio:.3g} × that of the "
        "whole batch"
    ).format(count=ran.num_pieces, whole=whole, piece=piece, ratio=ran.ratio)


def _pieces_numbers(ran: MicroBatches) -> list[tuple[str, Item]]:
    whole, piece = ran.peaks
    return [
        (_("Whole batch"), measured_item("activations", whole)),
        (_("Micro-batches"), measured_item("activations", piece)),
    ]


def _pieces_note(ran: MicroBatches, *, is_divided: bool) -> str:
    why = (
        _("Sums in another order are rounded otherwise.")
        if is_divided
        else _("Losses that are not divided add up to a gradient that is too long.")
    )
    message = _(
        "Largest difference between two gradients of a weight: {difference:.2g}; the largest "
        "gradient is {largest:.2g}. {why}"
    )
    return message.format(difference=ran.largest_difference, largest=ran.largest_gradient, why=why)


def calls_picture(calls: Sequence[Call], reset: str, look: Look) -> Picture:
    """Return a bar a call of backward: below what `.grad` held, above it what was added."""
    drawing = Drawing()
    places = [each.number for each in calls]
    parts = (
        (_("already in .grad"), "surface", [each.before or 0 for each in calls]),
        (_("added by this call"), "gradients", [each.added for each in calls]),
    )
    for name, fill, heights in parts:
        drawing.bar(
            x=places, y=heights, name=name, hovertemplate="%{y:g}<extra></extra>",
            marker={"color": look.color(fill),
                    "line": {"color": look.color("gradients"), "width": 2}},
        )  # fmt: skip
    for each in calls:
        text = f"<b>{each.after:g}</b>"
        drawing.note(x=each.number, y=max(each.after, 0), text=text, yanchor="bottom")
        if each.is_reset_before:
            drawing.shape(
                type="line", xref="x", yref="paper", x0=each.number - 0.5, x1=each.number - 0.5,
                y0=0, y1=1, line={"color": look.color("muted"), "width": 2, "dash": "dash"},
            )  # fmt: skip
    axes = layout_of(
        look,
        340,
        {"title": {"text": _("call of backward")}, "dtick": 1, "showgrid": False},
        {"title": {"text": ".grad"}, "range": [0, max(each.after for each in calls) * 1.18]},
        barmode="stack",
        bargap=0.4,
    )
    return Picture(
        figure=drawing.figure(axes), alt=_sentence(calls, reset), table=_table(calls, reset)
    )


def _sentence(calls: Sequence[Call], reset: str) -> str:
    values = " → ".join(f"{each.after:g}" for each in calls)
    resets = [str(each.number) for each in calls if each.is_reset_before]
    if not resets:
        return _("The gradient after each call of backward, never reset: {values}.").format(
            values=values
        )
    return _("The gradient after each call of backward: {values}. {reset} before {calls}.").format(
        values=values, reset=reset, calls=_(", ").join(resets)
    )


def _table(calls: Sequence[Call], reset: str) -> dict[str, list[Any]]:
    return {
        _("call"): [each.number for each in calls],
        _("reset before it"): [reset if each.is_reset_before else "" for each in calls],
        _(".grad before"): [each.before for each in calls],
        _("added"): [each.added for each in calls],
        _(".grad after"): [each.after for each in calls],
        _("same tensor as before"): [
            _("yes") if each.is_same_tensor else _("no") for each in calls
        ],
    }


def ask_after_three_calls() -> None:
    """Ask what .grad is after three calls without a reset; counted."""
    first, *_between, last = count_calls(3)
    choices = [
        Choice(
            f"{first.after:g}",
            _("So it would be if backward wrote into .grad. It adds to what is there."),
        ),
        Choice(f"{last.after:g}"),
        Choice(
            _("An error: the graph is freed"),
            _("Each call has a graph of its own: x**2 is computed anew every time."),
        ),
    ]
    predict_then_reveal(
        ASK.key("three_calls"),
        _("x = 2. Three times y = x**2 is computed and y.backward() called. What is x.grad?"),
        choices,
        _("Each call adds 2x = {added:g}: {first:g}, then {last:g} after the third.").format(
            added=last.added, first=first.after, last=last.after
        ),
    )


TAB: Final = Tab(
    label=N_("Gradient accumulation"), show=accumulation, unseen=("segment",),
    choose=choose_accumulating, question=ask_after_three_calls,
)  # fmt: skip
