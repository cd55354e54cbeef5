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
    """A line of this program, without the space before it."""

    file: str  # "core/models/gpt.py"
    line: int  # its number, from 1
    text: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Stage:
    """One step of a forward pass, with the tensors that really passed, by name."""

    name: str  # "blocks.0.attention.scores", "blocks.0.residual_1", "norm", "logits"
    kind: str  # "projection", "scores", "residual"
    layer: int | None  # index of the block; None before the first and after the last
    module: str  # what holds it: "blocks.0.attention"; "" is the model
    source: SourceLine  # the line that made the tensors
    equation: str  # in the words of einops: "B H T D, B H S D -> B H T S"
    inputs: Tensors
    outputs: Tensors
    axes: Mapping[str, Axes]  # name of an output -> the names of its axes
    flops: int  # of its matrix products; norms, sums and activations count as none

    @property
    def num_bytes(self) -> int:
        """What the outputs take."""
        return sum(each.nbytes for each in self.outputs.values())


@cache
def source_line(function: Callable[..., Any], part: str) -> SourceLine:
    """Return the one line of a function that holds `part`; it is looked up, so it cannot be wrong.

    A method is that of its class: what is kept must not hold a module.

    Raises:
        ValueError: If no line or several lines of the function hold it.
    """
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

    If that has one output and there are several, they are that one's first axis.
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
