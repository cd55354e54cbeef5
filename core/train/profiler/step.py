"""A step taken apart in this process: its seconds, its bytes, its operators, in two ways."""

import copy
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
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
from core.train.learning.trainer import Trainer
from core.train.profiler.results import PARTS, Anatomy, Moment, Pair, Where
from core.train.profiler.trace import PHASES, Profile, read_trace, without_host
from core.train.run.records import StepRecord
from core.train.run.store import RunStore
from core.units import format_seconds

WARM_UP: Final = 3
MOST_STEPS: Final = 20
MAX_SECONDS: Final = 20.0
PROFILED: Final = 2
ITEM_STEPS: Final = 100  # a block: one wait in it, or one a step
NUM_TURNS: Final = 5
MOST_MOMENTS: Final = 600
_aten = torch.ops.aten
_ITEM: Final = _aten._local_scalar_dense.default


class Stopwatch:
    """Seconds by the part of a step; on an accelerator each part waits for its last kernel."""

    def __init__(self, device: torch.device) -> None:
        self.seconds = dict.fromkeys(PHASES, 0.0)
        self._waits = device.type != "cpu"

    @contextmanager
    def during(self, part: str) -> Iterator[None]:
        """Add the time of what runs inside to a part."""
        self.wait()
        began = time.perf_counter()
        yield
        self.wait()
        self.seconds[part] += time.perf_counter() - began

    def wait(self) -> None:
        """Wait until the device has done what it was told."""
        if self._waits:
            torch.accelerator.synchronize()


def take_apart(trainer: Trainer, where: Where, folder: Path) -> Anatomy:
    """Return the anatomy of a trainer's next steps; `folder` takes what they write."""
    dtype = {"fp32": "float32"}.get(trainer.config.precision, "bfloat16")
    dtype = "float16" if "fp16" in trainer.config.precision else dtype
    for _step in range(WARM_UP):
        trainer.train_step()
    with RunStore(folder) as store:
        parts, as_trained = _timed_steps(trainer, store)
    measured, simulated = track_memory(trainer), simulate_memory(trainer)
    profiled, _trace = profile_steps(trainer, PROFILED, folder)
    return Anatomy(
        where=where,
        parts={name: [each[name] for each in parts] for name in PARTS},
        whole=[sum(each.values()) for each in parts],
        as_trained=as_trained,
        measured=_moments(measured),
        simulated=_moments(simulated),
        flops=count_flops(trainer),
        peak_flops_per_second=measure_matmul(str(trainer.device), dtype, size=CPU_SIZE).median,
        spans=profiled.spans,
        calls_per_step=profiled.num_calls / PROFILED,
        small_per_step=profiled.num_small / PROFILED,
    )


def _timed_steps(trainer: Trainer, store: RunStore) -> tuple[list[dict[str, float]], list[float]]:
    """Return the parts of steps, and the seconds of steps in between that are left whole."""
    parts, as_trained, began = list[dict[str, float]](), list[float](), time.perf_counter()
    while len(parts) < MOST_STEPS and (len(parts) < 3 or time.perf_counter() - began < MAX_SECONDS):
        parts.append(_parts_of_step(trainer, store))
        as_trained.append(_seconds(trainer.train_step, trainer.device))
    return parts, as_trained


def _parts_of_step(trainer: Trainer, store: RunStore) -> dict[str, float]:
    watch = Stopwatch(trainer.device)
    with _watched_by(trainer, watch.during):
        watch.wait()
        began = time.perf_counter()
        launched = trainer.launch_step()
        with watch.during("logging"):
            (result,) = trainer.read_steps([launched])
            store.append_step(
                StepRecord(
                    step=result.step,
                    time=store.clock.now(),
                    seconds=result.seconds,
                    loss=result.loss,
                    learning_rate=result.learning_rate,
                    grad_norm=result.grad_norm,
                    tokens_per_second=trainer.config.tokens_per_step / result.seconds,
                    resident_bytes=0,
                )
            )
        whole = time.perf_counter() - began
    return {**watch.seconds, "other": whole - sum(watch.seconds.values())}


@contextmanager
def _watched_by(trainer: Trainer, during: Any) -> Iterator[None]:  # noqa: ANN401  a context's maker
    before, trainer.during = trainer.during, during
    try:
        yield
    finally:
        trainer.during = before


def _seconds(act: Callable[[], object], device: torch.device) -> float:
    wait = Stopwatch(device).wait
    wait()
    began = time.perf_counter()
    act()
    wait()
    return time.perf_counter() - began


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
    as_written, trainer.forward = trainer.forward, trainer.model
    with _watched_by(trainer, tracker.during), tracker:
        trainer.launch_step()
    trainer.forward = as_written
    return tracker.timeline(base)


def simulate_memory(trainer: Trainer) -> StepTimeline:
    """Return what `track_memory` would, on tensors that have a size and no data.

    The operators say only what their results look like; nothing of the trainer changes.
    """
    as_written, trainer.forward = trainer.forward, trainer.model  # compiled code is not copied
    with FakeTensorMode(allow_non_fake_inputs=True) as mode, _OneForItem():
        twin = copy.deepcopy(trainer, _without_data(trainer, mode))
        trainer.forward = as_written
        return track_memory(twin)


