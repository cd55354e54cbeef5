"""A Chrome trace of torch.profiler, read back: operators, ranges, and what the time went to.

Needs no torch: the trace may come from another machine. On a CPU the backward pass runs in the
thread that asked for it; with CUDA it has a thread of its own, and kernels run on streams.
"""

import gzip
import json
import re
import zlib
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from core.language import _

MAX_BYTES: Final = 5 * 1024**2  # of an upload
MAX_UNPACKED: Final = 96 * 1024**2
MAX_NAME: Final = 120
SMALL_SECONDS: Final = 10e-6  # an operator this short costs more to call than to compute
PHASES: Final = ("data", "forward", "backward", "clip", "optimizer", "logging")
# What a moment of a step may be spent on, each moment on one; the largest names the verdict.
BOUNDS: Final = ("input", "sync", "launch", "compute", "memory")
_ENGINE: Final = "autograd::engine::evaluate_function: "
_BEGINNINGS: Final = {
    "Optimizer.step#": "optimizer",
    "Optimizer.zero_grad#": "optimizer",
    "enumerate(DataLoader)": "data",
    _ENGINE: "backward",
}
_WAITS: Final = frozenset(
    {
        "aten::item",
        "aten::_local_scalar_dense",
        "cudaStreamSynchronize",
        "cudaDeviceSynchronize",
        "cudaEventSynchronize",
    }
)
_PRODUCT: Final = re.compile(
    r"aten::(addmm|mm|bmm|baddbmm|_addmm_activation|convolution|mkldnn_\w+|_scaled_dot_product\w+)$"
    r"|gemm|cutlass|xmma|nvjet|flash_|fmha|wgmma|cudnn\w*attention",
    re.IGNORECASE,
)
_ON_HOST: Final = frozenset({"cpu_op", "user_annotation", "cuda_runtime", "cuda_driver"})
_ON_DEVICE: Final = frozenset({"kernel", "gpu_memcpy", "gpu_memset"})
_SMALLEST_NODE: Final = 0.001  # of the whole; what is smaller counts as its parent's own time
_DEEPEST: Final = 6
_SLACK: Final = 2e-9  # seconds: a time stamp has nanoseconds

Interval = tuple[float, float]


@dataclass(slots=True)
class Call:
    """One call in its thread; `own` are its seconds without those of the calls within."""

    name: str
    category: str
    begin: float
    end: float
    thread: tuple[str, str]
    number: object = None  # "External id": what a kernel says of the operator that launched it
    parent: "Call | None" = None
    own: float = 0.0
    phase: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Operator:
    """All calls of one operator or range; seconds of all of them together.

    Attributes:
        own: Without the operators that it calls: profilers call it self time.
        total: With them.
        device: Of the kernels that it launched.
        forward, backward: The part of `own` that fell into those passes.
    """

    name: str
    calls: int
    own: float
    total: float
    device: float
    forward: float
    backward: float


@dataclass(frozen=True, kw_only=True, slots=True)
class Node:
    """A rectangle of the icicle: the calls with the same callers."""

    path: tuple[str, ...]
    seconds: float
    calls: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Profile:
    """What a trace says.

    Attributes:
        spans: Share of the time by `BOUNDS`; together 1.
        phases: Seconds of the calls of each phase, in threads of the host.
        num_small: Calls of operators with less than `SMALL_SECONDS` of their own.
    """

    seconds: float
    operators: tuple[Operator, ...]
    ranges: tuple[Operator, ...]
    nodes: tuple[Node, ...]
    spans: Mapping[str, float]
    phases: Mapping[str, float]
    num_calls: int
    num_small: int
    has_device: bool


def read_trace(written: bytes) -> Profile:
    """Return what a trace says, as JSON or as JSON in gzip.

    Raises:
        ValueError: If it is no trace of torch.profiler, or has no operator in it.
    """
    found = [call for event in _events(written) if (call := _call(event))]
    base = min((call.begin for call in found), default=0.0)  # small numbers have finer seconds
    for call in found:
        call.begin, call.end = (call.begin - base) * 1e-6, (call.end - base) * 1e-6
    calls = [call for call in found if call.category in _ON_HOST]
    if not any(call.category == "cpu_op" for call in calls):
        text = _("The trace has no operator in it: profile a step with ProfilerActivity.CPU.")
        raise ValueError(text)
    _nest(calls)
    _name_phases(calls)
    return _profile(calls, [call for call in found if call.category in _ON_DEVICE])


def _events(written: bytes) -> list[Any]:
    try:
        data = json.loads(_unpacked(written))
        events = data if isinstance(data, list) else data["traceEvents"]
    except (ValueError, KeyError, TypeError, RecursionError, zlib.error) as error:
        message = _(
            "This is no trace of torch.profiler ({reason}): choose the .json file that "
            "export_chrome_trace wrote, or the same in gzip."
        )
        raise ValueError(message.format(reason=type(error).__name__)) from error
    return events if isinstance(events, list) else []


