"""What the reader is asked to predict: an address after a transpose; strides; a view or a copy."""

from core.language import _
from core.tensors.challenges import BELIEFS, MAX_NUMBER, Challenge, challenge
from core.tensors.layout import contiguous, trace_index
from core.tensors.rules import transpose
from core.units import format_bytes
from pages.shared.questions import Choice, predict_then_reveal
from pages.shared.settings import unit_system
from pages.tensors.strides_and_views.inputs import ASK

_INDEX = (1, 2)


def ask_after_transpose() -> None:
    """Ask where y[1, 2] lies if y = x.t(); the addresses are computed."""
    x = contiguous((4, 4))
    y = transpose(x, 0, 1)
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


def ask_challenge() -> None:
    """Ask the question of a number: each number has its own, and a class agrees on one."""
    number = ASK.number("challenge", _("Question"), 0, MAX_NUMBER, default=0, step=1)
    asked = challenge(number)
    choices = _strides(asked) if asked.asked == "stride" else _kinds(asked)
    turn = number % len(choices)  # the right answer is not always the first
    words = {"shape": asked.shape, "source": f"`{asked.source}`"}
    predict_then_reveal(
        ASK.key(f"challenge_{number}"),
        (
            _("x is contiguous and has the shape {shape}. Which strides has {source}?")
            if asked.asked == "stride"
            else _("x is contiguous and has the shape {shape}. Does {source} copy?")
        ).format(**words),
        [*choices[turn:], *choices[:turn]],
        _("{source} has shape {result}, strides {stride} and offset {offset}.").format(
            source=words["source"],
            result=asked.layout.shape,
            stride=asked.layout.stride,
            offset=asked.layout.offset,
        ),
    )


def _strides(asked: Challenge) -> list[Choice]:
    wrong = [Choice(str(stride), _(BELIEFS[belief])) for stride, belief in asked.wrong.items()]
    return [Choice(str(asked.layout.stride)), *wrong]


def _kinds(asked: Challenge) -> list[Choice]:
    size = format_bytes(asked.layout.num_bytes, unit_system())
    copies, shares = _("It copies {size}").format(size=size), _("It shares x's storage")
    wrong = BELIEFS["copied" if asked.is_shared else "shared"]
    right, other = (shares, copies) if asked.is_shared else (copies, shares)
    return [Choice(right), Choice(other, _(wrong))]
