"""A step taken apart in this process: its seconds, its bytes, its operators, in two ways."""

import copy
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, Final

import numpy as np
import torch
from torch import Tensor
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.profiler import ProfilerActivity, profile, record_function
from torch.utils.flop_counter import FlopCounterMode, sdpa_backward_flop, sdpa_flop

from core.budget.simulation.step import OneForItem
from core.budget.simulation.timeline import StepTimeline
from core.budget.simulation.tracker import StorageTracker
from core.language import _
from core.machine.probe import CPU_SIZE, measure_matmul
from core.train.learning.precision import device_name
from core.train.learning.trainer import During, Forward, Trainer
from core.train.profiler.results import PARTS, Anatomy, Moment, Pair, Traced, Where
from core.train.profiler.trace import PHASES, read_trace, without_host
from core.train.run.store import RunStore
from core.train.worker.observer import record_of
from core.units import format_seconds

WARM_UP: Final = 3
MOST_STEPS: Final = 20
MAX_SECONDS: Final = 20.0
PROFILED: Final = 2
ITEM_STEPS: Final = 100  # of a block, in which one step or each reads its loss
NUM_TURNS: Final = 5
MOST_MOMENTS: Final = 600
_aten = torch.ops.aten
_FLOPS: Final[dict[Any, Any]] = {  # torch counts those of attention on GPUs only
    _aten._scaled_dot_product_flash_attention_for_cpu: sdpa_flop,
    _aten._scaled_dot_product_flash_attention_for_cpu_backward: sdpa_backward_flop,
}


def where_of(trainer: Trainer) -> Where:
    """Return what is measured, as it is now, and on what."""
    config = trainer.config
    return Where(
        step=trainer.step,
        precision=config.precision,
        optimizer=config.optimizer,
        device_name=device_name(trainer.device),
        threads=torch.get_num_threads(),
        num_params=sum(weight.numel() for weight in trainer.model.parameters()),
    )


def take_apart(trainer: Trainer, folder: Path) -> Anatomy:
    """Return the anatomy of a trainer's next steps; `folder` takes what they write."""
    where = where_of(trainer)
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
    profiled = read_trace(profile_steps(trainer, PROFILED, folder).trace)
    counter = FlopCounterMode(display=False)
    counter.flop_registry |= _FLOPS
    trainer.launch_step(counter)
    return Anatomy(
        where=where,
        parts={name: [each[name] for each in parts] for name in PARTS},
        as_trained=as_trained,
        measured=_moments(measured, measured),
        simulated=_moments(simulated, measured),
        flops=float(counter.get_total_flops()),
        peak_flops_per_second=_peak(trainer),
        spans=profiled.spans,
        num_calls=profiled.num_calls / PROFILED,
        num_small=profiled.num_small / PROFILED,
    )


def _peak(trainer: Trainer) -> float:
    """Return the FLOP/s of a large product in the number format of the step's products."""
    in_16_bits = "float16" if "fp16" in trainer.config.precision else "bfloat16"
    dtype = "float32" if trainer.config.precision == "fp32" else in_16_bits
    return measure_matmul(str(trainer.device), dtype, size=CPU_SIZE).median


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
            tokens = trainer.config.tokens_per_step
            store.append_step(record_of(result, store.clock.now(), tokens, resident_bytes=0))

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
    with FakeTensorMode(allow_non_fake_inputs=True) as mode, OneForItem():  # type: ignore[no-untyped-call]  # torch's own
        twin = copy.deepcopy(trainer, {id(each): mode.from_tensor(each) for each in held})
        trainer.forward = forward
        return track_memory(twin)


