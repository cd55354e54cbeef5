"""A Chrome trace of torch.profiler, read back: operators, ranges, and what the time went to.

Needs no torch: the trace may come from another machine. On a CPU the backward pass runs in the
thread that asked for it; with CUDA it has a thread of its own, and kernels run on streams.
"""

import gzip
import json
import re
import zlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from core.language import N_, _
from core.units import format_percent

MAX_BYTES: Final = 5 * 1024**2  # of an upload
MAX_UNPACKED: Final = 96 * 1024**2
MAX_NAME: Final = 120
_BEGINNING: Final = 1024**2  # of a packed trace, in which its events begin
SMALL_SECONDS: Final = 10e-6  # an operator this short costs more to call than to compute
PHASES: Final = ("data", "forward", "backward", "clip", "optimizer", "logging")
# What a moment of a step may be spent on, each moment on one; the largest names the verdict.
BOUNDS: Final = ("input", "sync", "launch", "compute", "memory")
VERDICTS: Final[Mapping[str, tuple[str, str]]] = {
    "input": (N_("input-bound"), N_("{share} of the time the step waits for its batch.")),
    "sync": (N_("sync-bound"),
             N_("{share} of the time the program waits for a number from the device.")),
    "launch": (N_("launch-bound"),
               N_("{share} of the time goes to Python and to operators of less than 10 µs, which "
                  "cost more to call than to compute: larger batches or torch.compile help.")),
    "compute": (N_("compute-bound"),
                N_("{share} of the time goes to matrix products and attention: only fewer FLOPs, a "
                   "smaller number format or a faster chip help.")),
    "memory": (N_("memory-bound"),
               N_("{share} of the time goes to operators that read and write more than they "
                  "compute: fusing them helps, as torch.compile does.")),
}  # fmt: skip
_ENGINE: Final = "autograd::engine::evaluate_function: "
_BEGINNINGS: Final = {
    "Optimizer.step#": "optimizer",
    "Optimizer.zero_grad#": "optimizer",
    "enumerate(DataLoader)": "data",
    _ENGINE: "backward",
}
_WAIT: Final = re.compile(r"aten::(item|_local_scalar_dense)$|cuda(Stream|Device|Event)Synchronize")
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


@dataclass(slots=True)
class Call:
    """One call in its thread; `own` are its seconds without those of the calls within."""

    name: str
    category: str
    begin: float
    end: float
    thread: tuple[str, str]
    number: str  # "External id": what a kernel says of the operator that launched it
    parent: "Call | None" = None
    own: float = 0.0
    phase: str = ""
    path: tuple[str, ...] = ()  # its callers and itself, without what only wraps others


@dataclass(kw_only=True, slots=True)
class Operator:
    """All calls of one operator or range; seconds of all of them together.

    Attributes:
        own: Without the operators that it calls: profilers call it self time.
        total: With them.
        device: Of the kernels that it launched.
        forward, backward: The part of `own` that fell into those passes.
    """

    name: str
    device: float
    calls: int = 0
    own: float = 0.0
    total: float = 0.0
    forward: float = 0.0
    backward: float = 0.0


@dataclass(frozen=True, kw_only=True, slots=True)
class Node:
    """A rectangle of the icicle: the calls with the same callers, below the phase of all."""

    path: tuple[str, ...]
    seconds: float
    calls: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Profile:
    """What a trace says.

    Attributes:
        nodes: The largest first.
        spans: Share of the time by `BOUNDS`; together 1.
        phases: Seconds of the calls of each phase, in threads of the host.
        num_small: Calls of operators with less than `SMALL_SECONDS` of their own.
    """

    operators: tuple[Operator, ...]
    ranges: tuple[Operator, ...]
    nodes: tuple[Node, ...]
    spans: Mapping[str, float]
    phases: Mapping[str, float]
    num_calls: int
    num_small: int
    has_device: bool


