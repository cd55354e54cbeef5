"""One training step, without files: batch, forward, backward, clip, the optimizer's update."""

import math
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
import torch
from torch import Tensor
from torch.amp import GradScaler

from core.train.config import TrainConfig
from core.train.learning.mistakes import divisor_of, starts_of
from core.train.learning.model import Model, make_model
from core.train.learning.optimizers import OPTIMIZERS, make_optimizer
from core.train.learning.precision import compute_in
from core.train.learning.schedule import (
    Positions,
    chance_of_step,
    scheduled_learning_rate,
    validation_positions,
)
from core.train.text.dataset import Dataset
from core.train.text.tokenizers import Tokens

During = Callable[[str], AbstractContextManager[object]]

Forward = Callable[[Tensor, Tensor], Tensor]  # token ids and targets to the mean loss


@dataclass(frozen=True, kw_only=True, slots=True)
class StepResult:
    """What a step did.

    Attributes:
        loss: Mean cross-entropy before the update, in nats per token.
        learning_rate: As used, the live multiplier included.
        grad_norm: Norm of all gradients before clipping.
        skipped: True if the weights were left alone because a number was not finite.
        tensor: Where the first number went bad: a weight that is not finite, or else the weight
            nearest the output whose gradient is not; "" if all are finite.
        overflowed: True if fp16's gradients passed its range: no weight changed, and the loss is
            scaled less from the next step on.
    """

    step: int
    loss: float
    learning_rate: float
    grad_norm: float
    seconds: float
    skipped: bool
    tensor: str
    overflowed: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class LaunchedStep:
    """A step that the device was told to do; its numbers may not be there yet.

    Attributes:
        numbers: The loss of each accumulation pass, then the gradient norm.
        began, ended: perf_counter seconds; it ends when its last operation was launched.
        scale: What fp16's loss was multiplied by; None in other precisions.
    """

    step: int
    learning_rate: float
    numbers: tuple[Tensor, ...]
    began: float
    ended: float
    scale: Tensor | None = None


