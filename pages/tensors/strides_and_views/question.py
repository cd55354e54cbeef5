"""What the reader is asked to predict: an address after a transpose."""

from core.language import _
from core.tensors.layout import contiguous, trace_index
from core.tensors.rules import permute
from pages.shared.questions import Choice, predict_then_reveal
from pages.tensors.strides_and_views.inputs import ASK

_INDEX = (1, 2)


def ask_after_transpose() -> None:
    """Ask where y[1, 2] lies if y = x.t(); the addresses are computed."""
    x = contiguous((4, 4))
    y = permute(x, (1, 0))
    before = sum(step.jump for step in trace_index(_INDEX, x.shape, x.stride))
    after = sum(step.jump for step in trace_index(_INDEX, y.shape, y.stride))
    choices = [
        Choice(
            _("At {address}, as x[1, 2]").format(address=before),
            _("So it would be if `t()` had moved the numbers. They stay where they are, and the "
              "strides change places."),
        ),
        Choice(_("At {address}").format(address=after)),
        Choice(
            _("In a new storage"),
            _("`t()` is a view: it makes a new tensor of the same storage, and copies nothing."),
        ),
    ]  # fmt: skip
    predict_then_reveal(
        ASK.key("after_transpose"),
        _(
            "x has the shape {shape} and the strides {stride}. Where in the storage does y[1, 2] "
            "lie after y = x.t()?"
        ).format(shape=x.shape, stride=x.stride),
        choices,
        _(
            "The strides of y are {stride}, so y[1, 2] is stored at 1·{first} + 2·{second} = "
            "{address}: where x[2, 1] is stored."
        ).format(stride=y.stride, first=y.stride[0], second=y.stride[1], address=after),
    )
