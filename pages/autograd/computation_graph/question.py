"""What the reader is asked to predict: the gradient at a fork."""

from core.autograd.presets import PRESETS
from core.autograd.program import capture_program
from core.language import _
from pages.autograd.computation_graph.inputs import ASK
from pages.shared.questions import Choice, predict_then_reveal


def ask_for_the_gradient() -> None:
    """Ask what arrives where two paths meet; the right answer and its terms are captured."""
    preset = PRESETS["fork"]
    capture = capture_program(preset.source, preset.tensors())
    leaf = capture.leaves[preset.nudged]
    terms = [
        edge.gradient.nested
        for edge in capture.edges
        if edge.target == leaf.node and edge.gradient is not None
    ]
    first, second = terms
    lost = _("One path alone is not enough: every way from the result to the tensor counts.")
    choices = [
        Choice(f"{max(terms):g}", lost),
        Choice(f"{leaf.gradient:g}"),
        Choice(f"{first * second:g}", _("Along one path derivatives multiply; where paths meet, "
                                        "they add.")),
    ]  # fmt: skip
    predict_then_reveal(
        ASK.key("fork"),
        _(
            "x is {value}, and {source}. What is the gradient of the result with respect to x?"
        ).format(
            value=f"{leaf.value.nested:g}", source=f"`{preset.source.replace(chr(10), '; ')}`"
        ),
        choices,
        _("Two contributions meet at x and add up: {first} + {second} = {sum}.").format(
            first=f"{first:g}", second=f"{second:g}", sum=f"{leaf.gradient:g}"
        ),
    )
