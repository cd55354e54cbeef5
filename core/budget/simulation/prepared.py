"""A model made ready for one training step: precision, adapters, checkpointing, optimizer."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import partial

import torch
from torch import Tensor

from core.budget.recipe import TrainingRecipe
from core.budget.simulation.adapters import use_adapters
from core.budget.simulation.autocast import use_autocast
from core.budget.simulation.cases import check_case
from core.budget.simulation.optimizer_step import OptimizerStep
from core.budget.simulation.recompute import Watch, use_checkpointing
from core.budget.training.precisions import PRECISIONS, Precision
from core.models.build import build_model
from core.models.spec import ModelSpec

Phase = Callable[[str], AbstractContextManager[None]]


class PreparedStep:
    """One training step, ready to run on meta or on the CPU.

    Raises:
        ValueError: If the recipe cannot be simulated; the sentence says why.
    """

    def __init__(self, spec: ModelSpec, recipe: TrainingRecipe, device: str = "meta") -> None:
        check_case(spec, recipe)
        self.recipe, self.precision = recipe, PRECISIONS[recipe.precision]
        dtype = torch.float32 if self.precision.weights == 4 else torch.bfloat16
        self.model = build_model(spec, recipe.profile, dtype=dtype, device=device)
        if recipe.lora is not None:
            use_adapters(self.model, recipe.lora)
        self.names = dict(self.model.named_modules())
        named = [(name, each) for name, each in self.model.named_parameters() if each.requires_grad]
        self.trained: list[Tensor] = [each for _, each in named]
        self.cache: dict[int, Tensor] = use_autocast(self.model) if self.precision.copies else {}
        self.gradient_sums = _fp32(self.trained) if _sums_in_fp32(self.precision) else []
        self.masters = _fp32(self.trained) if self.precision.master else self.trained
        updated = [(name, master) for (name, _), master in zip(named, self.masters, strict=True)]
        self.optimizer = OptimizerStep(updated, recipe.optimizer, recipe.step_kind)
        shape = (recipe.batch_size, recipe.seq_len)
        self.ids = torch.zeros(shape, dtype=torch.int64, device=device)
        self.targets = torch.zeros_like(self.ids)

    def checkpointed(self, watch: Watch = nullcontext) -> "PreparedStep":
        """Turn on the recipe's checkpointing; `watch` surrounds what is computed again."""
        use_checkpointing(self.model, self.recipe, watch)
        return self

    def persistent(self) -> dict[str, list[Tensor]]:
        """Return what lives between steps, by name."""
        masters = self.masters if self.precision.master else []
        return {
            "weights": [*self.model.parameters(), *self.model.buffers()],
            "master weights": list(masters),
            "optimizer states": list(self.optimizer.states()),
            "gradient sums": list(self.gradient_sums),
            "token ids": [self.ids, self.targets],
        }

    def forward(self) -> Tensor:
        """Return the loss; autocast's copies live as long as its context, one forward pass."""
        loss: Tensor = self.model(self.ids, self.targets, self.recipe.loss_chunks)
        self.cache.clear()
        return loss

    def step(self) -> None:
        """Update the weights from the gradients; then free the gradients."""
        if self.precision.master:
            self._bring_gradients()
        self.optimizer.step()
        self.optimizer.forget_gradients()
        for each in self.trained:
            each.grad = None

    def gather_gradients(self) -> Iterator[torch.utils.hooks.RemovableHandle]:
        """Add each gradient to its fp32 sum as soon as it is there."""
        keep = self.precision.accumulated > 0
        for parameter, fp32_sum in zip(self.trained, self.gradient_sums, strict=False):
            hook = partial(_add_to, fp32_sum, keep=keep)
            yield parameter.register_post_accumulate_grad_hook(hook)

    def _bring_gradients(self) -> None:
        if self.gradient_sums:
            for master, fp32_sum in zip(self.masters, self.gradient_sums, strict=True):
                master.grad = fp32_sum
        elif self.optimizer.kind != "fused":  # a fused kernel reads bf16 gradients as they are
            for master, trained in zip(self.masters, self.trained, strict=True):
                assert trained.grad is not None  # noqa: S101  every trained weight has one
                master.grad = trained.grad.float()


def _sums_in_fp32(precision: Precision) -> bool:
    return precision.accumulated > 0 or precision.gradients > precision.weights


def _fp32(tensors: Sequence[Tensor]) -> list[Tensor]:
    return [torch.empty_like(each, dtype=torch.float32, requires_grad=False) for each in tensors]


def _add_to(fp32_sum: Tensor, parameter: Tensor, *, keep: bool) -> None:
    assert parameter.grad is not None  # noqa: S101  the hook runs after it came
    with torch.no_grad():
        fp32_sum.add_(parameter.grad)
    if not keep:
        parameter.grad = None
