"""A step taken apart in this process: its seconds, its bytes, its operators, in two ways."""

import copy
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

import torch
from torch import Tensor
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.profiler import ProfilerActivity, profile, record_function
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.flop_counter import FlopCounterMode, sdpa_backward_flop_count, sdpa_flop_count

from core.budget.simulation.timeline import StepTimeline
from core.budget.simulation.tracker import StorageTracker
from core.language import _
from core.machine.probe import CPU_SIZE, measure_matmul
from core.train.learning.precision import compute_in
from core.train.learning.trainer import During, Forward, Trainer
from core.train.profiler.results import PARTS, Anatomy, Moment, Pair, Where
from core.train.profiler.trace import PHASES, Profile, read_trace, without_host
from core.train.run.records import StepRecord
from core.train.run.store import RunStore
from core.units import format_seconds

WARM_UP: Final = 3
MOST_STEPS: Final = 20
MAX_SECONDS: Final = 20.0
PROFILED: Final = 2
ITEM_STEPS: Final = 100  # of a block, in which one step or each reads its loss
NUM_TURNS: Final = 5
MOST_MOMENTS: Final = 600
_aten = torch.ops.aten
_ITEM: Final = _aten._local_scalar_dense.default
# torch counts the FLOPs of attention on GPUs only.
_FLOPS: Final[dict[Any, Any]] = {
    _aten._scaled_dot_product_flash_attention_for_cpu: lambda q, k, v, *_a, **_k: sdpa_flop_count(
        q, k, v
    ),
    _aten._scaled_dot_product_flash_attention_for_cpu_backward: (
        lambda out, q, k, v, *_a, **_k: sdpa_backward_flop_count(out, q, k, v)
    ),
}


def take_apart(trainer: Trainer, where: Where, folder: Path) -> Anatomy:
    """Return the anatomy of a trainer's next steps; `folder` takes what they write."""
    for _step in range(WARM_UP):
        trainer.train_step()
    parts, as_trained, began = list[dict[str, float]](), list[float](), time.perf_counter()
    with RunStore(folder) as store:
        while len(parts) < 3 or (
            len(parts) < MOST_STEPS and time.perf_counter() - began < MAX_SECONDS
        ):
            parts.append(_parts_of_step(trainer, store))
            as_trained.append(_seconds(trainer.train_step, trainer.device))
    measured, simulated = track_memory(trainer), simulate_memory(trainer)
    profiled, _trace = profile_steps(trainer, PROFILED, folder)
    counter = FlopCounterMode(display=False, custom_mapping=_FLOPS)
    trainer.launch_step(counter)
    in_16_bits = "float16" if "fp16" in trainer.config.precision else "bfloat16"
    dtype = "float32" if trainer.config.precision == "fp32" else in_16_bits
    return Anatomy(
        where=where,
        parts={name: [each[name] for each in parts] for name in PARTS},
        as_trained=as_trained,
        measured=_moments(measured, measured),
        simulated=_moments(simulated, measured),
        flops=float(counter.get_total_flops()),
        peak_flops_per_second=measure_matmul(str(trainer.device), dtype, size=CPU_SIZE).median,
        spans=profiled.spans,
        num_calls=profiled.num_calls / PROFILED,
        num_small=profiled.num_small / PROFILED,
    )


def _wait_for(device: torch.device) -> None:
    if device.type != "cpu":
        torch.accelerator.synchronize(device)


def _seconds(act: Callable[[], object], device: torch.device) -> float:
    _wait_for(device)
    began = time.perf_counter()
    act()
    _wait_for(device)
    return time.perf_counter() - began


def _parts_of_step(trainer: Trainer, store: RunStore) -> dict[str, float]:
    """Return the seconds of a step by part; on an accelerator each waits for its last kernel."""
    seconds = dict.fromkeys(PHASES, 0.0)

    @contextmanager
    def during(part: str) -> Iterator[None]:
        _wait_for(trainer.device)
        began = time.perf_counter()
        yield
        _wait_for(trainer.device)
        seconds[part] += time.perf_counter() - began

    def step() -> None:
        launched = trainer.launch_step()
        with during("logging"):
            (result,) = trainer.read_steps([launched])
            store.append_step(
                StepRecord(
                    step=result.step, time=store.clock.now(), seconds=result.seconds,
                    loss=result.loss, learning_rate=result.learning_rate,
                    grad_norm=result.grad_norm, resident_bytes=0,
                    tokens_per_second=trainer.config.tokens_per_step / result.seconds,
                )
            )  # fmt: skip

    with surrounded(trainer, during):
        whole = _seconds(step, trainer.device)
    return {**seconds, "other": whole - sum(seconds.values())}


