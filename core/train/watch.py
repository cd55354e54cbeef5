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

and so they do in a Trainer of Lightning:

    from pytorch_lightning import Callback
    from watch import Watch

    class Watched(Callback):
        def on_train_start(self, trainer, module):
            num_steps, (optimizer,) = trainer.estimated_stepping_batches, trainer.optimizers
            self.watch = Watch(module, optimizer, runs="runs", num_steps=num_steps)
            self.loss, self.done = 0.0, trainer.global_step

        def on_train_batch_end(self, trainer, module, outputs, batch, batch_idx):
            self.loss += outputs["loss"]  # its part, where gradients are accumulated
            if trainer.global_step > self.done:
                trainer.should_stop = not self.watch.step(self.loss, step=trainer.global_step)
                self.loss, self.done = 0.0, trainer.global_step

        def on_validation_end(self, trainer, module):
            if not trainer.sanity_checking:
                self.watch.validation(trainer.callback_metrics["val_loss"])  # as you log it

        def on_exception(self, trainer, module, exception):
            self.watch.close(exception)

        def on_train_end(self, trainer, module):
            self.watch.close()

Of several processes only the first one watches, so let all of them make a `Watch`; there the page
can pause the run, but neither stop it nor change its rate. Of a model in shards (`fully_shard`,
FSDP) its memory is that of the first process, and the gradient norm is known where you pass it;
where `clip_grad_norm_` returns only a part of it, its `full_tensor()`. On a CUDA GPU the page can
ask for a memory snapshot of the next step. A disk that refuses ends the watching with a warning,
never the training.
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
from collections.abc import Iterable, Iterator
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
STATE_AFTER = {"pause": "paused", "step": "paused", "resume": "running", "stop": "stopping"}
SHARED = {"stop", "set_learning_rate_multiplier"}  # one process of several cannot do it alone
LIMITS = {"set_learning_rate_multiplier": (0.0, 100.0), "set_max_steps_per_second": (0.1, 1000.0)}

TELL_SECONDS = 0.1  # between two writes of records, where no accelerator owes their numbers
LOOK_SECONDS = 0.2  # between two looks for commands
STATE_SECONDS = 2.0  # between two writes of state.json: to replace a file can take 5 ms
NORM_SECONDS = 0.2  # between two measured gradient norms: one of a million numbers takes 0.4 ms
RESIDENT_SECONDS = 1.0  # between two questions for the memory of the process
IDLE_SECONDS = 0.02
MOST_OWED = 32  # steps whose numbers an accelerator may owe
MOST_RECORDED = 100_000  # events of the allocator in a snapshot, the newest

Number = float | torch.Tensor


