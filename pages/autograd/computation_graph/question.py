"""What the reader is asked to predict: a gradient of the shown program, with its leaf doubled."""

import math
import zlib
from collections.abc import Mapping
from textwrap import indent
from typing import Any, Final

from core.autograd.leaves import leaves_in, written_leaves
from core.language import N_, _, current_language
from pages.autograd.computation_graph.inputs import ASK, PROGRAM, START, captured_program
from pages.shared.questions import Choice, predict_then_reveal

_FEWEST: Final = 3  # choices
_WRONG: Final = {  # factor of the gradient that is shown -> where it would be right
    1: N_("That is the gradient as it is now: it stays only where the result is linear in {leaf}."),
    2: N_("It doubles only where the result goes with the square of {leaf}."),
    4: N_("It grows to four times only where the result goes with the cube of {leaf}."),
    0.5: N_("It halves only where the result goes with the logarithm of {leaf}."),
}


def ask_for_the_gradient() -> None:
    """Ask about the shown program; about the one at the start where there is no such gradient."""
    start = START.source, START.tensors(), START.nudged
    predict_then_reveal(*(_asked(*_shown()) or _asked(*start) or ()))


def _shown() -> tuple[str, Mapping[str, Any], str]:
    """Return the program that is shown, its tensors and the leaf that is changed."""
    try:
        leaves = leaves_in(ASK.used("leaves"))
    except ValueError:
        leaves = {}
    is_program = ASK.used("of", PROGRAM) == PROGRAM and not ASK.used("run")
    return ASK.used("code"), leaves if is_program else {}, ASK.used("leaf")


def _asked(
    source: str, leaves: Mapping[str, Any], leaf: str
) -> tuple[str, str, list[Choice], str] | None:
    """Return key, question, choices and explanation; None where there are not enough answers."""
    if leaf not in leaves or not leaves[leaf].requires_grad:
        return None
    doubled = {leaf: (2 * leaves[leaf].detach()).requires_grad_()}
    now = _gradient(source, leaves, leaf)
    then = _gradient(source, {**leaves, **doubled}, leaf)
    choices = {_text(then): Choice(_text(then))}
    for factor, why in _WRONG.items():
        text = _text(factor * now)
        choices.setdefault(text, Choice(text, _(why).format(leaf=f"`{leaf}`")))
    if not math.isfinite(now + then) or len(choices) < _FEWEST:
        return None
    asked = _(
        "Set `{doubled}` in this program and leave everything else as it is. What is `{gradient}`?"
    )
    first = ", ".join("0" * leaves[leaf].ndim)
    words = {
        "doubled": written_leaves(doubled),
        "gradient": f"{leaf}.grad[{first}]" if first else f"{leaf}.grad",
    }
    message = _("The program was run with both: {now} has become {then}.")
    return (
        ASK.key(f"doubled_{zlib.crc32(repr((source, written_leaves(leaves), leaf)).encode())}"),
        f"{asked.format(**words)}\n\n{indent(source, '    ')}",  # indented, it is code in Markdown
        sorted(list(choices.values())[:_FEWEST], key=lambda choice: float(choice.text)),
        message.format(now=_text(now), then=_text(then)),
    )


def _text(gradient: float) -> str:
    return f"{gradient:.4g}"


def _gradient(source: str, leaves: Mapping[str, Any], leaf: str) -> float:
    """Return the gradient of a leaf's first element; NaN if the program gives none."""
    capture = captured_program(source, written_leaves(leaves), current_language())
    grad = capture.leaves[leaf].grad
    return grad.values[0] if capture.error is None and grad and grad.values else math.nan