def _unpacked(written: bytes) -> bytes:
    if written[:2] != b"\x1f\x8b":
        return written
    unpacker = zlib.decompressobj(wbits=31)
    data = unpacker.decompress(written, MAX_UNPACKED)
    if unpacker.unconsumed_tail:
        raise ValueError(f"more than {MAX_UNPACKED} bytes")
    return data


def without_host(written: bytes) -> bytes:
    """Return a trace in gzip without the name of the machine that made it."""
    data = json.loads(_unpacked(written))
    data.pop("host_name", None)
    return gzip.compress(json.dumps(data, separators=(",", ":")).encode(), 6, mtime=0)


def _call(event: Any) -> Call | None:  # noqa: ANN401  whatever JSON the file holds
    if not isinstance(event, dict) or event.get("ph") != "X":
        return None
    category, begin, length = str(event.get("cat")), event.get("ts"), event.get("dur")
    sound = all(
        isinstance(each, int | float) and not isinstance(each, bool) and 0 <= each < 1e18
        for each in (begin, length)
    )
    if not sound or category not in _ON_HOST | _ON_DEVICE:
        return None
    arguments = event.get("args")
    number = arguments.get("External id") if isinstance(arguments, dict) else None
    name, first = str(event.get("name"))[:MAX_NAME], float(begin or 0)
    thread = (str(event.get("pid")), str(event.get("tid")))
    return Call(name, category, first, first + float(length or 0), thread, str(number))


def _nest(calls: list[Call]) -> None:
    """Give each call its caller, and its own seconds."""
    calls.sort(key=lambda call: (call.thread, call.begin, -call.end))
    open_calls: list[Call] = []
    for call in calls:
        while open_calls and not (
            open_calls[-1].thread == call.thread
            and call.begin < open_calls[-1].end
            and call.end <= open_calls[-1].end + _SLACK
        ):
            open_calls.pop()
        call.own = call.end - call.begin
        if open_calls:
            call.parent = open_calls[-1]
            call.parent.own = max(call.parent.own - call.own, 0.0)
        open_calls.append(call)


def _name_phases(calls: Iterable[Call]) -> None:
    """Say which phase each call belongs to; callers come first.

    Where a program names no forward pass, what belongs to nothing else is it.
    """
    for call in calls:
        named = [phase for begin, phase in _BEGINNINGS.items() if call.name.startswith(begin)]
        if call.name in PHASES and call.category == "user_annotation":
            named = [call.name]
        call.phase = (named or [call.parent.phase if call.parent else ""])[0]
    phases = {call.phase for call in calls}
    if "backward" in phases and "forward" not in phases:
        for call in calls:
            if not call.phase and call.category == "cpu_op":
                call.phase = "forward"


def _profile(calls: list[Call], kernels: list[Call]) -> Profile:
    _leave_waiting_out(calls)
    device = _device_seconds(calls, kernels)
    operators = [call for call in calls if call.category == "cpu_op"]
    ranges = [call for call in calls if call.category == "user_annotation"]
    phases = dict.fromkeys(PHASES, 0.0)
    for call in calls:
        if call.phase:
            phases[call.phase] += call.own
    main = _main_thread(calls)
    spans = _spans_on_device(main, kernels) if kernels else _spans_on_host(main, calls)
    return Profile(
        seconds=_length(_union([*main, *kernels])),
        operators=_rows(operators, device),
        ranges=_rows(ranges, device),
        nodes=_nodes(calls),
        spans=spans,
        phases=phases,
        num_calls=len(operators),
        num_small=sum(call.own < SMALL_SECONDS for call in operators),
        has_device=bool(kernels),
    )


def _leave_waiting_out(calls: list[Call]) -> None:
    """Take from the range round `backward()` the time in which another thread did its work."""
    engine = [each for each in calls if each.name.startswith(_ENGINE) and each.parent is None]
    waits: dict[tuple[str, str], list[Interval]] = {}
    for call in calls:
        if call.phase == "backward" and not call.name.startswith(_ENGINE) and call.own:
            if call.thread not in waits:
                waits[call.thread] = _union(it for it in engine if it.thread != call.thread)
            if others := waits[call.thread]:
                waited = _common(others, [(call.begin, call.end)])
                call.own = max(call.own - _length(waited), 0.0)


def _device_seconds(calls: Iterable[Call], kernels: Iterable[Call]) -> Mapping[str, float]:
    """Return the seconds of kernels by the name of the operator that launched them."""
    names = {call.number: call.name for call in calls if call.category == "cpu_op"}
    seconds: dict[str, float] = defaultdict(float)
    for kernel in kernels:
        if kernel.number in names:
            seconds[names[kernel.number]] += kernel.end - kernel.begin
    return seconds


def _rows(calls: Iterable[Call], device: Mapping[str, float]) -> tuple[Operator, ...]:
    by_name: dict[str, list[Call]] = defaultdict(list)
    for call in calls:
        by_name[call.name].append(call)
    # An operator that calls itself, as aten::div with a number does, is one call.
    outer = {
        name: [it for it in its if it.parent is None or it.parent.name != name]
        for name, its in by_name.items()
    }
    rows = [
        Operator(
            name=name,
            calls=len(outer[name]),
            own=sum(call.own for call in its),
            total=sum(call.end - call.begin for call in outer[name]),
            device=device.get(name, 0.0),
            forward=sum(call.own for call in its if call.phase == "forward"),
            backward=sum(call.own for call in its if call.phase == "backward"),
        )
        for name, its in by_name.items()
    ]
    return tuple(sorted(rows, key=lambda row: -max(row.own, row.device)))


