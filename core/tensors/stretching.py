"""The operands of a broadcast, stretched by torch itself: with stride 0, or written out."""

from collections.abc import Sequence
from typing import Final, Literal

from core.expressions import MATERIALIZED, ON_META
from core.language import _
from core.tensors.operands import Broadcast, Operand
from core.tensors.presets import counted, without_data
from core.tensors.trace import Trace, trace

How = Literal["expand", "repeat"]
MAX_OPERANDS: Final = 4
HOW: Final[tuple[How, ...]] = ("expand", "repeat")


def stretch_calls(case: Broadcast, how: How) -> tuple[tuple[str, str], ...]:
    """Return name and call for each operand that is stretched; for the first if none is.

    >>> from core.tensors.operands import broadcast
    >>> stretch_calls(broadcast({"a": (3, 1), "b": (3, 4)}, 4), "expand")
    (('a', 'a.expand(3, 4)'),)

    Raises:
        ValueError: If the shapes do not go together.
    """
    if case.result is None:
        message = _("{shapes} do not go together: the tab Shapes says why.")
        raise ValueError(message.format(shapes=_(" and ").join(map(str, case.shapes))))
    shape = case.result.shape
    stretched = [each for each in case.operands if each.stored.shape != shape]
    return tuple((each.name, _call(each, shape, how)) for each in stretched or case.operands[:1])


def _call(operand: Operand, shape: Sequence[int], how: How) -> str:
    own = operand.stored.shape
    padded = (1,) * (len(shape) - len(own)) + own
    counts = [length if old == 1 else 1 for length, old in zip(shape, padded, strict=True)]
    words = ", ".join(map(str, shape if how == "expand" else counts)) or "()"
    return f"{operand.name}.{how}({words})"


def run_stretch(case: Broadcast, how: How, dtype: str, most: int = MAX_OPERANDS) -> Trace:
    """Run the calls and return every step; large tensors have no data, and cost nothing.

    Args:
        case: What is broadcast.
        how: By "expand" or by "repeat".
        dtype: Of the operands.
        most: So many of them at most, the first ones.

    Raises:
        ValueError: If the shapes do not go together.
    """
    calls = stretch_calls(case, how)[:most]
    operands = {each.name: each.stored for each in case.operands}
    sizes = [operands[name].numel for name, _call in calls]
    sizes += [case.result.numel] if case.result else []
    is_small = len(calls) * max(sizes) <= MATERIALIZED.num_elements
    make, limits = (counted, MATERIALIZED) if is_small else (without_data, ON_META)
    tensors = {name: make(operands[name].shape, dtype) for name, _call in calls}
    source = "\n".join(f"{name}_wide = {call}" for name, call in calls)
    return trace(source, tensors, limits)