class Watch:
    """Writes down what a loop does, and lets Live training pause, stop and steer it.

    Attributes:
        directory: The run directory.
        should_stop: Whether the page has asked the run to end.
    """

    def __init__(  # noqa: PLR0913  what a loop knows, each by its name
        self, model: torch.nn.Module, optimizer: torch.optim.Optimizer, *,
        runs: str | Path = "", name: str = "My own loop", num_steps: int | None = None,
        tokens_per_step: int | None = None, memory_every: int = 25,
    ) -> None:  # fmt: skip
        """Begin a run.

        `runs`: by default what B2G_RUNS_DIR says, else `runs` in the working directory.
        `num_steps`: how many there will be; `tokens_per_step`: how many each learns from; both may
        be unknown (None; of steps also infinity or -1). `memory_every`: steps from one look at the
        memory by category to the next.
        """
        self.model, self.optimizer = model, getattr(optimizer, "optimizer", optimizer)
        self.should_stop = False
        self._tokens, self._memory_every = tokens_per_step, memory_every
        self._weights = list(model.parameters())  # to walk through the modules takes 0.1 ms
        self._device = self._weights[0].device
        # A norm of shards would have to be asked of all processes at once.
        kinds = {type(module).__name__ for module in model.modules()}
        self._is_sharded = "FullyShardedDataParallel" in kinds or any(
            hasattr(weight, "to_local") for weight in self._weights
        )
        self._step = self._seq = self._memory_due = self._resident = 0
        self._single_steps = self._last_command = 0
        self._resident_at = self._look_at = self._state_at = self._wall = self._last = 0.0
        self._state: dict[str, Any] = {
            "state": "starting", "attempt": ATTEMPT, "pid": os.getpid(), "can_resume": False,
            "trained_seconds": 0.0, "learning_rate_multiplier": 1.0, "max_steps_per_second": None,
        }  # fmt: skip
        self._rate: Number = self.optimizer.param_groups[0]["lr"]
        self._rates: list[Number] = []  # those that the loop has given the optimizer's groups
        self._norm: Number | None = None
        self._norm_is_told, self._norm_at = False, -math.inf
        self._is_recorded = False  # by the allocator of a GPU
        self._owed: list[tuple[Any, ...]] = []
        self._error_before = getattr(sys, "last_value", None)  # of a notebook: not this run's
        self.directory = Path(runs or os.environ.get("B2G_RUNS_DIR", "runs")) / _run_name(name)
        num_steps = num_steps if num_steps and 0 < num_steps < math.inf else None
        self._begin({"name": name, "num_steps": num_steps, "tokens_per_step": tokens_per_step})

    def step(self, loss: Number, grad_norm: Number | None = None, step: int | None = None) -> bool:
        """Note a step that is done, and wait while the run is paused; False: the loop should end.

        `grad_norm`: what `clip_grad_norm_` returned; without it the norm is measured just before
        the update, after any clipping, five times a second at most. `step`: its number, where not
        every step is told.
        """
        if not self._lock.is_locked:
            return not self.should_stop
        now, number = time.perf_counter(), self._step + 1 if step is None else step
        self._write_snapshot()
        loss = _own_part(loss.detach()) if isinstance(loss, torch.Tensor) else loss
        if any(each.is_partial() for each in getattr(grad_norm, "placements", ())):
            grad_norm = None  # only all processes together could tell
        seconds = max(now - self._last, 1e-9)
        rate = (self._tokens or math.nan) * (number - self._step) / seconds
        if grad_norm is not None:
            self._norm, self._norm_is_told = _own_part(grad_norm), True
        self._owed.append((number, self._now(), seconds, loss, self._rate, self._norm, rate))
        self._step, self._norm = number, None
        self._state["trained_seconds"] += seconds
        with self._disk():
            # Short steps are written down together, and a GPU is not waited for at each of them.
            wait = TELL_SECONDS if self._device.type == "cpu" else LOOK_SECONDS
            if len(self._owed) >= MOST_OWED or now - self._told_at >= wait:
                self._tell()
            self._listen()
        self._last = time.perf_counter()
        return not self.should_stop

    def validation(self, loss: Number) -> None:
        """Note the loss on text that is not trained on; what it took is no part of a step."""
        self._event("eval", validation_loss=float(loss))
        self._last = time.perf_counter()

    def sample(self, text: str, prompt: str = "") -> None:
        """Note what the model writes after a prompt; what it took is no part of a step."""
        self._event("sample", prompt=prompt, text=text)
        self._last = time.perf_counter()

    def close(self, error: BaseException | None = None) -> None:
        """End the run; at the end of the program this happens by itself."""
        if not self._lock.is_locked:
            return
        if error is None and (noted := getattr(sys, "last_value", None)) is not self._error_before:
            error = noted  # Python's own note of what has ended the program
        with self._disk():
            self._tell()
            if self.should_stop or isinstance(error, KeyboardInterrupt):
                self._change("stopped")
            elif error is not None:
                self._change("failed", f"{type(error).__name__}: {error}"[:500])
            else:
                self._change("finished")
        self._end()

    def __enter__(self) -> "Watch":
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        self.close(error)

    # What is written down.

    def _begin(self, config: dict[str, Any]) -> None:
        self._lock = FileLock(self.directory / "worker.lock", thread_local=False)
        if _rank() > 0:
            return
        (self.directory / "control").mkdir(parents=True)
        self._lock.acquire(timeout=0)  # as long as it is held the run lives
        self._metrics = (self.directory / "metrics.bin").open("ab", buffering=0)
        self._events = (self.directory / "events.jsonl").open("ab", buffering=0)
        self._hooks = [
            self.optimizer.register_step_pre_hook(self._before_update),
            self.optimizer.register_step_post_hook(self._after_update),
        ]
        atexit.register(self.close)
        self._last = self._told_at = time.perf_counter()
        self._append(self._metrics, HEADER)
        config["optimizer"] = type(self.optimizer).__name__.lower()
        self._replace("run.json", self._description(config))
        self._change("running")

    def _description(self, config: dict[str, Any]) -> dict[str, Any]:
        weights = self._weights
        on_cuda = self._device.type == "cuda"
        name = torch.cuda.get_device_name(self._device) if on_cuda else platform.processor()
        dtypes = " and ".join(sorted({str(p.dtype).removeprefix("torch.") for p in weights}))
        # Activations depend on what the loop will feed: of them nothing is predicted.
        memory = {
            "weights": _num_bytes([*weights, *self.model.buffers()]),
            "gradients": _num_bytes(p for p in weights if p.requires_grad),
            "optimizer": predicted_state_bytes(self.optimizer),
        }
        return {
            "format_version": 1, "source": "watch",
            "name": self.directory.name, "created": self._now(),
            "config": {key: value for key, value in config.items() if value is not None},
            "resolved": {"device": self._device.type, "device_name": name, "precision": dtypes},
            "prediction": {"num_params": sum(p.numel() for p in weights), "memory": memory},
            "versions": {"torch": torch.__version__, "python": platform.python_version()},
        }  # fmt: skip

    def _tell(self) -> None:
        """Write the steps down whose numbers were still owed, and now and then the state."""
        self._told_at = time.perf_counter()
        for number, moment, seconds, loss, learning_rate, norm, rate in self._owed:
            known = [float(each) for each in (loss, norm) if each is not None]
            flags = 0 if all(map(math.isfinite, known)) else NON_FINITE
            numbers = (seconds, known[0], learning_rate, *[*known, math.nan][1:2], rate)
            fields = FIELDS.pack(number, moment, *numbers, self._resident_bytes(), ATTEMPT, flags)
            self._append(self._metrics, fields + CHECKSUM.pack(zlib.crc32(fields)))
        self._owed.clear()
        if self._told_at - self._state_at > STATE_SECONDS:
            self._write_state()

    def _event(self, kind: str, at: int | None = None, **data: object) -> None:
        if not self._lock.is_locked:
            return
        place = {"seq": self._seq, "time": self._now(), "step": self._step if at is None else at}
        event = {**place, "attempt": ATTEMPT, "kind": kind, **data}
        with self._disk():
            self._append(self._events, _json(event) + b"\n")
        self._seq += 1

    def _change(self, state: str, message: str = "") -> None:
        if state != self._state["state"]:
            self._event("state", state=state, reason="", message=message)
        self._state |= {"state": state, "message": message}
        self._write_state()

    def _write_state(self) -> None:
        self._state_at = time.perf_counter()
        now = {"step": self._step, "time": self._now(), "resident_bytes": self._resident_bytes()}
        self._replace("state.json", {**self._state, **now})

    def _replace(self, file: str, content: dict[str, Any]) -> None:
        if not self._lock.is_locked:
            return
        temporary = self.directory / f"{file}.{os.getpid()}.tmp"
        temporary.write_bytes(_json(content))
        for _try in range(20):
            with contextlib.suppress(PermissionError):  # Windows, while somebody reads it
                temporary.replace(self.directory / file)
                break
            time.sleep(0.01)

    def _append(self, file: Any, part: bytes) -> None:  # noqa: ANN401  an open file
        if self._lock.is_locked and file.write(part) != len(part):
            raise OSError("the disk is full")

    @contextlib.contextmanager
    def _disk(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            if self._lock.is_locked:
                warnings.warn(f"{self.directory} is no longer written: {error}", stacklevel=4)
                self._end()

    def _end(self) -> None:
        atexit.unregister(self.close)
        for hook in self._hooks:
            hook.remove()
        self._metrics.close()
        self._events.close()
        self._lock.release()

    def _now(self) -> float:
        self._wall = max(self._wall, time.time())  # a clock may be set back
        return self._wall

    def _resident_bytes(self) -> int:
        if (now := time.monotonic()) - self._resident_at > RESIDENT_SECONDS:
            self._resident, self._resident_at = resident_bytes(), now
        return self._resident

    # What happens at the update: there the gradients are, wherever the loop clears them.

    def _before_update(
        self, _optimizer: object, arguments: tuple[object, ...], named: dict[str, object]
    ) -> None:
        groups, factor = self.optimizer.param_groups, self._state["learning_rate_multiplier"]
        self._rates = [group["lr"] for group in groups]
        if factor != 1:  # for this update alone, so that no scheduler sees it
            for group in groups:
                group["lr"] = group["lr"] * factor
        self._rate = groups[0]["lr"]
        # A closure makes its gradients within the update: they are there only behind it.
        self._has_closure = any(map(callable, [*arguments[1:], *named.values()]))
        if not self._has_closure:
            self._measure_norm()

    def _after_update(self, *_arguments: object) -> None:
        for group, rate in zip(self.optimizer.param_groups, self._rates, strict=True):
            group["lr"] = rate
        if self._has_closure:
            self._measure_norm()
        upcoming, every = self._step + 1, self._memory_every
        if upcoming >= self._memory_due:  # a loop may tell of only some of its steps
            self._memory_due = (upcoming // every + 1) * every
            self._event("memory", upcoming, **self._memory())

    def _measure_norm(self) -> None:
        now = time.perf_counter()
        if not self._norm_is_told and now - self._norm_at >= NORM_SECONDS:
            self._norm_at = now
            grads = self._gradients()
            dense = grads and all(grad.layout == torch.strided for grad in grads)
            self._norm = _total_norm(grads) if dense and not self._is_sharded else None

    def _gradients(self) -> list[torch.Tensor]:
        return [p.grad for p in self._weights if p.grad is not None]

    def _memory(self) -> dict[str, Any]:
        on_cuda = self._device.type == "cuda"
        return {
            "weights": _num_bytes([*self._weights, *self.model.buffers()]),
            "gradients": _num_bytes(self._gradients()),
            "optimizer": _state_bytes(self.optimizer),
            **dict.fromkeys(("activations", "other")),  # nobody has watched them
            "peak": torch.cuda.max_memory_allocated(self._device) if on_cuda else None,
            "resident_bytes": resident_bytes(),
            "source": "allocator" if on_cuda else "tensors",
        }

    def _write_snapshot(self) -> None:
        """Write what the allocator did since it was asked for, which was a step."""
        if not self._is_recorded:
            return
        self._is_recorded, memory = False, torch.cuda.memory
        part = self.directory / "memory-snapshot.part"
        with self._disk():
            memory._dump_snapshot(str(part))
            part.replace(self.directory / "memory-snapshot.pickle")
        memory._record_memory_history(enabled=None)
        part.unlink(missing_ok=True)  # what a full disk took of it

    # What the page asks for.

    def _listen(self) -> None:
        """Follow the commands that came, and wait as long as no step is due."""
        self._obey()
        if self._state["state"] == "paused":  # behind this step comes nothing that tells of it
            self._tell()
            self._write_state()
        while not self.should_stop and not self._is_due():
            time.sleep(IDLE_SECONDS)
            self._obey()
        self._single_steps = max(self._single_steps - 1, 0)

    def _is_due(self) -> bool:
        if self._state["state"] == "paused":
            return self._single_steps > 0
        most = self._state["max_steps_per_second"]
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
            self._tell()
            op, value, refusal = self._read(number)
            if not refusal:
                self._follow(op, value)
            answer = {"op": op, "value": value, "accepted": not refusal, "reason": refusal}
            self._event("ack", self._step + op.startswith("set_"), command=number, **answer)
            self._write_state()

    def _read(self, number: int) -> tuple[str, float | None, str]:
        """Return what is asked for, its value, and why it cannot be done."""
        try:
            command = json.loads((self.directory / "control" / f"{number:06d}.json").read_bytes())
            op, value = str(command["op"]), command.get("value")
            value = None if value is None else float(value)
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            return "", None, f"{type(error).__name__}: {error}"
        is_known = op == "snapshot" and self._device.type == "cuda"
        if not is_known and op not in STATE_AFTER and op not in LIMITS:
            return op, value, "a loop of its own has nothing of that kind"
        if op in SHARED and _rank() >= 0:
            return op, value, "the other processes of this loop would not do it"
        low, high = LIMITS.get(op, (-math.inf, math.inf))
        if value is not None and not low <= value <= high:
            return op, None, f"{op} takes a number from {low:g} to {high:g}"
        return op, value, ""

    def _follow(self, op: str, value: float | None) -> None:
        if op in LIMITS:
            self._state[op.removeprefix("set_")] = value
            return
        if op == "snapshot":
            self._is_recorded = True
            torch.cuda.memory._record_memory_history(max_entries=MOST_RECORDED)
            return
        self.should_stop = op == "stop" or (self.should_stop and op != "resume")
        self._single_steps = self._single_steps + 1 if op == "step" else 0
        self._change(STATE_AFTER[op])


def predicted_state_bytes(optimizer: torch.optim.Optimizer) -> int | None:
    """Return the bytes of an optimizer's states, before it has any; None where nobody can tell.

    Its own class makes one update of tensors without data, and what it keeps is counted.
    """
    groups = []
    for group in optimizer.param_groups:
        twins = [torch.empty_like(_own_part(p), device="meta") for p in group["params"]]
        for twin, original in zip(twins, group["params"], strict=True):
            if original.requires_grad:
                twin.requires_grad_().grad = torch.empty_like(twin)
        settings = {key: value for key, value in group.items() if key != "param_names"}
        plain = dict.fromkeys({"fused", "foreach", "capturable"} & group.keys(), False)
        groups.append({**settings, **plain, "params": twins})
    try:
        kind: Any = type(optimizer)
        twin_optimizer = kind(groups)
        twin_optimizer.step()
    except (AttributeError, RuntimeError, TypeError, ValueError):
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


def _rank() -> int:
    """Return which of several processes this is; -1 where it is the only one."""
    group = torch.distributed
    is_alone = not group.is_available() or not group.is_initialized() or group.get_world_size() == 1
    return -1 if is_alone else group.get_rank()


def _total_norm(grads: list[torch.Tensor]) -> torch.Tensor:
    if grads[0].device.type != "cpu":
        return torch.nn.utils.get_total_norm(grads)
    # On a CPU half as long as torch's own, which sorts them by device first.
    norms = [torch.linalg.vector_norm(grad) for grad in grads]
    norm: torch.Tensor = torch.linalg.vector_norm(torch.stack(norms))
    return norm


def _num_bytes(tensors: Iterable[torch.Tensor]) -> int:
    return sum(each.numel() * each.element_size() for each in map(_own_part, tensors))


def _own_part(value: Any) -> Any:  # noqa: ANN401  a number or a tensor
    """Return what this process has of a tensor that is spread over several."""
    with torch.no_grad():
        return value.to_local() if hasattr(value, "to_local") else value


def _state_bytes(optimizer: torch.optim.Optimizer) -> int:
    kept = (each for state in optimizer.state.values() for each in state.values())
    return _num_bytes(each for each in kept if isinstance(each, torch.Tensor))


def _json(content: dict[str, Any]) -> bytes:
    """Return strict JSON: a number that is not finite becomes null."""
    told = {
        key: None if isinstance(value, float) and not math.isfinite(value) else value
        for key, value in content.items()
    }
    return json.dumps(told, ensure_ascii=False).encode("utf-8", "replace")


def _run_name(title: str) -> str:
    slug = re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")[:40].strip("-") or "run"
    return f"{time.strftime('%Y%m%dt%H%M%Sz', time.gmtime())}-{slug}-{secrets.token_hex(2)}"
