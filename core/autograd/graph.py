"""What a capture is made of: plain data, no torch objects, the same at every reading.

Two directions meet here. Values flow from `Edge.target` to `Edge.source`: the source was computed
from the target. Gradients flow back along the same edge, from source to target.
"""

import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, is_dataclass
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

Cut = Literal["data", "no_grad", "inference_mode", "detach", "integer", "constant"]
Keeps = Literal["parameter", "input", "activation", "packed"]
EventKind = Literal[
    "forward",  # an operation ran; a ghost's too
    "seed",  # backward() was called: the root's gradient
    "node",  # the engine ran a node
    "release",  # a node let go of what it had saved
    "accumulate",  # a leaf's .grad changed
    "recompute",  # a checkpointed part ran its forward again
    "hook",  # a hook of the reader's ran
    "reset",  # zero_grad
    "update",  # an optimizer, or the reader, wrote into a leaf
]


@dataclass(frozen=True, kw_only=True, slots=True)
class Statistics:
    """A tensor in a few numbers; None where it has no finite value. Norm is the L2 norm."""

    minimum: float | None
    maximum: float | None
    mean: float | None
    norm: float | None
    num_nan: int = 0
    num_inf: int = 0


@dataclass(frozen=True, kw_only=True, slots=True)
class TensorInfo:
    """A tensor as it was at one moment."""

    shape: tuple[int, ...]
    dtype: str  # "float32"
    num_bytes: int  # elements times bytes of an element
    values: tuple[float, ...] | None = None  # row by row; None of a tensor too large to keep
    statistics: Statistics | None = None  # None only of a tensor without elements or without data

    @property
    def nested(self) -> Any:  # noqa: ANN401  a number, or lists of lists of numbers
        """Return the values as torch's `tolist` gives them; None if they were not kept."""
        if self.values is None:
            return None
        values: list[Any] = list(self.values)
        for length in reversed(self.shape[1:]):
            values = [values[at : at + length] for at in range(0, len(values), max(length, 1))]
        return values if self.shape else values[0]


@dataclass(frozen=True, kw_only=True, slots=True)
class Saved:
    """A tensor that a node keeps for the backward pass.

    Attributes:
        alias_of: The name of a leaf, or the id of the node, that holds the same storage; else "".
        kind: Parameters and inputs are alive anyway; activations are extra memory.
        stride, offset: Its layout in that storage, in elements.
        version_saved, version_now: The version counter when it was saved, and before backward.
    """

    name: str  # as the node calls it: "self", "other", "result"
    tensor: TensorInfo  # what it is; values may be left out
    storage: str  # key of the memory that holds it; two tensors of one storage cost it once
    storage_bytes: int
    alias_of: str = ""
    kind: Keeps = "activation"
    stride: tuple[int, ...] = ()
    offset: int = 0
    version_saved: int | None = None
    version_now: int | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Node:
    """A node of autograd's graph: the backward of one operation, or a leaf.

    Attributes:
        outputs: Forward values, one for each output; None where it is not known.
        gradients_in: What the engine handed it in the last backward that ran it, one for each
            output; None of an output that nothing used.
        attributes: Other things that it keeps: {"dim": "1", "exponent": "2"}.
        flops_forward, flops_backward: torch's count: of matrix products and attention alone.
        finding: What is wrong with its gradient: "nan" or "inf" that it made itself; else "".
    """

    id: str  # "n0", in the order of the forward pass; leaves too
    type: str  # as torch names it: "MulBackward0", "AccumulateGrad"
    label: str  # the operation with its operands, as the reader wrote it: "w * x"; a leaf's name
    operation: str = ""  # the aten operation: "mul"; "" if it is not known, or a leaf
    leaf: str = ""  # name of the leaf whose gradient it adds up; "" otherwise
    module: str = ""  # path of the module that called it: "blocks.0.attention"; "" outside of any
    line: int | None = None  # of the reader's program, from 1; None if it came from elsewhere
    outputs: tuple[TensorInfo | None, ...] = ()
    gradients_in: tuple[TensorInfo | None, ...] = ()
    saved: tuple[Saved, ...] = ()
    attributes: Mapping[str, str] = field(default_factory=dict)
    order: int | None = None  # its turn in the last backward that ran it, from 0; None if none did
    seconds: float | None = None  # how long it ran there, with the capture's hooks
    flops_forward: int = 0
    flops_backward: int = 0
    layer: int = 0  # 0 for the forward pass, 1 for nodes made while a backward ran (`create_graph`)
    finding: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Edge:
    """An input of a node: `source` was computed from `target`, and hands it a gradient back.

    Attributes:
        gradient: What went this way in the last backward that ran the source; the contributions
            of one backward to one output add up to the target's gradient. None if none did.
    """

    source: str  # id of the node that used the value
    target: str  # id of the node or ghost that made it
    input_index: int  # which input of the source
    output_number: int = 0  # which output of the target
    gradient: TensorInfo | None = None
    is_cut: bool = False  # whether no gradient can go this way: the target is a ghost


