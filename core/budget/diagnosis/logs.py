"""Lines of a log held against a plan: of a training, of vLLM's start, of llama.cpp's buffers.

Their forms are rows of logs.toml: what a program prints, and what people write down of it.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import median
from typing import Final

from core.budget.cluster import peak_of, product_dtype
from core.budget.compute.conventions import mfu_conventions
from core.budget.compute.step_flops import model_flops, step_flops
from core.budget.diagnosis.out_of_memory import read_size
from core.budget.item import GUESSED_WORK, Formula, Item, Number, as_guessed, item, total
from core.budget.planning.plan import Plan
from core.budget.serving.kv_cache import kv_cache, kv_reserved
from core.budget.table import read_table
from core.budget.training.memory import not_counted
from core.budget.weights.stored import serving_weights
from core.language import N_, _
from core.units import GIB, MIB, ByteUnit, format_bytes, format_flops_per_second

LOG_KINDS: Final[Mapping[str, str]] = {
    "training": N_("log of a training"), "vllm": N_("start of a server"),
    "llama.cpp": N_("buffers of llama.cpp"),
}  # fmt: skip
BUFFERS: Final[Mapping[str, str]] = {
    "model": N_("weights"), "KV": N_("KV cache"), "RS": N_("recurrent state"),
    "compute": N_("workspace"), "input": N_("inputs"), "output": N_("outputs"),
}  # fmt: skip
"""What llama.cpp calls a buffer -> what it holds."""

MAX_CHARS: Final = MIB
MAX_DEVICES: Final = 64  # of llama.cpp, whose graphs run on at most 16
_TABLE: Final = read_table(__file__)


def _compiled(pattern: str) -> re.Pattern[str]:
    """Return a pattern with the table's parts put in; a part may hold those before it."""
    for name, part in reversed(_TABLE["part"].items()):
        pattern = pattern.replace(f"{{{name}}}", part)
    return re.compile(pattern, re.IGNORECASE)


_ROWS: Final = [
    (row["kind"], row["says"], row["word"], _compiled(row["pattern"]), row.get("unit", 1))
    for row in _TABLE["row"]
]
_BESIDE_A_SPEED, SERVING_SPEED, _OTHER_SPEED, _BUFFER = (
    _compiled(f"{{{part}}}")
    for part in ("beside_a_speed", "serving_speed", "other_speed", "buffer")
)
# Also a colour that a page has kept without its escape.
_COLOUR: Final = re.compile(r"\x1b\[[\d;]{0,20}m|\[\d{1,3}(?:;\d{1,3}){0,4}m")
_DIGIT: Final = re.compile(r"\d")


@dataclass(frozen=True, kw_only=True, slots=True)
class Log:
    """What lines of a log say; numbers are the median of the later half of them: steady state.

    Of memory it is the most, as the most loaded device needs it.

    Attributes:
        kind: A key of `LOG_KINDS`: of several the one with the most lines.
        num_lines: Lines that were understood.
        tokens_per_second: Of one device; 0 if the log does not say.
        memory: Bytes of one device in training; 0 if the log does not say.
        mfu: As the log itself says, a fraction; 0 if it does not.
        numbers: All that it says, by the names of logs.toml; "flops_per_second" are of one device,
            "untold_tokens_per_second" of one or of all, speeds with other names of all together.
        buffers: (device, key of `BUFFERS`) -> bytes, as llama.cpp says when it loads last.
    """

    kind: str
    num_lines: int
    tokens_per_second: float = 0.0
    memory: int = 0
    mfu: float = 0.0
    numbers: Mapping[str, float] = field(default_factory=dict)
    buffers: Mapping[tuple[str, str], int] = field(default_factory=dict)