@contextmanager
def surrounded(trainer: Trainer, during: During) -> Iterator[None]:
    """Let `during` surround each part of the trainer's steps."""
    before, trainer.during = trainer.during, during
    try:
        yield
    finally:
        trainer.during = before


def track_memory(trainer: Trainer) -> StepTimeline:
    """Return the bytes after each operation of the trainer's next step."""
    tracker = StorageTracker()
    states = [each for state in trainer.optimizer.state.values() for each in state.values()]
    trainer.optimizer.zero_grad(set_to_none=True)  # an old gradient's address may be used anew
    base = {
        "weights": tracker.ignore([*trainer.model.parameters(), *trainer.model.buffers()]),
        "optimizer states": tracker.ignore(each for each in states if torch.is_tensor(each)),
        "text": tracker.ignore([trainer.training, trainer.validation]),
    }
    with surrounded(trainer, tracker.during):
        trainer.launch_step(tracker)
    return tracker.timeline(base)


def simulate_memory(trainer: Trainer) -> StepTimeline:
    """Return what `track_memory` would, on tensors that have a size and no data.

    The operators say only what their results look like; nothing of the trainer changes.
    """
    trainer.optimizer.zero_grad(set_to_none=True)
    owners = (trainer, trainer.optimizer, *((trainer.scaler,) if trainer.scaler else ()))
    groups = [
        *trainer.optimizer.param_groups,
        *trainer.optimizer.state.values(),
        *map(vars, owners),
    ]
    held = [*trainer.model.parameters(), *trainer.model.buffers()]
    held += [each for group in groups for each in group.values() if isinstance(each, Tensor)]
    forward, trainer.forward = trainer.forward, trainer.model  # compiled code is not copied
    with FakeTensorMode(allow_non_fake_inputs=True) as mode, _OneForItem():
        twin = copy.deepcopy(trainer, {id(each): mode.from_tensor(each) for each in held})
        trainer.forward = forward
        return track_memory(twin)