@dataclass(frozen=True, kw_only=True, slots=True)
class Ghost:
    """A value that takes part in the forward pass, but is no node: no gradient reaches it."""

    id: str  # "g0", in the order of the forward pass
    label: str  # as the reader wrote it: "x", "y.detach()"
    reason: Cut  # why no gradient reaches it
    operation: str = ""  # the aten operation; "" for data that was handed in
    inputs: tuple[str, ...] = ()  # ids of the nodes and ghosts that it was computed from
    output: TensorInfo | None = None
    module: str = ""
    line: int | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Event:
    """One moment of the timeline.

    Attributes:
        gradients: Of "seed" and "node": what went in; of "accumulate": what was added.
        before, after: Of "accumulate", "reset" and "update": the leaf's `.grad` (its value, of an
            update); None where there was none.
        waiting: Of backward's events: ids of the nodes that are ready, in the order in which the
            engine takes them.
        saved_bytes: What all nodes together keep now, beyond parameters and inputs: each storage
            once.
        text: A hook's name; of "recompute" what ran; of "update" and "reset" the reader's words.
    """

    kind: EventKind
    node: str = ""  # id of the node or ghost that it happened to; "" of none
    backward: int | None = None  # which call of backward, from 0; None before the first
    gradients: tuple[TensorInfo | None, ...] = ()
    before: TensorInfo | None = None
    after: TensorInfo | None = None
    waiting: tuple[str, ...] = ()
    saved_bytes: int = 0
    num_bytes: int = 0  # of "release": what was freed
    text: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Leaf:
    """A tensor that was handed in."""

    name: str  # of the reader's
    value: TensorInfo  # at the end
    requires_grad: bool  # whether it is a leaf of the graph, or data
    node: str = ""  # id of its node, or of its ghost; "" if the program did not use it
    grad: TensorInfo | None = None  # its `.grad` at the end; None if it has none

    @property
    def gradient(self) -> Any:  # noqa: ANN401  a number, or lists of lists of numbers
        """Return `.grad` as nested lists; None if there is none, or it is too large to keep."""
        return self.grad.nested if self.grad is not None else None


@dataclass(frozen=True, kw_only=True, slots=True)
class Failure:
    """What ended a capture early."""

    kind: str  # the exception's type: "RuntimeError"
    message: str  # torch's own, word for word
    node: str = ""  # id of the node at which it happened; "" if at none
    line: int | None = None  # of the reader's program


@dataclass(frozen=True, kw_only=True, slots=True)
class Capture:
    """A forward pass and its backward passes, as they really ran.

    Attributes:
        leaves: By name, those of a module under their parameter's path.
        planned: Ids in the order that the engine planned for the last backward; () if unknown.
        limits_hit: Which limits cut this capture short: "nodes", "seconds", "bytes", "calls".
        jacobian: Of the node that was asked for, a matrix an input, a row an element of its output;
            None of an input that takes no gradient or is too large.
    """

    nodes: tuple[Node, ...] = ()  # in the order of the forward pass
    edges: tuple[Edge, ...] = ()  # in the order of their sources
    ghosts: tuple[Ghost, ...] = ()  # in the order of the forward pass
    events: tuple[Event, ...] = ()
    leaves: Mapping[str, Leaf] = field(default_factory=dict)
    root: str = ""  # id of the node that backward began at; "" if none did
    result: TensorInfo | None = None  # the forward's result
    planned: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()  # what torch warned of
    limits_hit: tuple[str, ...] = ()
    error: Failure | None = None  # what ended it early; what was captured until then is kept
    jacobian: tuple[tuple[tuple[float, ...], ...] | None, ...] = ()
    torch_version: str = ""  # "2.13.0"
    printed: tuple[str, ...] = ()  # what the program prints, a text each time

    @property
    def order(self) -> tuple[str, ...]:
        """Return the ids of the nodes that ran in the last backward, in their order."""
        last = max((each.backward for each in self.events if each.backward is not None), default=0)
        ran = (each for each in self.events if each.backward == last)
        return tuple(each.node for each in ran if each.kind in {"node", "accumulate"})


def to_json(capture: Capture) -> str:
    """Return a capture as JSON; NaN and infinity as texts, since JSON has no number for them."""
    return json.dumps(_plain(asdict(capture)), ensure_ascii=False)


def from_json(text: str) -> Capture:
    """Return the capture that `to_json` wrote.

    Raises:
        ValueError: If it is none.
    """
    try:
        capture: Capture = _read(Capture, json.loads(text))
    except (KeyError, TypeError) as error:
        raise ValueError(f"this is no capture: {error}") from error
    return capture


def _plain(value: Any) -> Any:  # noqa: ANN401
    if isinstance(value, dict):
        return {key: _plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value


def _read(kind: Any, value: Any) -> Any:  # noqa: ANN401
    """Return a value of JSON as what a field is declared to be."""
    if value is None:
        return None
    if is_dataclass(kind):
        hints = get_type_hints(kind)
        known = {field.name for field in fields(kind)}
        return kind(**{name: _read(hints[name], value[name]) for name in known})  # type: ignore[operator]
    origin, inner = get_origin(kind), get_args(kind)
    if origin in {Union, UnionType}:
        return _read(next(each for each in inner if each is not type(None)), value)
    if origin is tuple:
        return tuple(_read(inner[0], each) for each in value)
    if isinstance(value, dict):
        return {name: _read(inner[1], each) for name, each in value.items()}
    return float(value) if kind is float else value