def is_trace(written: bytes) -> bool:
    """Return whether it begins as a Chrome trace does, as JSON or as JSON in gzip."""
    try:
        begin = _unpacked(written, _BEGINNING, whole=False)
    except zlib.error:
        return False
    return begin.lstrip().startswith(b"{") and b'"traceEvents"' in begin


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
    return _profile(calls, [call for call in found if call.category in _ON_DEVICE])


def _profile(calls: list[Call], kernels: list[Call]) -> Profile:
    main = _join_engine(calls)
    _nest(calls)
    operators = [call for call in calls if call.category == "cpu_op"]
    device = _device_seconds(operators, kernels)
    phases = dict.fromkeys(PHASES, 0.0)
    for call in calls:
        if call.phase:
            phases[call.phase] += call.own
    feeding = [call for call in calls if call.thread == main]
    return Profile(
        operators=_rows(operators, device),
        ranges=_rows((call for call in calls if call.category == "user_annotation"), device),
        nodes=_nodes(calls),
        spans=_spans_on_device(feeding, kernels) if kernels else _spans_on_host(feeding, calls),
        phases=phases,
        num_calls=len(operators),
        num_small=sum(call.own < SMALL_SECONDS for call in operators),
        has_device=bool(kernels),
    )


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


def _unpacked(written: bytes, most: int = MAX_UNPACKED, *, whole: bool = True) -> bytes:
    if written[:2] != b"\x1f\x8b":
        return written
    unpacker = zlib.decompressobj(wbits=31)
    data = unpacker.decompress(written, most)
    if whole and unpacker.unconsumed_tail:
        raise ValueError(f"more than {most} bytes")
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


def _join_engine(calls: list[Call]) -> tuple[str, str]:
    """Put a backward pass with a thread of its own into the one that waits for it; return that."""
    busy, engine_until = defaultdict[Any, float](float), defaultdict[Any, float](float)
    calls.sort(key=lambda call: (call.begin, -call.end))
    for call in calls:
        if call.name.startswith(_ENGINE):
            engine_until[call.thread] = max(engine_until[call.thread], call.end)
        elif call.begin >= engine_until.get(call.thread, 0.0):
            busy[call.thread] += call.end - call.begin
    main: tuple[str, str] = max(busy, key=lambda thread: busy[thread], default=calls[0].thread)
    for call in calls:
        if call.thread in engine_until:
            call.thread = main
    return main


def _nest(calls: list[Call]) -> None:
    """Give each call its caller, its path, its phase and its own seconds; callers come first.

    Where a program names no forward pass, what belongs to nothing else is it.
    """
    calls.sort(key=lambda call: (call.thread, call.begin, -call.end))
    open_calls: list[Call] = []
    for call in calls:
        while open_calls and not _holds(open_calls[-1], call):
            open_calls.pop()
        call.own = call.end - call.begin
        if open_calls:
            parent = call.parent = open_calls[-1]
            parent.own = max(parent.own - call.own, 0.0)
            call.phase, call.path = parent.phase, parent.path
        open_calls.append(call)
        is_part = call.name in PHASES and call.category == "user_annotation"
        named = [phase for begin, phase in _BEGINNINGS.items() if call.name.startswith(begin)]
        call.phase = (named or [call.name if is_part else call.phase])[0]
        if call.name not in PHASES and not call.name.startswith((_ENGINE, "ProfilerStep#")):
            call.path += (call.name,)
    phases = {call.phase for call in calls}
    if "backward" in phases and "forward" not in phases:
        for call in calls:
            if not call.phase and call.category == "cpu_op":
                call.phase = "forward"


def _holds(caller: Call, call: Call) -> bool:
    is_within = call.begin < caller.end and call.end <= caller.end + _SLACK
    return caller.thread == call.thread and is_within


def _device_seconds(operators: Iterable[Call], kernels: Iterable[Call]) -> Mapping[str, float]:
    """Return the seconds of kernels by the name of the operator that launched them."""
    names = {call.number: call.name for call in operators}
    seconds = defaultdict[str, float](float)
    for kernel in kernels:
        seconds[names.get(kernel.number, "")] += kernel.end - kernel.begin
    return seconds