class _OneForItem(TorchDispatchMode):
    """Answers 1.0 where a step asks a tensor without data for its value."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]  # torch's own

    def __torch_dispatch__(
        self,
        func: Callable[..., Any],
        types: Any,  # noqa: ANN401  as torch declares it
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:  # noqa: ANN401  whatever the operation returns
        return 1.0 if func is _ITEM else func(*args, **(kwargs or {}))


def _moments(timeline: StepTimeline, like: StepTimeline) -> list[Moment]:
    """Return the step in some hundred moments, its peak among them, each part beside its like."""
    parts, theirs = _parts(timeline), _parts(like)
    places = [
        begin + (end - begin) * number / (last - first)
        for (first, last), (begin, end) in zip(parts, theirs, strict=False)
        for number in range(last - first)
    ]
    events = timeline.events[: len(places)]
    rows = [
        Moment(it[0], it[1].phase, it[1].op, it[1].live) for it in zip(places, events, strict=True)
    ]
    kept = {*range(0, len(rows), -(-len(rows) // MOST_MOMENTS)), timeline.peak_index}
    return [rows[index] for index in sorted(kept)]


def _parts(timeline: StepTimeline) -> list[tuple[int, int]]:
    """Return where each part begins and ends."""
    phases = [event.phase for event in timeline.events]
    edges = [i for i, phase in enumerate(phases) if not i or phase != phases[i - 1]]
    return list(pairwise([*edges, len(phases)]))


def profile_steps(trainer: Trainer, num_steps: int, folder: Path) -> tuple[Profile, bytes]:
    """Return what torch.profiler says of the next steps, and its Chrome trace in gzip."""
    on_gpu = [ProfilerActivity.CUDA] if trainer.device.type == "cuda" else []
    trainer.train_step()
    with (
        surrounded(trainer, record_function),
        profile(activities=[ProfilerActivity.CPU, *on_gpu], acc_events=True) as profiler,
    ):
        for _step in range(num_steps):
            launched = trainer.launch_step()
            with record_function("logging"):
                trainer.read_steps([launched])
    path = folder / "trace.json"
    profiler.export_chrome_trace(str(path))
    trace = without_host(path.read_bytes())
    return read_trace(trace), trace


def compare_item(trainer: Trainer, where: Where) -> Pair:
    """Return a step that reads its loss each time beside one that reads each hundredth.

    Raises:
        ValueError: The steps would take minutes.
    """
    for _step in range(WARM_UP):
        _plain_step(trainer)
    turn = _seconds(lambda: _plain_step(trainer), trainer.device) * ITEM_STEPS * 2
    if turn > 3 * MAX_SECONDS:
        message = _("{steps} steps of this model take {seconds} here; choose a smaller model.")
        told = {"steps": 2 * ITEM_STEPS, "seconds": format_seconds(turn)}
        raise ValueError(message.format(**told))

    def block(every: int) -> None:
        for step in range(1, ITEM_STEPS + 1):
            loss = _plain_step(trainer)
            if step % every == 0:
                loss.item()

    first, second = _in_turns(lambda: block(1), lambda: block(ITEM_STEPS), trainer.device, turn)
    first, second = ([seconds / ITEM_STEPS for seconds in arm] for arm in (first, second))
    return Pair(where=where, kind="item", first=first, second=second)


def _plain_step(trainer: Trainer) -> Tensor:
    """Do one step as a plain loop has it, which never asks the device for a number."""
    trainer.optimizer.zero_grad(set_to_none=True)
    losses = []
    for token_ids, targets in trainer._batches(trainer.step + 1):
        with compute_in(trainer.config.precision, trainer.device):
            loss = trainer.forward(token_ids, targets) / trainer.config.accumulation_steps
        loss.backward()
        losses.append(loss.detach())
    torch.nn.utils.clip_grad_norm_(trainer.model.parameters(), trainer.config.grad_clip or 1e9)
    trainer.optimizer.step()
    return torch.stack(losses).sum()


def _in_turns(
    first: Callable[[], object], second: Callable[[], object], device: torch.device, turn: float
) -> tuple[list[float], list[float]]:
    """Return the seconds of both, done in turns, so that what else the machine does hits both.

    `turn`: seconds that both take together.
    """
    found = (list[float](), list[float]())
    for number in range(max(min(NUM_TURNS, int(3 * MAX_SECONDS / turn)), 1)):
        for arm in (0, 1) if number % 2 == 0 else (1, 0):
            found[arm].append(_seconds((first, second)[arm], device))
    return found


def compare_compiled(trainer: Trainer, where: Where, backend: str = "inductor") -> Pair:
    """Return an eager step beside one whose forward and backward pass torch.compile has made.

    Raises:
        ValueError: It cannot compile here; mostly a C++ compiler is missing.
    """
    compiled: Forward = torch.compile(trainer.model, backend=backend)

    def steps(forward: Forward, count: int) -> None:
        trainer.forward = forward
        for _step in range(count):
            trainer.train_step()

    try:
        ready = _seconds(lambda: steps(compiled, 1), trainer.device)
    except (torch._dynamo.exc.TorchDynamoException, torch._inductor.exc.InductorError) as error:
        message = _(
            "torch.compile gave up here ({reason}). On a CPU it needs a C++ compiler, such as g++."
        )
        reason = str(error).strip().partition("\n")[0][:200]
        raise ValueError(message.format(reason=reason)) from error
    steps(compiled, WARM_UP)
    steps(trainer.model, WARM_UP)
    once = _seconds(lambda: steps(trainer.model, 1), trainer.device)
    count = max(min(int(1.0 / once), MOST_STEPS), 1)
    eager, made = (lambda: steps(trainer.model, count)), (lambda: steps(compiled, count))
    first, second = _in_turns(eager, made, trainer.device, 2 * once * count)
    first, second = ([seconds / count for seconds in arm] for arm in (first, second))
    return Pair(where=where, kind="compile", first=first, second=second, ready=ready)
