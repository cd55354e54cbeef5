"""Shows a training loop of your own on Live training, as the runs of this app are shown.

This one file needs torch alone (2.6 or later), so it may be copied beside any program. Two lines
do it, one before the loop and one in it:

    import torch
    from watch import Watch  # inside this project: from core.train.watch import Watch

    model = torch.nn.Linear(8, 1)
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
    watch = Watch(model, optimizer, runs="runs", name="A line", num_steps=20)
    for _step in range(20):
        x = torch.randn(32, 8)
        loss = (model(x) - x.sum(1, keepdim=True)).square().mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        if not watch.step(loss):  # the page has said stop
            break

`runs` is the directory that the app shows: `runs` beside its app.py, or what B2G_RUNS_DIR says.
In a Trainer of Hugging Face the same two calls stand in a callback:

    from transformers import TrainerCallback
    from watch import Watch

    class Watched(TrainerCallback):
        def on_train_begin(self, args, state, control, model=None, optimizer=None, **more):
            self.watch = Watch(model, optimizer, runs="runs", num_steps=state.max_steps)

        def on_log(self, args, state, control, logs=None, **more):
            if "loss" in logs:  # with logging_steps=1 every step
                going = self.watch.step(logs["loss"], logs.get("grad_norm"), state.global_step)
                control.should_training_stop = not going

        def on_evaluate(self, args, state, control, metrics=None, **more):
            self.watch.validation(metrics["eval_loss"])

        def on_train_end(self, args, state, control, **more):
            self.watch.close()

Of several processes let only the first one watch. A disk that refuses ends the watching with a
warning, never the training.
"""

import atexit
import contextlib
import json
import math
import os
import platform
import re
import secrets
import struct
import sys
import time
import warnings
import zlib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import torch
from filelock import FileLock  # torch itself requires it

# metrics.bin, as core/train/run/records.py has it: a header, then a record for each step: step,
# time, seconds, loss, learning rate, gradient norm, tokens per second, resident bytes, attempt,
# flags; then the checksum of all these.
HEADER = struct.pack("<8sHH52x", b"B2GMETR\0", 1, 80)
FIELDS = struct.Struct("<QddddddQII")
CHECKSUM = struct.Struct("<I4x")
NON_FINITE = 1
ATTEMPT = 1  # nobody resumes such a run
LIMITS = {"set_learning_rate_multiplier": (0.0, 100.0), "set_max_steps_per_second": (0.1, 1000.0)}

LOOK_SECONDS = 0.2  # between two looks for commands
STATE_SECONDS = 0.5  # between two writes of state.json
RESIDENT_SECONDS = 1.0  # between two questions for the memory of the process
IDLE_SECONDS = 0.02
MOST_OWED = 32  # steps whose numbers an accelerator may owe

Number = float | torch.Tensor