def read_log(text: str) -> Log:
    """Return what the lines say.

    Raises:
        ValueError: If the text is too long, or nothing in it is understood.
    """
    if len(text) > MAX_CHARS:
        sentence = _("The log has {count} characters; paste at most {most}: its last lines do.")
        raise ValueError(sentence.format(count=f"{len(text):,}", most=f"{MAX_CHARS:,}"))
    lines = [each for each in _COLOUR.sub("", text).splitlines() if _DIGIT.search(each)]
    found = [(kind, numbers) for line in lines for kind, numbers in _numbers(line).items()]
    if not found:
        raise ValueError(
            _(
                "No line of this log is understood: it would say the tokens/s, the time of a step "
                "or the MFU of a training, a server's KV cache, or llama.cpp's buffer sizes."
            )
        )
    kinds = [kind for kind, _numbers in found]
    kind = max(LOG_KINDS, key=kinds.count)
    told: defaultdict[str, list[float]] = defaultdict(list)
    for what, number in (pair for of, each in found if of == kind for pair in each.items()):
        told[what].append(number)
    steady = {what: median(each[len(each) // 2 :]) for what, each in told.items()}
    steady |= {what: max(told[what]) for what in ("memory",) if what in told}
    return Log(
        kind=kind, num_lines=kinds.count(kind), memory=round(steady.get("memory", 0)),
        tokens_per_second=steady.get("tokens_per_second", 0.0), mfu=steady.get("mfu", 0.0),
        numbers=steady, buffers=_buffers(lines) if kind == "llama.cpp" else {},
    )  # fmt: skip


def _numbers(line: str) -> dict[str, dict[str, float]]:
    """Return kind -> what -> number of one line; what is 0 was not measured."""
    found: defaultdict[str, dict[str, float]] = defaultdict(dict)
    small = line.lower()
    for kind, what, word, pattern, unit in _ROWS:
        if word in small and what not in found[kind] and (match := pattern.search(line)):
            found[kind][what] = _number(match) * unit
    if found["training"] and _OTHER_SPEED.search(line):
        del found["training"]
    elif found["training"] and (match := _BESIDE_A_SPEED.search(line)):
        found["training"].setdefault("memory", _number(match))
    if "buffer size" in small and _BUFFER.search(line):
        found["llama.cpp"] = {"buffers": 1}
    said = {kind: {what: each for what, each in of.items() if each} for kind, of in found.items()}
    return {kind: numbers for kind, numbers in said.items() if numbers}


def _number(match: re.Match[str]) -> float:
    """Return a number, or the bytes that it and its unit say."""
    groups, digits = match.groupdict(), match["number"].replace(",", "")
    if unit := groups.get("unit"):
        return read_size(digits, unit).num_bytes
    return float(digits) * (1000 if groups.get("kilo") else 1)


def _buffers(lines: Sequence[str]) -> dict[tuple[str, str], int]:
    """Add up weights and caches of each device; a workspace replaces the one before."""
    found: dict[tuple[str, str], int] = {}
    was_model = False
    for match in filter(None, map(_BUFFER.search, lines)):
        kind = match["kind"] or "model"
        if kind == "model" and not was_model:
            found.clear()
        was_model = kind == "model"
        key, size = (match["device"], kind), round(_number(match))
        found[key] = size + (found.get(key, 0) if kind in {"model", "KV", "RS"} else 0)
    return found


_LOG: Final = N_("as the log says")
CLAIMS: Final = {
    "mfu": (N_("MFU as the log says"), "1"),
    "flops_per_second": (N_("FLOP/s as the log says"), "FLOP/s"),
}
WORKED: Final = Formula("model_flops * tokens_per_second / (num_tokens * flops_per_second)")
AT_PEAK: Final = Formula("num_tokens * flops_per_second / model_flops")
PER_TOKEN: Final = Formula("kv_memory / kv_tokens")
PLANNED: Final = Formula("kv_cache / context")
SAID: Final = Formula("said")
_WORKED: Final = N_("forward and backward, full attention; of adapters what their training does")
_AT_PEAK: Final = N_("the dense peak over the model's own FLOPs: a limit on speed")
_PER_TOKEN: Final = N_(
    "what the server has for the KV cache, over the tokens that it says it holds"
)
NEAR: Final = 0.01  # medians of different lines, and blocks of tokens, hide as much
NEAR_PEAK: Final = 0.02  # tables of peaks differ in their last digits
_KV_ERROR: Final = 0.005 * GIB  # vLLM prints two digits


@dataclass(frozen=True, kw_only=True, slots=True)
class LogAnswer:
    """What a log means: the numbers that answer, what to hold them against, and what follows."""

    headline: tuple[Item, ...]
    beside: tuple[Item, ...]
    notes: tuple[str, ...]  # sentences in the reader's language


def answer_log(log: Log, plan: Plan, unit: ByteUnit = "GiB") -> LogAnswer:
    """Return what a log means for the plan's model: as it trains, or serves on all its devices.

    Raises:
        ValueError: If the device's peak is not known, the model cannot be split as the plan asks,
            or lines are missing; the sentence says which.
    """
    if log.kind == "training":
        return _training(log, replace(plan, work="train"), unit)
    return _vllm(log, plan) if log.kind == "vllm" else _llama_cpp(log, plan, unit)


def _claimed(
    name: str, values: Mapping[str, Number], unit: str, rule: Formula = SAID, source: str = _LOG
) -> Item:
    return item(name, rule, values, unit=unit, source=source, kind="claimed")


def _training(log: Log, plan: Plan, unit: ByteUnit) -> LogAnswer:
    headline, notes = [], []
    beside = [
        _claimed(name, {"said": log.numbers[what]}, of)
        for what, (name, of) in CLAIMS.items()
        if what in log.numbers
    ]
    own = {"step_tokens": plan.step_tokens, "seq_len": plan.recipe.seq_len}
    values = {**log.numbers, **own, "num_devices": plan.num_devices}
    rows = _TABLE["speed"].values()
    told = [row for row in rows if {*re.findall("[a-z_]+", row["rule"])} <= values.keys()]
    for row in told[:1]:
        name, rule = N_("speed of one device"), Formula(row["rule"])
        speed = _claimed(name, values, "tokens/s", rule)
        mfu, *others = _utilizations(plan, speed.amount)
        headline, beside = [mfu, speed], [*beside, *others]
        has_note = "note" in row and plan.num_devices >= row.get("from_devices", 1)
        notes = [
            *([_(row["note"])] if has_note else ()),
            *_on_mfu(log, mfu, others[:-1], plan.cluster.device.name),
        ]
    if log.memory:
        headline.append(_claimed(N_("memory in the log"), {"said": log.memory}, "bytes"))
        beside.append(replace(plan.need, name=N_("memory of the plan")))
        notes.append(_on_memory(log.memory, plan.need, unit))
        notes += [not_counted()] if log.memory < plan.need.low else []
    headline, beside = (headline, beside) if headline else (beside, [])
    return LogAnswer(headline=tuple(headline), beside=tuple(beside), notes=tuple(notes))


def _utilizations(plan: Plan, tokens_per_second: Number) -> Iterator[Item]:
    """Yield the MFU as the plan counts it, as others do, and the speed at the peak."""
    recipe, device = replace(plan.recipe, accumulation=1), plan.cluster.device
    peak = peak_of(device, recipe.precision)
    values = {
        "model_flops": model_flops(step_flops(plan.spec, recipe)).amount,
        "num_tokens": recipe.num_tokens, "flops_per_second": peak,
        "tokens_per_second": tokens_per_second,
    }  # fmt: skip
    rows = (
        _claimed(N_("MFU"), values, "1", WORKED, _WORKED),
        *mfu_conventions(plan.spec, recipe, tokens_per_second, peak, sparsity=False),
        item(
            N_("speed at the peak"), AT_PEAK, values, unit="tokens/s", source=_AT_PEAK,
            kind=device.limit(product_dtype(device, recipe.precision)),
        ),
    )  # fmt: skip
    yield from (as_guessed(each, plan.spec, GUESSED_WORK) for each in rows)


def _on_mfu(log: Log, mfu: Item, others: Sequence[Item], device: str) -> Iterator[str]:
    """Say which count gives the log's own FLOP/s, and by which peak it divides them."""
    peak = mfu.values["flops_per_second"]
    if mfu.low > 1:
        yield _(
            "That is more than the peak of {device}: the log is of another model or device, of "
            "shorter sequences, or of all devices together."
        ).format(device=device)
    if not (rate := log.numbers.get("flops_per_second", log.mfu * peak)):
        return
    theirs = rate / log.mfu if log.mfu else peak
    if abs(theirs / peak - 1) > NEAR_PEAK:
        yield _("The log divides by a peak of {theirs}, the plan by {ours}.").format(
            theirs=format_flops_per_second(theirs), ours=format_flops_per_second(peak)
        )
    nearest = min(*others, mfu, key=lambda each: abs(each.amount - rate / peak))
    text = _("The log's own {rate} of one device are what “{count}” gives.")
    if abs(nearest.amount * peak / rate - 1) > NEAR:
        text = _(
            "No count gives the log's own {rate} of one device; “{count}” comes nearest: {ours}. "
            "It is of another model or length, or counts in another way."
        )
    ours = format_flops_per_second(nearest.amount * peak)
    yield text.format(rate=format_flops_per_second(rate), count=_(nearest.name), ours=ours)


def _on_memory(told: int, need: Item, unit: ByteUnit) -> str:
    text = _("The log's {told} are outside of what the plan predicts: {low} to {high}.")
    if need.low <= told <= need.high:
        text = _("The log's {told} are within what the plan predicts: {low} to {high}.")
    elif told > need.high:
        text = _("The log's {told} are above the {low} to {high} of the plan: torch reserves "
                 "more where lengths change, and nvidia-smi counts CUDA's context.")  # fmt: skip
    sizes = {"told": told, "low": need.low, "high": need.drawn_high}
    return text.format(**{name: format_bytes(size, unit) for name, size in sizes.items()})


def _vllm(log: Log, plan: Plan) -> LogAnswer:
    told = {"context": plan.serving.context, **log.numbers}
    if not {"kv_memory", "kv_tokens"} <= set(told):
        raise ValueError(
            _("Two lines are needed: “Available KV cache memory” and “GPU KV cache size”.")
        )
    found = item(
        N_("KV cache of one token"), PER_TOKEN, told, unit="bytes", source=_PER_TOKEN,
        kind="claimed", band=_KV_ERROR / told["kv_memory"],
    )  # fmt: skip
    beside = []
    for name, rule in ((N_("all layers in full"), kv_reserved), (N_("with windows"), kv_cache)):
        context, serving = round(told["context"]), plan.serving
        cache = rule(plan.spec, context, 1, serving.kv_format, plan.num_devices)
        each = item(
            name, PLANNED, {"kv_cache": cache.amount, "context": context}, unit="bytes",
            source=cache.source, kind=cache.kind, band=cache.band,
        )  # fmt: skip
        beside.append(replace(each, guess=cache.guess))
    notes = (_on_tokens(found, beside), *_on_requests(log))
    return LogAnswer(headline=(found,), beside=tuple(beside), notes=notes)


def _on_requests(log: Log) -> Iterator[str]:
    """Hold what the log says of requests at once against its tokens: two ways to count them."""
    if log.numbers.keys() >= {"concurrency", "context"}:
        text = _(
            "{tokens} tokens / {context} of a request = {count} requests at once; the log says "
            "{told}. It says more where it counts that windows keep less."
        )
        names = {"tokens": "kv_tokens", "context": "context", "told": "concurrency"}
        said = {name: log.numbers[each] for name, each in names.items()}
        said["count"] = said["tokens"] / said["context"]
        yield text.format(
            **{name: f"{number:,.2f}".removesuffix(".00") for name, number in said.items()}
        )


def _on_tokens(found: Item, planned: Sequence[Item]) -> str:
    nearest = min(planned, key=lambda each: abs(each.amount - found.amount))
    times = found.amount / nearest.amount
    text = _("The server gives each token what “{count}” needs: {bytes} bytes.")
    if abs(times - 1) > 2 * NEAR + found.band[0]:  # it gives whole blocks
        text = _(
            "The server gives each token {times} times what “{count}” needs ({bytes} bytes): its "
            "KV cache has another format, more or fewer devices share it, or the model is another."
        )
    amount = f"{round(nearest.amount):,}"
    return text.format(count=_(nearest.name), bytes=amount, times=f"{times:.3g}")


def _llama_cpp(log: Log, plan: Plan, unit: ByteUnit) -> LogAnswer:
    if (count := len({device for device, _kind in log.buffers})) > MAX_DEVICES:
        text = _("The log names {count} devices; at most {most} are counted.")
        raise ValueError(text.format(count=f"{count:,}", most=MAX_DEVICES))
    by_device, by_kind = defaultdict(list), defaultdict(list)
    for (device, kind), size in log.buffers.items():
        by_device[device].append(_claimed(BUFFERS[kind], {"said": size}, "bytes"))
        by_kind[BUFFERS[kind]].append(_claimed(device, {"said": size}, "bytes"))
    headline, beside = (
        tuple(total(name, parts, source=_LOG) for name, parts in sums.items())
        for sums in (by_device, by_kind)
    )
    planned = replace(
        serving_weights(plan.spec, plan.serving.weight_format), name=N_("weights of the plan")
    )
    weights = sum(part.amount for part in by_kind["weights"])
    note = _("The weights in the log take {told}, those of the plan in {format} {planned}.").format(
        told=format_bytes(weights, unit), planned=format_bytes(planned.amount, unit),
        format=plan.serving.weight_format,
    )  # fmt: skip
    return LogAnswer(headline=headline, beside=(*beside, planned), notes=(note,) if weights else ())
