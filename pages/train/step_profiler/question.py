"""What the reader is asked to predict: the backward pass beside the forward pass."""

from core.language import _
from core.train.profiler.results import recorded
from core.units import format_seconds
from pages.shared.questions import Choice, predict_then_reveal
from pages.train.step_profiler.inputs import ASK


def ask_backward() -> None:
    """Ask how long the backward pass takes; the recorded step answers."""
    step = recorded("anatomy", "110k", "fp32")
    forward, backward = step.seconds("forward"), step.seconds("backward")
    choices = [
        Choice(
            _("Half as long"),
            _("It would have to do less than the forward pass. It does more: a product for the "
              "gradient of the weights and one for that of the inputs."),
        ),
        Choice(
            _("As long"),
            _("Each matrix product of the forward pass has two in the backward pass."),
        ),
        Choice(_("About twice as long")),
    ]  # fmt: skip
    predict_then_reveal(
        ASK.key("backward"),
        _("The forward pass of the 110k model takes {forward}. How long does the backward pass "
          "take?").format(forward=format_seconds(forward)),
        choices,
        _("{backward}, {ratio} times as long: for y = xW it computes both dW = xᵀdy and "
          "dx = dyWᵀ. What costs little to compute, such as a sum or a norm, moves the ratio a "
          "little away from 2.").format(
            backward=format_seconds(backward), ratio=f"{backward / forward:.1f}"
        ),
    )  # fmt: skip