def _without_data(trainer: Trainer, mode: FakeTensorMode) -> dict[int, Any]:
    """Return a tensor without data for each of the trainer's, as `deepcopy` takes them."""
    trainer.optimizer.zero_grad(set_to_none=True)
    states = trainer.optimizer.state.values()
    held: list[object] = [
        *trainer.model.parameters(),
        *trainer.model.buffers(),
        *(each for state in states for each in state.values()),
        *(each for group in trainer.optimizer.param_groups for each in group.values()),
        *vars(trainer).values(),
        *vars(trainer.optimizer).values(),
        *(vars(trainer.scaler).values() if trainer.scaler else ()),
    ]
    return {id(each): mode.from_tensor(each) for each in held if isinstance(each, Tensor)}


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


def _moments(timeline: StepTimeline) -> list[Moment]:
    """Return the step in some hundred moments, its peak among them."""
    every = -(-len(timeline.events) // MOST_MOMENTS)
    kept = {*range(0, len(timeline.events), every), timeline.peak_index}
    events = [timeline.events[index] for index in sorted(kept)]
    return [Moment(phase=each.phase, op=each.op, num_bytes=each.live) for each in events]


def count_flops(trainer: Trainer) -> float:
    """Return the FLOPs of the matrix products and the attention of one step, as it runs."""
    rules = {
        _aten._scaled_dot_product_flash_attention_for_cpu: _forward_flops,
        _aten._scaled_dot_product_flash_attention_for_cpu_backward: _backward_flops,
    }
    as_written, trainer.forward = trainer.forward, trainer.model
    with FlopCounterMode(display=False, custom_mapping=rules) as counter:
        trainer.launch_step()
    trainer.forward = as_written
    return float(counter.get_total_flops())


def _forward_flops(query: Any, key: Any, value: Any, *_: Any, **__: Any) -> int:  # noqa: ANN401
    return int(sdpa_flop_count(query, key, value))


def _backward_flops(out: Any, query: Any, key: Any, value: Any, *_: Any, **__: Any) -> int:  # noqa: ANN401
    return int(sdpa_backward_flop_count(out, query, key, value))


def profile_steps(trainer: Trainer, num_steps: int, folder: Path) -> tuple[Profile, bytes]:
    """Return what torch.profiler says of the next steps, and its Chrome trace in gzip."""
    activities = [ProfilerActivity.CPU]
    if trainer.device.type == "cuda":
        activities.append(ProfilerActivity.CUDA)
    trainer.train_step()
    with _watched_by(trainer, record_function), profile(activities=activities) as profiler:
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
    needed = _seconds(lambda: _plain_step(trainer), trainer.device) * ITEM_STEPS * 2
    if needed > 3 * MAX_SECONDS:
        message = _(
            "Twice {steps} steps of this model take {seconds} here; choose a smaller model."
        )
        raise ValueError(message.format(steps=ITEM_STEPS, seconds=format_seconds(needed)))
    arms = (lambda: _block(trainer, every=1), lambda: _block(trainer, every=ITEM_STEPS))
    first, second = _in_turns(*arms, trainer.device, seconds_of_turn=needed)
    blocks = [[each / ITEM_STEPS for each in arm] for arm in (first, second)]
    return Pair(where=where, kind="item", first=blocks[0], second=blocks[1])


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


def _block(trainer: Trainer, every: int) -> float:
    told = 0.0
    for step in range(1, ITEM_STEPS + 1):
        loss = _plain_step(trainer)
        if step % every == 0:
            told += loss.item()
    return told


def _in_turns(
    first: Callable[[], object],
    second: Callable[[], object],
    device: torch.device,
    seconds_of_turn: float,
) -> tuple[list[float], list[float]]:
    """Return the seconds of both, done in turns, so that what else the machine does hits both."""
    turns = max(min(NUM_TURNS, int(3 * MAX_SECONDS / max(seconds_of_turn, 1e-6))), 1)
    found = (list[float](), list[float]())
    for turn in range(turns):
        for arm in (0, 1) if turn % 2 == 0 else (1, 0):
            found[arm].append(_seconds((first, second)[arm], device))
    return found


def compare_compiled(trainer: Trainer, where: Where, backend: str = "inductor") -> Pair:
    """Return an eager step beside one whose forward and backward pass torch.compile has made.

    Raises:
        ValueError: It cannot compile here; mostly a C++ compiler is missing.
    """
    compiled = torch.compile(trainer.model, backend=backend)

    def step_with(forward: Any) -> None:  # noqa: ANN401  the model, or what was made of it
        trainer.forward = forward
        trainer.train_step()

    try:
        ready = _seconds(lambda: step_with(compiled), trainer.device)
    except (torch._dynamo.exc.TorchDynamoException, torch._inductor.exc.InductorError) as error:
        message = _(
            "torch.compile gave up here ({reason}). On a CPU it needs a C++ compiler, such as g++."
        )
        reason = str(error).strip().partition("\n")[0][:200]
        raise ValueError(message.format(reason=reason)) from error
    for forward in (trainer.model, compiled) * WARM_UP:
        step_with(forward)
    once = median(_seconds(lambda: step_with(trainer.model), trainer.device) for _turn in range(3))
    count = max(min(int(1.0 / once), MOST_STEPS), 1)

    def arm(forward: Any) -> Callable[[], None]:  # noqa: ANN401
        return lambda: [step_with(forward) for _step in range(count)] and None

    eager, made = _in_turns(arm(trainer.model), arm(compiled), trainer.device, 2 * once * count)
    first, second = ([seconds / count for seconds in arm] for arm in (eager, made))
    return Pair(where=where, kind="compile", first=first, second=second, ready=ready)
