"""One training step, without files: batch, forward, backward, clip, update."""

import math
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from core.models.gpt import GPT
from core.train.batches import Positions, batch_positions, validation_positions
from core.train.config import TrainConfig
from core.train.optimizers import make_adamw, scheduled_learning_rate
from core.train.precision import compute_in
from core.train.tokenizers import Tokens


@dataclass(frozen=True, kw_only=True, slots=True)
class StepResult:
    """What a step did.

    Attributes:
        step: Its number, from 1.
        loss: Mean cross-entropy before the update, in nats per token.
        learning_rate: As used, the live multiplier included.
        grad_norm: Norm of all gradients before clipping.
        seconds: Wall time of the step.
        skipped: True if the weights were left alone because a number was not finite.
        tensor: Name of the first weight with a non-finite gradient; "" if all are finite.
    """

    step: int
    loss: float
    learning_rate: float
    grad_norm: float
    seconds: float
    skipped: bool
    tensor: str


class Trainer:
    """A model, its optimizer and its text on one device.

    Args:
        config: The run; its precision is resolved, not "auto".
        training: (num_tokens,) ids to learn from.
        validation: (num_tokens,) ids to be tested on.
        vocab_size: Different tokens.
        device: Where everything lives.
    """

    def __init__(
        self,
        config: TrainConfig,
        training: Tokens,
        validation: Tokens,
        vocab_size: int,
        device: torch.device,
    ) -> None:
        torch.manual_seed(config.seed)
        self.config = config
        self.device = device
        self.training = _on_device(training, device)
        self.validation = _on_device(validation, device)
        in_fp32 = config.precision == "bf16_fp32_attention"
        self.model = GPT(config.shape(vocab_size), attention_in_fp32=in_fp32).to(device)
        self.optimizer = make_adamw(self.model, config)
        self.step = 0
        self.learning_rate_multiplier = 1.0

    def train_step(self, watch: AbstractContextManager[object] | None = None) -> StepResult:
        """Do one optimizer step and return what happened.

        Args:
            watch: A context to run forward, backward and update in, such as a memory watch.
        """
        began = time.perf_counter()
        step = self.step + 1
        rate = scheduled_learning_rate(self.config, step) * self.learning_rate_multiplier
        for group in self.optimizer.param_groups:
            group["lr"] = rate
        with watch or nullcontext():
            loss, grad_norm = self._gradients(step)
            finite = math.isfinite(loss) and math.isfinite(grad_norm)
            if finite:
                self.optimizer.step()
        self.step = step
        return StepResult(
            step=step,
            loss=loss,
            learning_rate=rate,
            grad_norm=grad_norm,
            seconds=time.perf_counter() - began,
            skipped=not finite,
            tensor="" if finite else self._first_bad_gradient(),
        )

    def _gradients(self, step: int) -> tuple[float, float]:
        """Leave the step's mean gradients in the weights; return the loss and their norm."""
        self.optimizer.zero_grad(set_to_none=True)
        parts = self.config.accumulation_steps
        mean_loss = 0.0
        for token_ids, targets in self._batches(step):
            with compute_in(self.config.precision, self.device):
                loss = self.model(token_ids, targets) / parts
            loss.backward()
            mean_loss += loss.item()
        most = self.config.grad_clip or math.inf
        norm = torch.nn.utils.clip_grad_norm_(self.model.parameters(), most)
        return mean_loss, norm.item()

    def _batches(self, step: int) -> Iterator[tuple[Tensor, Tensor]]:
        config = self.config
        count = config.batch_size * config.accumulation_steps
        starts = batch_positions(config.seed, step, count, len(self.training), config.seq_len)
        for part in np.split(starts, config.accumulation_steps):
            yield self._cut(self.training, part)

    def _cut(self, tokens: Tensor, starts: Positions) -> tuple[Tensor, Tensor]:
        """Return token ids and their successors, both (len(starts), T)."""
        offsets = torch.arange(self.config.seq_len + 1, device=self.device)
        places = torch.from_numpy(starts).to(self.device)[:, None] + offsets  # (B, T + 1)
        cut = tokens[places].long()
        return cut[:, :-1].contiguous(), cut[:, 1:].contiguous()

    @torch.no_grad()
    def validation_loss(self) -> float:
        """Return the mean loss over fixed places of the validation text; uses no chance."""
        config = self.config
        starts = validation_positions(
            config.eval_batches * config.batch_size, len(self.validation), config.seq_len
        )
        self.model.eval()
        losses: list[float] = []
        for part in np.split(starts, config.eval_batches):
            with compute_in(config.precision, self.device):
                losses.append(self.model(*self._cut(self.validation, part)).item())
        self.model.train()
        return sum(losses) / len(losses)

    def _first_bad_gradient(self) -> str:
        for name, weight in self.model.named_parameters():
            if weight.grad is not None and not bool(torch.isfinite(weight.grad).all()):
                return name
        return ""


def _on_device(tokens: Tokens, device: torch.device) -> Tensor:
    """Return the ids as 32-bit integers: torch indexes no 16-bit unsigned ones on every device."""
    return torch.from_numpy(tokens.astype(np.int32)).to(device)
