"""What the reader is asked to predict: the bytes of a split and of the merge that undoes it."""

from core.language import _
from core.tensors.examples import PATTERNS
from core.tensors.pattern_cells import round_trip
from core.units import format_exact
from pages.shared.questions import Choice, predict_then_reveal
from pages.tensors.rearrange_and_einsum.inputs import ASK


def ask_round_trip() -> None:
    """Ask what is moved by splitting heads and merging them again; plans count the bytes."""
    split, merge = PATTERNS["split"], PATTERNS["merge"]
    trip = round_trip(split, merge)
    choices = [
        Choice(
            _("{count} bytes: the merge copies").format(count=format_exact(trip.fresh_merge)),
            _(
                "The same merge of a fresh tensor of shape {shape} does copy. This one was split "
                "a moment ago: its elements still lie in the order of x."
            ).format(shape=trip.shape),
        ),
        Choice(_("{count} bytes: both are views").format(count=format_exact(trip.moved))),
        Choice(
            _("{count} bytes: each reads and writes x").format(
                count=format_exact(2 * trip.fresh_merge)
            ),
            _("A rearrange moves elements only if no strides can describe the new order."),
        ),
    ]
    predict_then_reveal(
        ASK.key("round_trip"),
        _(
            "x has the shape {before}. y = rearrange(x, '{split}'), then rearrange(y, '{merge}'). "
            "How many bytes are moved?"
        ).format(before=trip.before, split=split.pattern, merge=merge.pattern),
        choices,
        _(
            "The split gives y the strides {stride}: h and d still lie side by side in the "
            "storage, so the merge finds them in order, and changes shape and strides only. Fresh "
            "results, such as those of a product, lie in the order of their own shape: their "
            "merge copies."
        ).format(stride=trip.stride),
    )