def _moments(timeline: StepTimeline, like: StepTimeline) -> list[Moment]:
    """Return the step in some hundred moments, its peak among them, each part beside its like."""
    events, count = timeline.events, len(timeline.events)
    edges, theirs = zip(*zip(_edges(timeline), _edges(like), strict=False), strict=True)
    places = np.interp(np.arange(count), edges, theirs)
    kept = {*range(0, count, -(-count // MOST_MOMENTS)), timeline.peak_index}
    rows = [(float(places[index]), events[index]) for index in sorted(kept)]
    return [Moment(place, event.phase, event.op, event.live) for place, event in rows]


def _edges(timeline: StepTimeline) -> list[int]:
    """Return where each part begins, and where the last one ends."""
    phases = [event.phase for event in timeline.events]
    return [*(i for i, it in enumerate(phases) if not i or it != phases[i - 1]), len(phases)]


def profile_steps(trainer: Trainer, num_steps: int, folder: Path) -> Traced:
    """Return the trace of the trainer's next steps, after one that loads kernels."""
    where, on_gpu = where_of(trainer), trainer.device.type == "cuda"
    activities = [ProfilerActivity.CPU, *([ProfilerActivity.CUDA] if on_gpu else [])]
    trainer.train_step()
    with (
        surrounded(trainer, record_function),
        profile(activities=activities, acc_events=True) as profiler,
    ):
        for _step in range(num_steps):
            launched = trainer.launch_step()
            with record_function("logging"):
                trainer.read_steps([launched])
    profiler.export_chrome_trace(str(path := folder / "trace.json"))
    return Traced(where=where, trace=without_host(path.read_bytes()))


def compare_item(trainer: Trainer) -> Pair:
    """Return a step that reads its loss each time beside one that reads each hundredth.

    Raises:
        ValueError: The steps would take minutes.
    """
    where = where_of(trainer)

    def block(every: int) -> None:
        for step in range(1, ITEM_STEPS + 1):
            loss = _plain_step(trainer)
            if step % every == 0:
                loss.item()

    for _step in range(WARM_UP):
        _plain_step(trainer)
    once = _seconds(lambda: _plain_step(trainer), trainer.device)
    if (turn := 2 * ITEM_STEPS * once) > 3 * MAX_SECONDS:
        message = _("{steps} steps of this model take {seconds} here; choose a smaller model.")
        raise ValueError(message.format(steps=2 * ITEM_STEPS, seconds=format_seconds(turn)))
    arms = (partial(block, 1), partial(block, ITEM_STEPS))
    first, second = _in_turns(arms, ITEM_STEPS, once, trainer.device)
    return Pair(where=where, kind="item", first=first, second=second)


def _plain_step(trainer: Trainer) -> Tensor:
    """Do one step as a plain loop has it, which never asks the device for a number."""
    *losses, norm = trainer._gradients(trainer.step + 1, trainer.forward)
    trainer._clip(norm)
    trainer._move()
    if trainer.scaler:
        trainer.scaler.update()
    return torch.stack(losses).sum()


def _in_turns(
    arms: Sequence[Callable[[], object]], count: int, once: float, device: torch.device
) -> tuple[list[float], list[float]]:
    """Return the seconds of a step in two ways; in turns, so that what else is done hits both.

    `count`: steps that an arm does in a turn; `once`: seconds of one, about.
    """
    found = (list[float](), list[float]())
    for turn in range(max(min(NUM_TURNS, int(3 * MAX_SECONDS / (2 * count * once))), 1)):
        for arm in (turn % 2, 1 - turn % 2):
            found[arm].append(_seconds(arms[arm], device) / count)
    return found


def compare_compiled(trainer: Trainer, backend: str = "inductor") -> Pair:
    """Return an eager step beside one whose forward and backward pass torch.compile has made.

    Raises:
        ValueError: It cannot compile here; mostly a C++ compiler is missing.
    """
    where = where_of(trainer)
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
    arms = [partial(steps, forward, count) for forward in (trainer.model, compiled)]
    first, second = _in_turns(arms, count, once, trainer.device)
    return Pair(where=where, kind="compile", first=first, second=second, ready=ready)