def _main_thread(calls: Sequence[Call]) -> list[Call]:
    """Return the calls of the thread that was busy for longest, the backward pass's apart."""
    busy: dict[tuple[str, str], float] = defaultdict(float)
    for call in calls:
        if call.parent is None and not call.name.startswith(_ENGINE):
            busy[call.thread] += call.end - call.begin
    main = max(busy, key=lambda thread: busy[thread])
    return [call for call in calls if call.thread == main]


def _bound_of(call: Call) -> str:
    """Return what a call's own time is spent on, where no device works beside."""
    if call.name in _WAITS:
        return "sync"
    if call.phase == "data":
        return "input"
    if call.category != "cpu_op" or call.own < SMALL_SECONDS:
        return "launch"
    return "compute" if _PRODUCT.search(call.name) else "memory"


def _spans_on_host(main: Sequence[Call], calls: Iterable[Call]) -> dict[str, float]:
    spans = dict.fromkeys(BOUNDS, 0.0)
    for call in calls:
        spans[_bound_of(call)] += call.own
    busy = _union(main)
    spans["launch"] += busy[-1][1] - busy[0][0] - _length(busy)  # between the operators
    return _shares(spans)


def _spans_on_device(main: Sequence[Call], kernels: Sequence[Call]) -> dict[str, float]:
    """Return what the device does; while it idles, what the thread that feeds it does."""
    busy, spans = _union(kernels), dict.fromkeys(BOUNDS, 0.0)
    spans["compute"] = _length(_union(it for it in kernels if _PRODUCT.search(it.name)))
    spans["memory"] = _length(busy) - spans["compute"]
    whole = _union([*main, *kernels])
    edges = [whole[0][0], *(edge for interval in busy for edge in interval), whole[-1][1]]
    idle = list(zip(edges[::2], edges[1::2], strict=True))
    for bound in ("sync", "input"):
        spans[bound] = _length(_common(_union(it for it in main if _bound_of(it) == bound), idle))
    spans["launch"] = max(_length(idle) - spans["sync"] - spans["input"], 0.0)
    return _shares(spans)


def _shares(spans: Mapping[str, float]) -> dict[str, float]:
    whole = sum(spans.values()) or 1.0
    return {name: seconds / whole for name, seconds in spans.items()}


def _union(calls: Iterable[Call]) -> list[Interval]:
    merged: list[Interval] = []
    for begin, end in sorted((call.begin, call.end) for call in calls):
        if merged and begin <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(merged[-1][1], end))
        else:
            merged.append((begin, end))
    return merged


def _common(first: Sequence[Interval], second: Sequence[Interval]) -> list[Interval]:
    """Return where two lists of intervals, each in order and apart, are both."""
    found, at = list[Interval](), 0
    for begin, end in first:
        while at < len(second) and second[at][1] <= begin:
            at += 1
        place = at
        while place < len(second) and second[place][0] < end:
            found.append((max(begin, second[place][0]), min(end, second[place][1])))
            place += 1
    return found


def _length(intervals: Iterable[Interval]) -> float:
    return sum(end - begin for begin, end in intervals)


@dataclass(slots=True)
class _Branch:
    own: float = 0.0
    calls: int = 0
    below: dict[str, "_Branch"] = field(default_factory=dict)

    def seconds(self) -> float:
        return self.own + sum(branch.seconds() for branch in self.below.values())


def _nodes(calls: Iterable[Call]) -> tuple[Node, ...]:
    """Return the tree of callers, equal ones as one; the backward pass under its phase."""
    root = _Branch()
    for call in calls:
        branch, path = root, _path(call)
        for name in path:
            branch = branch.below.setdefault(name, _Branch())
        branch.own += call.own
        branch.calls += 1
    smallest = root.seconds() * _SMALLEST_NODE
    return tuple(_walk(root, (), smallest))


def _path(call: Call) -> tuple[str, ...]:
    """Return the phase, then the callers; what only wraps others is left out."""
    names: list[str] = []
    here: Call | None = call
    while here is not None:
        if here.name not in PHASES and not here.name.startswith((_ENGINE, "ProfilerStep#")):
            names.append(here.name)
        here = here.parent
    return (call.phase or _OUTSIDE, *reversed(names))[:_DEEPEST]


_OUTSIDE: Final = "outside"


def _walk(branch: _Branch, path: tuple[str, ...], smallest: float) -> Iterable[Node]:
    for name, below in sorted(branch.below.items(), key=lambda each: -each[1].seconds()):
        seconds = below.seconds()
        if seconds >= smallest:
            yield Node(path=(*path, name), seconds=seconds, calls=below.calls)
            yield from _walk(below, (*path, name), smallest)
