"""One run in several processes: torch's DDP or FSDP2 under the same trainer.

Rank 0 leads: it tells the others, once a step, what comes and at which rate; they `follow`. So a
pause, a stop or a new rate counts at the same step everywhere, and only rank 0 hears of them.
Each rank takes its part of every batch; the gradients and the losses are those of the whole.
"""

import math
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from datetime import timedelta
from typing import Any, Final, Self, cast

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.distributed.device_mesh import DeviceMesh
from torch.distributed.fsdp import FSDPModule, fully_shard
from torch.distributed.tensor import DTensor, Replicate, distribute_tensor
from torch.nn.parallel import DistributedDataParallel
from torch.profiler import ProfilerActivity, profile
from torch.utils._pytree import tree_map_only

from core.train.config import JSON
from core.train.learning.memory_watch import MemoryWatch
from core.train.learning.model import Model, make_model
from core.train.learning.trainer import Forward, LaunchedStep, Trainer

WAIT_FOR_ORDERS: Final = timedelta(days=30)  # a class may pause a run over a holiday
WAIT_FOR_NUMBERS: Final = timedelta(minutes=10)  # within a step no rank is that much slower

# What rank 0 tells the others.
_END, _STEP, _MEASURED_STEP, _VALIDATE, _CHECK, _GATHER, _GATHER_ALL, _TAKE = range(8)
_LOST_WORDS: Final = ("gloo", "nccl", "connection closed", "connection reset", "timed out")


def meet(seconds: float) -> None:
    """Wait until all ranks are there; torchrun has told each where.

    Raises:
        RuntimeError: They are not within so many seconds.
    """
    dist.init_process_group("gloo", timeout=timedelta(seconds=seconds))


def is_lost(error: RuntimeError) -> bool:
    """Say whether an error tells that another rank is gone."""
    text = str(error).lower()
    return isinstance(error, dist.DistError) or any(words in text for words in _LOST_WORDS)


class Line:
    """The wire from rank 0 to the others: a few numbers an order, whole objects at the start."""

    def __init__(self) -> None:
        self._group = dist.new_group(backend="gloo", timeout=WAIT_FOR_ORDERS)

    def order(self, what: int, *numbers: float) -> None:
        """Tell all others what to do next."""
        told = torch.tensor([what, *numbers, 0.0, 0.0][:3], dtype=torch.float64)
        dist.broadcast(told, src=0, group=self._group)

    def hear(self) -> tuple[int, float, float]:
        """Wait for rank 0's next order: what, and two numbers."""
        told = torch.zeros(3, dtype=torch.float64)
        dist.broadcast(told, src=0, group=self._group)
        what, first, second = told.tolist()
        return int(what), first, second

    def share(self, thing: object = None) -> Any:  # noqa: ANN401  whatever rank 0 gives
        """Return what rank 0 gave: torch's own way of sending objects, between ranks of one run."""
        held = [thing]
        dist.broadcast_object_list(held, src=0, group=self._group)
        return held[0]

    def collect(self, thing: JSON) -> list[JSON]:
        """Return on rank 0 what every rank gave, in their order; elsewhere nothing."""
        leads = dist.get_rank() == 0
        found: list[Any] | None = [None] * dist.get_world_size() if leads else None
        dist.gather_object(thing, found, dst=0, group=self._group)
        return found or []