def _rows(calls: Iterable[Call], device: Mapping[str, float]) -> tuple[Operator, ...]:
    rows: dict[str, Operator] = {}
    for call in calls:
        new = Operator(name=call.name, device=device.get(call.name, 0.0))
        row = rows.setdefault(call.name, new)
        row.own += call.own
        row.forward += call.own * (call.phase == "forward")
        row.backward += call.own * (call.phase == "backward")
        # An operator that calls itself, as aten::div with a number does, is one call.
        if call.parent is None or call.parent.name != call.name:
            row.calls += 1
            row.total += call.end - call.begin
    return tuple(sorted(rows.values(), key=lambda row: -max(row.own, row.device)))


def _nodes(calls: Iterable[Call]) -> tuple[Node, ...]:
    """Return the tree of callers, equal ones as one, each below its phase."""
    seconds, counts = defaultdict[tuple[str, ...], float](float), Counter[tuple[str, ...]]()
    for call in calls:
        path = (call.phase or "outside", *call.path)[:_DEEPEST]
        counts[path] += 1
        for depth in range(len(path) + 1):
            seconds[path[:depth]] += call.own
    smallest = seconds.pop(()) * _SMALLEST_NODE
    nodes = [Node(path=it, seconds=seconds[it], calls=counts[it]) for it in seconds]
    return tuple(sorted((it for it in nodes if it.seconds >= smallest), key=lambda it: -it.seconds))


def _bound_of(call: Call) -> str:
    """Return what a call's own time is spent on, where no device works beside."""
    if _WAIT.match(call.name):
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
    begin, end = min(call.begin for call in main), max(call.end for call in main)
    busy = sum(call.end - call.begin for call in main if call.parent is None)
    spans["launch"] += max(end - begin - busy, 0.0)  # between the operators
    return _shares(spans)


def _spans_on_device(main: Sequence[Call], kernels: Sequence[Call]) -> dict[str, float]:
    """Return what the device does; while it idles, what the thread that feeds it does."""
    works = [("compute" if _PRODUCT.search(it.name) else "memory", it) for it in kernels]
    works += [(_bound_of(it), it) for it in main if _bound_of(it) in ("sync", "input")]
    works += [("launch", it) for it in main]
    turns = [(it.begin, 1, name) for name, it in works] + [(it.end, -1, name) for name, it in works]
    running, spans = Counter[str](), dict.fromkeys(BOUNDS, 0.0)
    before = min(turns)[0]
    for time, change, name in sorted(turns):
        first = next((it for it in ("compute", "memory", "sync", "input") if running[it]), "launch")
        spans[first] += time - before
        running[name], before = running[name] + change, time
    return _shares(spans)


def _shares(spans: Mapping[str, float]) -> dict[str, float]:
    whole = sum(spans.values()) or 1.0
    return {name: seconds / whole for name, seconds in spans.items()}


def verdict_of(spans: Mapping[str, float]) -> tuple[str, str]:
    """Return what a step is bound by, and why: what most of its time goes to, with the share."""
    most = max(spans, key=lambda name: spans[name])
    verdict, why = VERDICTS[most]
    return _(verdict), _(why).format(share=format_percent(spans[most]))


def trace_sentence(profile: Profile) -> str:
    """Return what takes most of a profile's time, and what its step is bound by."""
    first = profile.operators[0]
    times = [row.device if profile.has_device else row.own for row in profile.operators]
    share = (first.device if profile.has_device else first.own) / (sum(times) or 1.0)
    forward, backward = profile.phases["forward"], profile.phases["backward"]
    values = {"name": f"`{first.name}`", "share": format_percent(share),
              "calls": f"{first.calls:,}", "verdict": verdict_of(profile.spans)[0],
              "ratio": f"{backward / forward:.1f}" if forward else ""}  # fmt: skip
    if not (forward and backward):
        text = _("{name} takes {share} of the self time, in {calls} calls; {verdict}")
    else:
        text = _("{name} takes {share} of the self time, in {calls} calls; backward {ratio} times "
                 "forward; {verdict}")  # fmt: skip
    return text.format(**values)
