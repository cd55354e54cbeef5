"""A forward pass, taken apart: one stage is one tensor that the model made, and what made it."""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

from torch import Tensor

Axes = tuple[str, ...]
Tensors = Mapping[str, Tensor]
_ROOT: Final = Path(__file__).parents[2]


@dataclass(frozen=True, kw_only=True, slots=True)
class SourceLine:
    """A line of this program.

    Attributes:
        file: "core/models/gpt.py".
        line: Its number, from 1.
        text: What stands there, without the space before it.
    """

    file: str
    line: int
    text: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Stage:
    """One step of a forward pass, with the tensors that really passed.

    Attributes:
        name: "blocks.0.attention.scores", "blocks.0.residual_1", "norm", "logits".
        kind: One of `KINDS`.
        layer: Index of the block; None before the first and after the last.
        module: The module that holds it: "blocks.0.attention"; "" is the model.
        source: The line that made the tensors.
        equation: In the words of einops: "B H T D, B H S D -> B H T S".
        inputs: Name -> tensor.
        outputs: Name -> tensor.
        axes: Name of an output -> the names of its axes.
        flops: Of its matrix products; norms, sums and activations count as none.
    """

    name: str
    kind: str
    layer: int | None
    module: str
    source: SourceLine
    equation: str
    inputs: Tensors
    outputs: Tensors
    axes: Mapping[str, Axes]
    flops: int

    @property
    def num_bytes(self) -> int:
        """What the outputs take."""
        return sum(each.nbytes for each in self.outputs.values())


KINDS: Final = (
    *("embedding", "positions", "norm", "projection", "heads", "rotary", "scores", "mask"),
    *("softmax", "mix", "merge", "residual", "feed_forward", "activation", "logits"),
)


def source_line(function: Callable[..., Any], part: str) -> SourceLine:
    """Return the one line of a function that holds `part`; it is looked up, so it cannot be wrong.

    Raises:
        ValueError: If no line or several lines of the function hold it.
    """
    # what is kept must not hold the module of a bound method
    return _find_line(getattr(function, "__func__", function), part)


@cache
def _find_line(function: Callable[..., Any], part: str) -> SourceLine:
    lines, first = inspect.getsourcelines(function)
    found = [index for index, line in enumerate(lines) if part in line]
    if len(found) != 1:
        raise ValueError(f"{len(found)} lines of {function.__qualname__} hold {part!r}, not one")
    file = Path(inspect.getsourcefile(function) or "").resolve().relative_to(_ROOT)
    (index,) = found
    return SourceLine(file=file.as_posix(), line=first + index, text=lines[index].strip())


def make_stage(
    name: str,
    made_by: tuple[str, SourceLine],
    equation: str,
    tensors: tuple[Tensors, Tensors],
    *,
    module: str = "",
    flops: int = 0,
) -> Stage:
    """Return a stage; its layer stands in its name, and the axes of its outputs in the equation.

    Args:
        name: As of `Stage`.
        made_by: Its kind, and the line that made the outputs.
        equation: If it has one output and there are several, they are that one's first axis.
        tensors: The inputs and the outputs.
        module: The module that holds it; the one that its name begins with, unless told otherwise.
        flops: Of the matrix products.
    """
    kind, source = made_by
    inputs, outputs = tensors
    sides = axes_of(equation.partition("->")[2])
    if len(sides) < len(outputs):
        sides = (sides[0][1:],) * len(outputs)
    parts = name.split(".")
    return Stage(
        name=name,
        kind=kind,
        layer=int(parts[1]) if parts[0] == "blocks" else None,
        module=module or name.rpartition(".")[0],
        source=source,
        equation=equation,
        inputs=inputs,
        outputs=outputs,
        axes=dict(zip(outputs, sides, strict=True)),
        flops=flops,
    )


def axes_of(side: str) -> tuple[Axes, ...]:
    """Return the axes of each tensor on one side of an equation.

    >>> axes_of("B T (H D), V C")
    (('B', 'T', '(H D)'), ('V', 'C'))
    """
    return tuple(_split_axes(tensor) for tensor in side.split(","))


def _split_axes(tensor: str) -> Axes:
    axes: list[str] = []
    is_open = False
    for word in tensor.split():
        if is_open:
            axes[-1] += f" {word}"
        else:
            axes.append(word)
        is_open = "(" in axes[-1] and ")" not in axes[-1]
    return tuple(axes)