class Trainer:
    """A model, its optimizer and its text on one device.

    On an accelerator nothing waits for the device within a step: the numbers stay there until
    `read_steps`. A loss or gradient that is not finite halts the weights on the device itself;
    the steps launched after it are taken back when the numbers are read.

    Args:
        config: The run; its precision is resolved, not "auto".
        training: (num_tokens,) ids to learn from.
        validation: (num_tokens,) ids to be tested on.
        in_bursts: Whether numbers stay on the device; by default on CUDA only.
    """

    may_burst: ClassVar = True  # whether that is the default at all

    def __init__(
        self,
        config: TrainConfig,
        training: Tokens,
        validation: Tokens,
        vocab_size: int,
        device: torch.device,
        *,
        in_bursts: bool | None = None,
    ) -> None:
        torch.manual_seed(config.seed)
        self.config = config
        self.device = device
        self.training = _on_device(training, device)
        self.validation = _on_device(validation, device)
        self.vocab_size = vocab_size
        self.model = make_model(config, vocab_size, device)
        # What gives the loss; its weights are the model's, whatever is made of it.
        self.forward: Forward = self.model
        if config.compile:
            self.forward = torch.compile(self.model)
        wanted = self.may_burst and device.type == "cuda" if in_bursts is None else in_bursts
        halts_itself = OPTIMIZERS[config.optimizer].halts_itself and config.precision != "pure_fp16"
        self.in_bursts = wanted and halts_itself
        rate_on = device if self.in_bursts else None
        self.optimizer = make_optimizer(self.model, config, rate_on=rate_on)
        self.scaler = GradScaler(device.type) if config.precision == "fp16" else None
        # Surrounds each part of a step: "data", "forward", "backward", "clip", "optimizer".
        self.during: During = nullcontext
        self.step = 0
        self.learning_rate_multiplier = 1.0
        self.trained_seconds = 0.0  # kept by whoever drives it; a time limit is measured by it
        self.tells_next = False  # whether the next step is measured otherwise: of several ranks
        self.rows: list[dict[str, Any]] = []  # what ranks told of a step, until somebody takes them
        self._halted = torch.zeros((), device=device)  # 1 once a number was not finite

    @classmethod
    def of(
        cls,
        config: TrainConfig,
        dataset: Dataset,
        device: torch.device,
        *,
        in_bursts: bool | None = None,
    ) -> Self:
        """Return a fresh trainer of a text."""
        texts = dataset.training_tokens, dataset.validation_tokens
        size = dataset.tokenizer.vocab_size
        return cls(config, *texts, size, device, in_bursts=in_bursts)

    def start_again(self) -> None:
        """Take on the weights and the empty optimizer of the first step."""
        torch.manual_seed(self.config.seed)
        fresh = make_model(self.config, self.vocab_size, self.device)
        self.model.load_state_dict(fresh.state_dict())
        self.optimizer.state.clear()
        self.optimizer.zero_grad(set_to_none=True)
        if self.scaler:
            self.scaler = GradScaler(self.device.type)
        self.step, self.trained_seconds, self.learning_rate_multiplier = 0, 0.0, 1.0

    def is_finite(self) -> bool:
        """Say whether every weight is a finite number."""
        return all(_is_finite(weight) for weight in self.model.parameters())

    def train_step(self, watch: AbstractContextManager[object] | None = None) -> StepResult:
        """Do one optimizer step, within `watch` if one is given; return what happened."""
        return self.read_steps([self.launch_step(watch)])[0]

    def launch_step(self, watch: AbstractContextManager[object] | None = None) -> LaunchedStep:
        """Do one optimizer step as `train_step` does; its numbers are given by `read_steps`."""
        began = time.perf_counter()
        step = self.step + 1
        rate = scheduled_learning_rate(self.config, step, self.trained_seconds)
        rate *= self.learning_rate_multiplier
        for group in self.optimizer.param_groups:
            if isinstance(group["lr"], float):
                group["lr"] = rate
            else:
                group["lr"].fill_(rate)  # in its turn: steps already launched keep theirs
        scale = self.scaler.scale(torch.ones((), device=self.device)) if self.scaler else None
        # Compiled kernels hide their tensors: what is watched is the model as it is written.
        forward = self.model if watch else self.forward
        with watch or nullcontext():
            numbers = self._gradients(step, forward)
            self._update(numbers)
        self.step = step
        ended = time.perf_counter()
        return LaunchedStep(
            step=step, learning_rate=rate, numbers=numbers, began=began, ended=ended, scale=scale
        )

    def _update(self, numbers: tuple[Tensor, ...]) -> None:
        """Change the weights, unless a number is not finite; let fp16's scale follow."""
        if not self.in_bursts:
            if all(math.isfinite(number.item()) for number in numbers):
                self._clip(numbers[-1])
                self._move()
        else:
            self._clip(numbers[-1])
            halting = numbers[:-1] if self.scaler else numbers  # a norm that overflows only skips
            self._halted = torch.maximum(self._halted, _are_bad(halting))
            # The fused kernel leaves the weights alone while this is 1: the switch of GradScaler.
            skip = torch.maximum(self._halted, _are_bad(numbers))
            self.optimizer.found_inf = skip  # type: ignore[attr-defined]
            self._move()
        if self.scaler:
            self.scaler.update()

    def read_steps(self, launched: Sequence[LaunchedStep]) -> tuple[StepResult, ...]:
        """Return what the steps did, in their order, up to the first that was not finite.

        The steps launched behind that one never count: the trainer stands at it again.
        """
        table = torch.stack([torch.stack(each.numbers) for each in launched]).tolist()
        elapsed = max(time.perf_counter() - launched[0].began, 1e-9)
        results: list[StepResult] = []
        for each, (*losses, norm) in zip(launched, table, strict=True):
            seconds = elapsed / len(launched) if self.in_bursts else each.ended - each.began
            loss_is_bad, norm_is_bad = not math.isfinite(sum(losses)), not math.isfinite(norm)
            result = StepResult(
                step=each.step,
                loss=sum(losses),
                learning_rate=each.learning_rate,
                grad_norm=norm,
                seconds=seconds,
                skipped=loss_is_bad or (norm_is_bad and self.scaler is None),
                tensor="",
                overflowed=norm_is_bad and not loss_is_bad and self.scaler is not None,
            )
            if result.skipped:
                return (*results, self._halt(result, each.scale))
            results.append(result)
        return tuple(results)

    def _halt(self, result: StepResult, scale: Tensor | None) -> StepResult:
        """Go back to a step whose weights were left alone, and name its first bad gradient."""
        if self.in_bursts:
            self.step = result.step
            self._halted.zero_()
            self._gradients(result.step, self.forward)  # later steps have overwritten them
        if self.scaler:
            self.scaler.update(scale)  # a loss that is no number says nothing about the scale
        return replace(result, tensor=self._first_bad())

    def _first_bad(self) -> str:
        """Name the weight where it began; the gradients have not been clipped."""
        named = list(self.model.named_parameters())
        weights = (name for name, weight in named if not _is_finite(weight))
        # The backward pass comes from the output and carries a bad number on towards the input.
        gradients = (name for name, weight in reversed(named) if not _is_finite(weight.grad))
        return next(weights, next(gradients, ""))

    def _gradients(self, step: int, forward: Forward) -> tuple[Tensor, ...]:
        """Leave the step's mean gradients in the weights; return the losses and their norm.

        They are not clipped yet: that would spread one bad number over all of them.
        """
        if self.config.mistake != "no_zero_grad":
            self.optimizer.zero_grad(set_to_none=True)
        if self.config.dropout:
            torch.manual_seed(chance_of_step(self.config.seed, step))
        parts, divisor = self.config.accumulation_steps, divisor_of(self.config)
        losses = []
        for token_ids, targets in self._batches(step):
            with self.during("forward"), compute_in(self.config.precision, self.device):
                loss = forward(token_ids, targets) / divisor
            with self.during("backward"):
                (self.scaler.scale(loss) if self.scaler else loss).backward()
            losses.append(loss.detach() if divisor == parts else loss.detach() * (divisor / parts))
        with self.during("clip"):
            if self.scaler:
                self.scaler.unscale_(self.optimizer)
            gradients = (
                weight.grad for weight in self.model.parameters() if weight.grad is not None
            )
            norm = torch.nn.utils.get_total_norm(gradients).float()
        return (*losses, norm)

    def _clip(self, norm: Tensor) -> None:
        most = self.config.grad_clip or math.inf
        with self.during("clip"):
            torch.nn.utils.clip_grads_with_norm_(self.model.parameters(), most, norm)

    def _move(self) -> None:
        with self.during("optimizer"):
            self.optimizer.step()

    def _batches(self, step: int) -> Iterator[tuple[Tensor, Tensor]]:
        starts = starts_of(self.config, step, len(self.training))
        for part in np.split(starts, self.config.accumulation_steps):
            with self.during("data"):
                batch = self._cut(self.training, part)
            yield batch

    def _cut(self, tokens: Tensor, starts: Positions) -> tuple[Tensor, Tensor]:
        """Return token ids and their successors, both (len(starts), T)."""
        offsets = torch.arange(self.config.seq_len + 1, device=self.device)
        places = self._to_device(starts)[:, None] + offsets  # (B, T + 1)
        cut = tokens[places].long()
        ahead = 0 if self.config.mistake == "unshifted_target" else 1
        return cut[:, :-1].contiguous(), cut[:, ahead : ahead + self.config.seq_len].contiguous()

    def _to_device(self, starts: Positions) -> Tensor:
        """Return the start indices on the device; a copy from pinned memory waits for nothing."""
        indices = torch.from_numpy(starts)
        if self.device.type != "cuda":
            return indices.to(self.device)
        return indices.pin_memory().to(self.device, non_blocking=True)

    def alone(self) -> "Trainer":
        """Return the trainer into which a checkpoint is loaded, for `take`: this one."""
        return self

    def take(self, alone: "Trainer") -> None:
        """Go on with what `alone` was given."""

    def weights(self) -> dict[str, Tensor]:
        """Return the weights by name."""
        return self.model.state_dict()

    def optimizer_state(self) -> dict[str, Any]:
        """Return what the optimizer knows."""
        return self.optimizer.state_dict()

    def whole_model(self) -> Model:
        """Return the model for somebody who uses it alone; of several ranks one may be made."""
        return self.model

    @torch.no_grad()
    def validation_loss(self) -> float:
        """Return the mean loss over fixed places of the validation text; uses no chance."""
        config = self.config
        starts = validation_positions(
            config.eval_batches * config.batch_size, len(self.validation), config.seq_len
        )
        if config.mistake != "no_eval":
            self.model.eval()
        losses: list[float] = []
        for part in np.split(starts, config.eval_batches):
            with compute_in(config.precision, self.device):
                losses.append(self.model(*self._cut(self.validation, part)).item())
        self.model.train()
        return sum(losses) / len(losses)


def _are_bad(numbers: Sequence[Tensor]) -> Tensor:
    """Return 1.0 on the device if one of the numbers is not finite, else 0.0."""
    return (~torch.isfinite(torch.stack(list(numbers))).all()).float()


def _is_finite(tensor: Tensor | None) -> bool:
    return tensor is None or bool(torch.isfinite(tensor).all())


def _on_device(tokens: Tokens, device: torch.device) -> Tensor:
    """Return the ids as 32-bit integers: torch indexes no 16-bit unsigned ones on every device."""
    return torch.from_numpy(tokens.astype(np.int32)).to(device)