class Watch:
    """Writes down what a loop does, and lets Live training pause, stop and steer it.

    Attributes:
        directory: The run directory.
        should_stop: Whether the page has asked the run to end.
    """

    def __init__(  # noqa: PLR0913  what a loop knows, each by its name
        self,
        model: torch.nn.Module,
        optimizer: torch.optim.Optimizer,
        *,
        runs: str | Path = "",
        name: str = "My own loop",
        num_steps: int | None = None,
        tokens_per_step: int | None = None,
        memory_every: int = 25,
    ) -> None:
        """Begin a run.

        `runs`: by default what B2G_RUNS_DIR says, else `runs` in the working directory.
        `num_steps`: how many there will be; `tokens_per_step`: how many each learns from; both may
        be unknown. `memory_every`: steps from one look at the memory by category to the next.
        """
        self.model, self.optimizer = model, getattr(optimizer, "optimizer", optimizer)
        self.should_stop = False
        self._num_steps, self._tokens = num_steps, tokens_per_step
        self._memory_every = memory_every
        self._state, self._step, self._seq = "starting", 0, 0
        self._multiplier, self._max_steps_per_second = 1.0, None
        self._single_steps = self._last_command = 0
        self._trained_seconds = 0.0
        self._resident = self._resident_at = self._look_at = self._state_at = self._wall = 0.0
        self._rate, self._norm, self._norm_is_told = self._lowest_rate(), None, False
        self._before: list[Any] = []  # the learning rates of the optimizer's groups
        self._owed: list[tuple[Any, ...]] = []
        self._device = next(iter(model.parameters())).device
        self.directory = Path(runs or os.environ.get("B2G_RUNS_DIR", "runs")) / _run_name(name)
        self._begin(name)
        self._hooks = [
            self.optimizer.register_step_pre_hook(self._before_update),
            self.optimizer.register_step_post_hook(self._after_update),
        ]
        atexit.register(self.close)
        self._last = self._told_at = time.perf_counter()

    def step(self, loss: Number, grad_norm: Number | None = None, step: int | None = None) -> bool:
        """Note a step that is done, and wait while the run is paused; False: the loop should end.

        `grad_norm`: what `clip_grad_norm_` returned; without it the norm is measured just before
        the update, after any clipping. `step`: its number, where not every step is told.
        """
        if self._is_over:
            return not self.should_stop
        now, number = time.perf_counter(), self._step + 1 if step is None else step
        seconds, done = max(now - self._last, 1e-9), number - self._step
        rate = self._tokens * done / seconds if self._tokens else math.nan
        if grad_norm is not None:
            self._norm, self._norm_is_told = grad_norm, True
        loss = loss.detach() if isinstance(loss, torch.Tensor) else loss
        self._owed.append((number, self._now(), seconds, loss, self._rate, self._norm, rate))
        self._step, self._norm = number, None
        self._trained_seconds += seconds
        with self._disk():
            # A GPU is not waited for at every step.
            waited = len(self._owed) >= MOST_OWED or now - self._told_at > LOOK_SECONDS
            if self._device.type == "cpu" or waited:
                self._tell(now)
            self._listen()
        self._last = time.perf_counter()
        return not self.should_stop

    def validation(self, loss: Number) -> None:
        """Note the loss on text that is not trained on, in nats per token."""
        self._event("eval", validation_loss=float(loss))

    def sample(self, text: str, prompt: str = "") -> None:
        """Note what the model writes after a prompt."""
        self._event("sample", prompt=prompt, text=text)

    def close(self, error: BaseException | None = None) -> None:
        """End the run; at the end of the program this happens by itself."""
        if self._is_over:
            return
        # Of an exception that ended the program Python keeps this note.
        error = error or getattr(sys, "last_value", None)
        stopped = self.should_stop or isinstance(error, KeyboardInterrupt | GeneratorExit)
        with self._disk():
            self._tell(time.perf_counter())
            if error is None or stopped:
                self._change("stopped" if stopped else "finished")
            else:
                self._change("failed", message=f"{type(error).__name__}: {error}"[:500])
        self._end()

    def __enter__(self) -> "Watch":
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        self.close(error)

    # What is written down.

    def _begin(self, name: str) -> None:
        (self.directory / "control").mkdir(parents=True)
        self._lock = FileLock(self.directory / "worker.lock", thread_local=False)
        self._lock.acquire(timeout=0)  # as long as it is held the run lives
        appending = os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_BINARY", 0)
        paths = (self.directory / file for file in ("metrics.bin", "events.jsonl"))
        self._metrics, self._events = (os.open(path, appending, 0o644) for path in paths)
        _append(self._metrics, HEADER)
        self._replace("run.json", self._description(name))
        self._change("running")

    def _description(self, name: str) -> dict[str, Any]:
        known = {
            "name": name,
            "num_steps": self._num_steps,
            "tokens_per_step": self._tokens,
            "optimizer": type(self.optimizer).__name__.lower(),
        }
        on_cuda = self._device.type == "cuda"
        device = torch.cuda.get_device_name(self._device) if on_cuda else platform.processor()
        dtypes = {str(p.dtype).removeprefix("torch.") for p in self.model.parameters()}
        precision = " and ".join(sorted(dtypes))
        return {
            "format_version": 1,
            "name": self.directory.name,
            "created": self._now(),
            "source": "watch",
            "config": {key: value for key, value in known.items() if value is not None},
            "resolved": {
                "device": self._device.type,
                "device_name": device or None,
                "precision": precision,
            },
            "prediction": {
                "num_params": sum(p.numel() for p in self.model.parameters()),
                "memory": self._predicted(),
            },
            "versions": {"torch": torch.__version__, "python": platform.python_version()},
        }

    def _predicted(self) -> dict[str, int]:
        """Return what is known before the first step; activations depend on the batch."""
        trained = (p for p in self.model.parameters() if p.requires_grad)
        predicted = {"weights": self._weights(), "gradients": _num_bytes(trained)}
        states = predicted_state_bytes(self.optimizer)
        return predicted if states is None else {**predicted, "optimizer": states}

    def _weights(self) -> int:
        return _num_bytes(self.model.parameters()) + _num_bytes(self.model.buffers())

    def _tell(self, now: float) -> None:
        """Write the steps down whose numbers were still owed, and now and then the state."""
        self._told_at = now
        for number, moment, seconds, loss, learning_rate, norm, rate in self._owed:
            known = [float(each) for each in (loss, norm) if each is not None]
            broken = NON_FINITE * (not all(map(math.isfinite, known)))
            measured = known[1] if len(known) > 1 else math.nan
            numbers = (seconds, known[0], learning_rate, measured, rate)
            told = (number, moment, *numbers, self._resident_bytes(), ATTEMPT, broken)
            fields = FIELDS.pack(*told)
            _append(self._metrics, fields + CHECKSUM.pack(zlib.crc32(fields)))
        self._owed.clear()
        if now - self._state_at > STATE_SECONDS:
            self._write_state()

    def _event(self, kind: str, step: int | None = None, **data: object) -> None:
        if self._is_over:
            return
        place = {"seq": self._seq, "step": self._step if step is None else step}
        when = {"time": self._now(), "attempt": ATTEMPT}
        line = _json({**place, **when, "kind": kind, **data}) + b"\n"
        with self._disk():
            _append(self._events, line)
            self._seq += 1

    def _change(self, state: str, message: str = "") -> None:
        self._event("state", state=state, reason="", message=message)
        self._state = state
        self._write_state(message)

    def _write_state(self, message: str = "") -> None:
        self._state_at = time.perf_counter()
        state = {
            "state": self._state,
            "step": self._step,
            "attempt": ATTEMPT,
            "pid": os.getpid(),
            "time": self._now(),
            "trained_seconds": self._trained_seconds,
            "learning_rate_multiplier": self._multiplier,
            "max_steps_per_second": self._max_steps_per_second,
            "message": message,
            "resident_bytes": self._resident_bytes(),
            "can_resume": False,
        }
        self._replace("state.json", state)

    def _replace(self, file: str, content: dict[str, Any]) -> None:
        temporary = self.directory / f"{file}.{os.getpid()}.tmp"
        temporary.write_bytes(_json(content))
        for tries_left in reversed(range(20)):
            try:
                temporary.replace(self.directory / file)
            except PermissionError:  # Windows, while somebody reads it
                if not tries_left:
                    raise
                time.sleep(0.01)
            else:
                return

    @contextlib.contextmanager
    def _disk(self) -> Any:  # noqa: ANN401  a generator, made a context
        try:
            yield
        except OSError as error:
            warnings.warn(f"{self.directory} is no longer written: {error}", stacklevel=3)
            self._end()

    @property
    def _is_over(self) -> bool:
        return not self._lock.is_locked

    def _end(self) -> None:
        atexit.unregister(self.close)
        for hook in self._hooks:
            hook.remove()
        os.close(self._metrics)
        os.close(self._events)
        self._lock.release()

    def _now(self) -> float:
        self._wall = max(self._wall, time.time())  # a clock may be set back
        return self._wall

    def _resident_bytes(self) -> int:
        if (now := time.monotonic()) - self._resident_at > RESIDENT_SECONDS:
            self._resident, self._resident_at = resident_bytes(), now
        return int(self._resident)

    # What happens at the update: there the gradients are, wherever the loop clears them.

    def _lowest_rate(self) -> Number:
        return self.optimizer.param_groups[0]["lr"]

    def _before_update(self, *_arguments: object) -> None:
        groups = self.optimizer.param_groups
        self._before = [group["lr"] for group in groups]
        if self._multiplier != 1:  # for this update alone, so that a scheduler never sees it
            for group in groups:
                group["lr"] = group["lr"] * self._multiplier
        self._rate = groups[0]["lr"]
        if not self._norm_is_told:
            grads = [p.grad for p in self.model.parameters() if p.grad is not None]
            self._norm = torch.nn.utils.get_total_norm(grads) if grads else None

    def _after_update(self, *_arguments: object) -> None:
        for group, rate in zip(self.optimizer.param_groups, self._before, strict=True):
            group["lr"] = rate
        upcoming = self._step + 1
        if upcoming == 1 or upcoming % self._memory_every == 0:
            self._event("memory", upcoming, **self._memory())

    def _memory(self) -> dict[str, Any]:
        grads = (p.grad for p in self.model.parameters() if p.grad is not None)
        on_cuda = self._device.type == "cuda"
        peak = torch.cuda.max_memory_allocated(self._device) if on_cuda else None
        return {
            "weights": self._weights(),
            "gradients": _num_bytes(grads),
            "optimizer": _state_bytes(self.optimizer),
            **dict.fromkeys(("activations", "other")),  # nobody has watched them
            "peak": peak,
            "resident_bytes": resident_bytes(),
            "source": "allocator" if on_cuda else "tensors",
        }

    # What the page asks for.

    def _listen(self) -> None:
        """Follow the commands that came, and wait as long as no step is due."""
        self._obey()
        if self._state == "paused":  # behind this step comes nothing that would tell of it later
            self._tell(time.perf_counter())
            self._write_state()
        while not self.should_stop and not self._is_due():
            time.sleep(IDLE_SECONDS)
            self._obey()
        self._single_steps = max(self._single_steps - 1, 0)

    def _is_due(self) -> bool:
        if self._state == "paused":
            return self._single_steps > 0
        most = self._max_steps_per_second
        return not most or time.perf_counter() >= self._last + 1 / most - IDLE_SECONDS / 2

    def _obey(self) -> None:
        if time.monotonic() < self._look_at:
            return
        self._look_at = time.monotonic() + LOOK_SECONDS
        with os.scandir(self.directory / "control") as files:
            names = [file.name for file in files if re.fullmatch(r"\d{6,9}\.json", file.name)]
        numbers = [int(name.removesuffix(".json")) for name in names]
        for number in sorted(each for each in numbers if each > self._last_command):
            self._last_command = number
            self._tell(time.perf_counter())
            op, value, refusal = self._read(number)
            refusal = refusal or self._follow(op, value)
            step = self._step + op.startswith("set_")
            answer = {"command": number, "op": op, "value": value}
            self._event("ack", step, **answer, accepted=not refusal, reason=refusal)
            self._write_state()

    def _read(self, number: int) -> tuple[str, float | None, str]:
        try:
            command = json.loads((self.directory / "control" / f"{number:06d}.json").read_bytes())
            op, value = str(command["op"]), command.get("value")
            value = None if value is None else float(value)
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            return "", None, f"{type(error).__name__}: {error}"
        low, high = LIMITS.get(op, (-math.inf, math.inf))
        if value is not None and not low <= value <= high:
            return op, None, f"{op} takes a number from {low:g} to {high:g}"
        return op, value, ""

    def _follow(self, op: str, value: float | None) -> str:
        """Do what was asked for; return why it cannot be done."""
        if op == "pause":
            self._change("paused")
        elif op == "resume":
            self.should_stop, self._single_steps = False, 0
            self._change("running")
        elif op == "step":
            self._single_steps += 1
            if self._state != "paused":
                self._change("paused")
        elif op == "stop":
            self.should_stop = True
            self._change("stopping")
        elif op == "set_learning_rate_multiplier":
            self._multiplier = 1.0 if value is None else value
        elif op == "set_max_steps_per_second":
            self._max_steps_per_second = value
        else:
            return f"a loop of its own does not know {op or 'this command'}"
        return ""


