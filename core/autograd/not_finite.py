"""Where the first NaN or infinity comes from, forward or backward, and the branch that leaks it."""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

import torch
from torch import Tensor

from core.autograd import rewrites
from core.autograd.errors import Explanation, placed
from core.autograd.graph import Capture, Ghost, Node, TensorInfo
from core.autograd.trial import TimeUp, Trial, Trials
from core.language import _

_NAMES: Final = {"nan": "NaN", "inf": "∞"}
_SELECTIONS: Final = {"where", "masked_fill"}


def explain_not_finite(
    capture: Capture, source: str = "", tensors: Mapping[str, Tensor] | None = None
) -> Explanation | None:
    """Return what made the first NaN or infinity; None if result and gradients are finite.

    A value is looked for before a gradient; None too if the numbers came in like that.

    Args:
        capture: What ran.
        source: Of the reader's program.
        tensors: What that was handed, for a rewrite that is run before it is proposed.
    """
    wanted = [capture.result, *(leaf.grad for leaf in capture.leaves.values())]
    if capture.error is not None or not any(map(_fault, wanted)):
        return None
    value, broken = _first_value(capture), _first_gradient(capture)
    first = value or broken
    if first is None:
        return None
    message = _("The backward pass of {place} makes the first {what}.")
    what = broken.finding if broken is not None else ""
    if value is not None:
        message = _("{place} makes the first {what}.")
        what = "nan" if "nan" in _faults(value) else "inf"
    place = placed(_written(first, capture, source), first.line)
    advice, rewrite = _("Keep its operand away from there, for example with clamp()."), ""
    is_of_the_result = value is not None and _fault(capture.result)
    if broken is not None and not is_of_the_result and _is_leak(broken, capture):
        selections = (x for x in _onward(broken, capture) if x.operation in _SELECTIONS)
        selection = next(selections, None)
        advice = _about_leak(selection)
        if selection is not None and tensors is not None and rewrites.is_python(source):
            rewrite = _guarded(source, tensors, broken, selection)
    return Explanation(
        kind="not_finite",
        sentence=message.format(place=place, what=_NAMES[what]),
        advice=advice,
        line=first.line,
        node=first.id,
        rewrite=rewrite,
    )


def _fault(info: TensorInfo | None) -> str:
    """Return "nan", "inf", or "" of a tensor that is finite or not known."""
    told = info.statistics if info is not None else None
    return "" if told is None else "nan" if told.num_nan else "inf" if told.num_inf else ""


def _faults(node: Node | Ghost) -> set[str]:
    outputs: Iterable[TensorInfo | None] = node.outputs if isinstance(node, Node) else [node.output]
    return set(filter(None, map(_fault, outputs)))


def _written(made: Node | Ghost, capture: Capture, source: str) -> str:
    """Return what the reader wrote, of a part of it: `1 / x` is a reciprocal and a product."""
    labels = (each.label for each in _onward(made, capture))
    return next((each for each in labels if each in source), made.label)


def _onward(first: Node | Ghost, capture: Capture) -> Iterator[Node]:
    """Yield a node and all that its value goes into, the nearest first."""
    by_id = {each.id: each for each in capture.nodes}
    users: dict[str, list[str]] = {}
    for edge in capture.edges:
        users.setdefault(edge.target, []).append(edge.source)
    ways = [first.id] if first.id in by_id else []
    for key in ways:
        yield by_id[key]
        ways += [each for each in users.get(key, ()) if each not in ways]


def _first_value(capture: Capture) -> Node | Ghost | None:
    """Return what made NaN of numbers, or infinity of finite ones, unless it was told to."""
    both: tuple[Node | Ghost, ...] = (*capture.ghosts, *capture.nodes)
    made = {each.id: each for each in both}
    inputs: dict[str, set[str]] = {each.id: set(each.inputs) for each in capture.ghosts}
    for edge in capture.edges:
        inputs.setdefault(edge.source, set()).add(edge.target)
    for each in made.values():
        came_in = {word for key in inputs.get(each.id, ()) for word in _faults(made[key])}
        is_new = _faults(each) - came_in - ({"inf"} if came_in else set())
        if is_new and inputs.get(each.id) and not all(_is_told(word, each) for word in is_new):
            return each
    return None


def _first_gradient(capture: Capture) -> Node | None:
    found = {node.id: node for node in capture.nodes if node.finding}
    first = next((found[key] for key in capture.order if key in found), None)
    return None if first is None or _is_told(first.finding, first) else first


def _is_told(word: str, made: Node | Ghost) -> bool:
    """Whether the reader wrote inf or nan there: `x.masked_fill(m, -torch.inf)`."""
    return re.search(rf"\b{word}\b", made.label) is not None


def _is_leak(broken: Node, capture: Capture) -> bool:
    """Whether NaN goes out of a node where the gradient that came in is 0."""
    came_in = broken.gradients_in[0]
    went_out = [edge.gradient for edge in capture.edges if edge.source == broken.id]
    return came_in is not None and any(
        x == 0 and y != y  # noqa: PLR0124  NaN alone differs from itself
        for info in went_out
        if info is not None
        for x, y in zip(came_in.values or (), info.values or (), strict=False)
    )


def _about_leak(selection: Node | None) -> str:
    if selection is None:
        return _(
            "The gradient that comes in there is 0, and 0 times a derivative that is not finite is "
            "NaN. Keep the operand away from there before the operation, not only after it."
        )
    message = _(
        "`{label}` does not take this value there, but hands back the gradient 0, and 0 times a "
        "derivative that is not finite is NaN. Keep the operand away from there before the "
        "operation, too."
    )
    return message.format(label=selection.label)


def _guarded(source: str, tensors: Mapping[str, Tensor], broken: Node, selection: Node) -> str:
    """Return the program with an operand replaced where it is not taken; "" if none helps."""
    trials = Trials(tensors)
    try:
        before = trials.run(source)
        programs = rewrites.guarded(source, broken.line or 0, broken.label, selection.line or 0)
        return next((p for p in programs if _is_cured(before, trials.run(p))), "")
    except TimeUp:
        return ""


def _is_cured(before: Trial, after: Trial) -> bool:
    """Whether a program runs with the same values, and finite gradients, the same where it had."""
    if after.message or len(after.roots) != len(before.roots):
        return False
    same = all(map(torch.equal, before.roots, after.roots))
    pairs = [(x, after.gradients.get(name)) for name, x in before.gradients.items()]
    return same and all(
        y is not None and bool(y.isfinite().all()) and bool(((x == y) | ~x.isfinite()).all())
        for x, y in pairs
    )
