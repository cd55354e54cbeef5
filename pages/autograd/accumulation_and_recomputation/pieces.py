"""Micro-batches: the gradients of the whole batch, for the activations of a piece."""

from dataclasses import dataclass

from core.autograd.accumulation import MicroBatches
from core.budget import Item
from core.figures.autograd.accumulation_and_recomputation.kept import kept_picture
from core.language import _
from pages.autograd.accumulation_and_recomputation.checkpointing import measured_item
from pages.autograd.accumulation_and_recomputation.inputs import ASK, Case
from pages.autograd.accumulation_and_recomputation.measured import in_pieces
from pages.autograd.accumulation_and_recomputation.snippets import pieces_snippet
from pages.shared.settings import look, presenting
from pages.shared.tabbed_page import Chart, Shown

COUNTS = (1, 2, 4, 8)


@dataclass(frozen=True, kw_only=True, slots=True)
class Pieces:
    """Into how many micro-batches the batch is cut, and whether their losses are divided by it."""

    num_pieces: int
    is_divided: bool


def choose_pieces() -> Pieces:
    """Show the inputs of the tab and return what they say."""
    return Pieces(
        num_pieces=ASK.select_slider("pieces", _("Micro-batches"), COUNTS, default=4),
        is_divided=ASK.toggle(
            "divide", _("Loss ÷ micro-batches"), default=True,
            help=_("The loss is a mean over the rows of a piece: the mean over all rows is the sum "
                   "of these means, divided by the number of pieces."),
        ),
    )  # fmt: skip


def pieces(case: Case, asked: Pieces) -> Shown:
    """Run the batch whole and in pieces, and compare gradients and memory."""
    ran = in_pieces(case.stack, asked.num_pieces, is_divided=asked.is_divided)
    names = (_("micro-batches"), _("whole batch"))
    picture = kept_picture(ran.pieces, names[0], ran.whole, names[1], look())
    return Shown(
        headline=_headline(ran),
        charts=[Chart(picture=picture, file_name="micro-batches")],
        numbers=[] if presenting() else _numbers(ran),
        notes=[] if presenting() else [_note(ran, is_divided=asked.is_divided)],
        code=pieces_snippet(case.stack, asked.num_pieces, is_divided=asked.is_divided),
    )


def _headline(ran: MicroBatches) -> str:
    whole, piece = map(look().format_bytes, ran.peaks)
    return _(
        "{count} micro-batches: activations {whole} → {piece}, gradient {ratio:.3g} × that of the "
        "whole batch"
    ).format(count=ran.num_pieces, whole=whole, piece=piece, ratio=ran.ratio)


def _numbers(ran: MicroBatches) -> list[tuple[str, Item]]:
    whole, piece = ran.peaks
    return [
        (_("Whole batch"), measured_item("activations", whole)),
        (_("Micro-batches"), measured_item("activations", piece)),
    ]


def _note(ran: MicroBatches, *, is_divided: bool) -> str:
    why = (
        _("Sums in another order are rounded otherwise.")
        if is_divided
        else _("Losses that are not divided add up to a gradient that is too long.")
    )
    said = _(
        "Largest difference between two gradients of a weight: {difference:.2g}; the largest "
        "gradient is {largest:.2g}. {why}"
    )
    return said.format(difference=ran.largest_difference, largest=ran.largest_gradient, why=why)