def predicted_state_bytes(optimizer: torch.optim.Optimizer) -> int | None:
    """Return the bytes of an optimizer's states, before it has any; None where nobody can tell.

    Its own class makes one update of tensors without data, and what it keeps is counted.
    """
    groups = []
    for group in optimizer.param_groups:
        twins = [torch.empty_like(p, device="meta") for p in group["params"]]
        for twin, original in zip(twins, group["params"], strict=True):
            if original.requires_grad:
                twin.requires_grad_().grad = torch.empty_like(twin)
        settings = {key: value for key, value in group.items() if key != "param_names"}
        plain = dict.fromkeys({"fused", "foreach", "capturable"} & group.keys(), False)
        groups.append({**settings, **plain, "params": twins})
    try:
        twin_optimizer: Any = type(optimizer)(groups)
        twin_optimizer.step()
    except (AttributeError, NotImplementedError, RuntimeError, TypeError, ValueError):
        return None  # one that needs data, a closure or arguments of its own
    return _state_bytes(twin_optimizer)


def resident_bytes() -> int:
    """Return the physical memory of this process; without psutil the most that it has held."""
    try:
        import psutil
    except ImportError:
        if os.name == "nt":
            return 0
        import resource

        most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return most if sys.platform == "darwin" else 1024 * most
    return int(psutil.Process().memory_info().rss)


def _num_bytes(tensors: Iterable[torch.Tensor]) -> int:
    return sum(each.numel() * each.element_size() for each in tensors)


def _state_bytes(optimizer: torch.optim.Optimizer) -> int:
    kept = (each for state in optimizer.state.values() for each in state.values())
    return _num_bytes(each for each in kept if isinstance(each, torch.Tensor))


def _append(file: int, part: bytes) -> None:
    if os.write(file, part) != len(part):
        raise OSError("the disk is full")


def _json(content: object) -> bytes:
    """Return strict JSON: numbers that are not finite become null."""

    def finite(value: Any) -> Any:  # noqa: ANN401  whatever JSON holds
        if isinstance(value, dict):
            return {key: finite(each) for key, each in value.items()}
        return None if isinstance(value, float) and not math.isfinite(value) else value

    return json.dumps(finite(content), ensure_ascii=False).encode("utf-8", "replace")


def _run_name(title: str) -> str:
    slug = re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")[:40].strip("-") or "run"
    return f"{time.strftime('%Y%m%dt%H%M%Sz', time.gmtime())}-{slug}-{secrets.token_hex(2)}"