class RankTrainer(Trainer):
    """A trainer that is one rank of several; until `spread` it is like any other."""

    may_burst = False

    def spread(self, line: Line, sharding: str) -> Self:
        """Give all ranks the state of rank 0, then join them: from here on none steps alone."""
        self.rank, self.count = dist.get_rank(), dist.get_world_size()
        self._line, self._sharding, self._is_sharded = line, sharding, sharding == "fsdp2"
        self._memory: JSON | None = None  # of the step before, if that was watched
        self._part_weight = 1.0
        self._module: nn.Module = self.model  # what joins the gradients
        backend = "nccl" if self.device.type == "cuda" else "gloo"
        self._group = dist.new_group(backend=backend, timeout=WAIT_FOR_NUMBERS)
        state = self._line.share(_state_of(self) if self.rank == 0 else None)
        if self._is_sharded:
            self._shard()
        else:
            whole = cast("nn.Module", self.forward)
            self._module = DistributedDataParallel(
                whole, process_group=self._group, gradient_as_bucket_view=True
            )
        self.forward = self._part_of_the_loss
        self._take(state)
        return self

    def _shard(self) -> None:
        """Leave each rank its piece of every weight."""
        mesh = DeviceMesh.from_group(self._group, self.device.type)
        whole = dict(self.model.named_parameters())
        for block in self.model.blocks:
            fully_shard(block, mesh=mesh)
        # The rest too is given back after the forward pass: each weight is gathered twice a pass.
        fully_shard(self.model, mesh=mesh, reshard_after_forward=True)
        self._module = self.model
        pieces = {whole[name]: piece for name, piece in self.model.named_parameters()}
        for group in self.optimizer.param_groups:
            group["params"] = [pieces[weight] for weight in group["params"]]
        self._mesh = mesh

    def _take(self, state: JSON) -> None:
        """Take on a whole state, of which a sharded model keeps its pieces."""
        with torch.no_grad():
            for name, weight in self.model.named_parameters():
                weight.copy_(_piece_like(state["model"][name], weight))
        self.optimizer.state.clear()
        weights = [weight for group in self.optimizer.param_groups for weight in group["params"]]
        for number, held in state["optimizer"]["state"].items():
            like = weights[number]
            self.optimizer.state[like] = {
                name: _piece_like(value, like) if torch.is_tensor(value) else value
                for name, value in held.items()
            }
        if self.scaler:
            self.scaler.load_state_dict(state["scaler"])
        self.step = state["step"]

    def alone(self) -> Trainer:
        """Return on rank 0 a trainer that has the whole model."""
        training, validation = self.training.cpu().numpy(), self.validation.cpu().numpy()
        return Trainer(
            self.config, training, validation, self.vocab_size, self.device, in_bursts=False
        )

    def take(self, alone: Trainer) -> None:
        """Give all ranks the state of a trainer of rank 0."""
        self._line.order(_TAKE)
        self._take(self._line.share(_state_of(alone)))
        self.trained_seconds = alone.trained_seconds

    def _part_of_the_loss(self, token_ids: Tensor, targets: Tensor) -> Tensor:
        loss: Tensor = self._module(token_ids, targets)
        return loss if self._part_weight == 1 else loss * self._part_weight

    def _batches(self, step: int) -> Iterator[tuple[Tensor, Tensor]]:
        """Yield this rank's sequences of each pass; torch joins the gradients in the last one."""
        if self.config.dropout:  # the ranks' sequences differ, and so do their chances
            torch.manual_seed(torch.initial_seed() + self.rank)
        passes = self.config.accumulation_steps
        for number, (token_ids, targets) in enumerate(super()._batches(step), 1):
            self._join_gradients(is_last=number == passes)
            parts = (self.rank, self.rank + 1)
            first, end = (len(token_ids) * part // self.count for part in parts)
            # torch takes the mean over ranks: a rank with more sequences counts for more.
            self._part_weight = self.count * (end - first) / len(token_ids)
            yield token_ids[first:end], targets[first:end]

    def _join_gradients(self, *, is_last: bool) -> None:
        if isinstance(self._module, FSDPModule):
            self._module.set_requires_gradient_sync(is_last)
        else:
            self._module.require_backward_grad_sync = is_last  # type: ignore[assignment]

    def _gradients(self, step: int, forward: Forward) -> tuple[Tensor, ...]:
        del forward  # also of a watched step: what joins the gradients is around the model
        *losses, norm = super()._gradients(step, self.forward)
        joined = torch.stack(losses)
        dist.all_reduce(joined, group=self._group)
        whole = norm.full_tensor() if isinstance(norm, DTensor) else norm
        return (*(joined / self.count), whole)

    def _clip(self, norm: Tensor) -> None:
        if not self._is_sharded:
            super()._clip(norm)
            return
        most = self.config.grad_clip or math.inf
        everywhere = DTensor.from_local(norm, self._mesh, [Replicate()])
        torch.nn.utils.clip_grads_with_norm_(self.model.parameters(), most, everywhere)

    def is_finite(self) -> bool:
        """Say whether every weight is finite, on whichever rank; also misses who was lost."""
        if self.rank == 0:
            self._line.order(_CHECK)
        return not any(self._are_bad(list(self.model.parameters())))

    def _first_bad(self) -> str:
        """Name the weight where it began, whichever rank has it."""
        names, weights = zip(*self.model.named_parameters(), strict=True)
        bad = self._are_bad(list(weights))
        of_weights = (name for name, is_bad in zip(names, bad, strict=True) if is_bad)
        bad = self._are_bad([weight.grad for weight in weights])
        # The backward pass comes from the output and carries a bad number on towards the input.
        both = reversed(list(zip(names, bad, strict=True)))
        return next(of_weights, next((name for name, is_bad in both if is_bad), ""))

    def _are_bad(self, tensors: Sequence[Tensor | None]) -> list[bool]:
        bad = torch.tensor(
            [_has_bad(tensor) for tensor in tensors], dtype=torch.uint8, device=self.device
        )
        dist.all_reduce(bad, op=dist.ReduceOp.MAX, group=self._group)
        return [bool(each) for each in bad.tolist()]

    def launch_step(self, watch: AbstractContextManager[object] | None = None) -> LaunchedStep:
        """Do one step with all ranks; the one behind a watched step tells how they spoke."""
        what = _STEP if watch is None else _MEASURED_STEP
        self._line.order(what, self.learning_rate_multiplier, self.trained_seconds)
        return self._step_together(watch)

    def _step_together(self, watch: AbstractContextManager[object] | None) -> LaunchedStep:
        if watch is None and self._memory is not None:
            return self._step_and_tell(self._memory)
        in_eager = self.config.compile and watch is not None  # compiled kernels hide their tensors
        with torch.compiler.set_stance("force_eager") if in_eager else nullcontext():
            launched = super().launch_step(watch)
        if isinstance(watch, MemoryWatch):
            self._memory, self.tells_next = watch.result.to_json(), True
        return launched

    def _step_and_tell(self, memory: JSON) -> LaunchedStep:
        """Do a step whose communication is measured, and let rank 0 know of every rank."""
        watch, self._memory, self.tells_next = CommunicationWatch(self.device), None, False
        launched = super().launch_step(watch)
        row = {"rank": self.rank, "count": self.count, "sharding": self._sharding}
        self.rows += self._line.collect({**row, **memory, **watch.result})
        return launched

    def validation_loss(self) -> float:
        """Return the mean loss over fixed places; of a sharded model all ranks compute the same."""
        if self._is_sharded and self.rank == 0:
            self._line.order(_VALIDATE)
        return super().validation_loss()

    def weights(self) -> JSON:
        """Return the whole weights by name, as one process has them; on rank 0."""
        return self._gathered(_GATHER, self.model)

    def optimizer_state(self) -> JSON:
        """Return the whole state of the optimizer, as one process has it; on rank 0."""
        return self._gathered(_GATHER_ALL, self.optimizer)

    def _gathered(self, order: int, of: nn.Module | torch.optim.Optimizer) -> JSON:
        if self.rank == 0:
            self._line.order(order)
        state: JSON = tree_map_only(DTensor, lambda it: it.full_tensor().cpu(), of.state_dict())
        return state

    def whole_model(self) -> Model:
        """Return a model that rank 0 can use alone: its own, or one made of all pieces."""
        if not self._is_sharded:
            return self.model
        model = make_model(self.config, self.vocab_size, self.device)
        model.load_state_dict(self.weights())
        return model

    def dismiss(self) -> None:
        """Let the others end."""
        self._line.order(_END)

    def follow(self) -> None:
        """Do what rank 0 orders until it dismisses this rank."""
        orders: dict[int, Callable[[], object]] = {
            _STEP: self._follow_step,
            _MEASURED_STEP: lambda: self._follow_step(
                MemoryWatch(self.model, self.optimizer, (self.training, self.validation))
            ),
            _VALIDATE: self.validation_loss,
            _CHECK: self.is_finite,
            _GATHER: self.weights,
            _GATHER_ALL: self.optimizer_state,
            _TAKE: lambda: self._take(self._line.share()),
        }
        while True:
            what, multiplier, seconds = self._line.hear()
            if what == _END:
                return
            if what in (_STEP, _MEASURED_STEP):
                self.learning_rate_multiplier, self.trained_seconds = multiplier, seconds
            orders[what]()

    def _follow_step(self, watch: MemoryWatch | None = None) -> None:
        self.read_steps([self._step_together(watch)])


class CommunicationWatch:
    """A context of one step; `result` says how long it took, and how long ranks spoke in it.

    Counted are the seconds in which at least one of torch's collectives was under way, waiting for
    slower ranks included; some of them lie behind the computing of the backward pass.
    """

    result: JSON

    def __init__(self, device: torch.device) -> None:
        on_cuda = [ProfilerActivity.CUDA] if device.type == "cuda" else []
        self._profile = profile(activities=[ProfilerActivity.CPU, *on_cuda])
        self._device = device

    def __enter__(self) -> Self:
        self._profile.__enter__()
        self._began = time.perf_counter()
        return self

    def __exit__(self, *error: object) -> None:
        if self._device.type == "cuda":
            torch.cuda.synchronize()
        seconds = time.perf_counter() - self._began
        self._profile.__exit__(*error)
        spans = sorted(
            (event.time_range.start, event.time_range.end)
            for event in self._profile.events() or ()
            if event.name.startswith(("gloo:", "ncclDevKernel"))
        )
        self.result = {"step_seconds": seconds, "communication_seconds": _covered(spans) / 1e6}


def _covered(spans: list[tuple[float, float]]) -> float:
    """Return the length of what sorted spans cover together.

    >>> _covered([(0.0, 2.0), (1.0, 3.0), (5.0, 6.0)])
    4.0
    """
    total, reached = 0.0, -math.inf
    for start, end in spans:
        total += max(end - max(start, reached), 0.0)
        reached = max(reached, end)
    return total


def _state_of(trainer: Trainer) -> JSON:
    """Return what the ranks have in common, in this process's memory."""
    scaler = trainer.scaler.state_dict() if trainer.scaler else None
    state = {"model": trainer.model.state_dict(), "optimizer": trainer.optimizer.state_dict()}
    here: JSON = tree_map_only(Tensor, lambda tensor: tensor.cpu(), state)
    return {**here, "scaler": scaler, "step": trainer.step}


def _piece_like(whole: Tensor, weight: Tensor) -> Tensor:
    """Return what this rank keeps of a tensor that belongs to a weight, where the weight is."""
    whole = whole.to(weight.device)
    if not isinstance(weight, DTensor) or whole.shape != weight.shape:
        return whole
    # Every rank holds the whole: nothing has to be sent.
    return distribute_tensor(whole, weight.device_mesh, weight.placements, src_data_rank=None)


def _has_bad(tensor: Tensor | None) -> bool:
    if tensor is None:
        return False
    held = tensor.to_local() if isinstance(tensor, DTensor) else tensor
    return not bool(torch.isfinite(held).all())
