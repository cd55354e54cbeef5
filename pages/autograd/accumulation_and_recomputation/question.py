"""What the reader is asked to predict: why k = 1 gains nothing; what three calls leave in .grad."""

from core.autograd.accumulation import count_calls
from core.autograd.layer_stack import Stack
from core.language import _
from core.units import format_bytes
from pages.autograd.accumulation_and_recomputation.inputs import ASK
from pages.autograd.accumulation_and_recomputation.measured import swept
from pages.shared.questions import Choice, predict_then_reveal
from pages.shared.settings import unit_system

_STACK = Stack(width=1024)


def ask_why_no_gain() -> None:
    """Ask what is held if each layer of Linear and ReLU is a segment; measured."""
    plain, each_layer, *_others = swept(_STACK)
    _gelu, each_gelu_layer, *_others = swept(Stack(width=1024, layer="gelu"))
    before, after, gelu_before, gelu_after = (
        format_bytes(each.held, unit_system())
        for each in (plain, each_layer, _gelu, each_gelu_layer)
    )
    half = format_bytes(plain.held // 2, unit_system())
    choices = [
        Choice(
            _("{half}: the output of Linear is no longer kept").format(half=half),
            _("It never was: ReLU keeps its output, which says as well where its derivative is 1."),
        ),
        Choice(_("{after}: nothing is gained").format(after=after)),
        Choice(
            _("Next to nothing: all is recomputed"),
            _("A segment keeps its input, or there would be nothing to recompute from."),
        ),
    ]
    predict_then_reveal(
        ASK.key("no_gain"),
        _(
            "{layers} layers of Linear and ReLU hold {before} for backward. Each layer becomes a "
            "checkpoint segment of its own (k = 1). How much is held now?"
        ).format(layers=_STACK.num_layers, before=before),
        choices,
        _(
            "ReLU keeps its output, and that is the tensor that the next Linear keeps as its "
            "input: one storage a layer, which is just what a segment keeps. GELU keeps its input, "
            "a second tensor: there k = 1 turns {gelu_before} into {gelu_after}."
        ).format(gelu_before=gelu_before, gelu_after=gelu_after),
    )


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
