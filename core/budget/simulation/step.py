"""`simulate_step`: a whole training step on meta tensors, byte by byte.

A model and its optimizer are made ready for it, on meta tensors or on the CPU.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from functools import partial
from typing import Any, Final

import torch
from torch import Tensor
from torch.optim import Optimizer
from torch.utils._python_dispatch import TorchDispatchMode

from core.budget.catalogue.optimizers import OPTIMIZERS, walk
from core.budget.catalogue.precisions import PRECISIONS
from core.budget.recipe import TrainingRecipe
from core.budget.simulation.cases import check_case
from core.budget.simulation.changes import Watch, use_adapters, use_autocast, use_checkpointing
from core.budget.simulation.timeline import BACKWARD, FORWARD, OPTIMIZER, RECOMPUTE, StepTimeline
from core.budget.simulation.tracker import StorageTracker, watch_modules, watch_saved
from core.models.build import build_model
from core.models.spec import ModelSpec

ENOUGH_PASSES = 2  # the second micro-batch finds the gradients of the first; all later ones too
_LEARNING_RATE: Final = 1e-3
_TORCH: Final[dict[str, tuple[str, dict[str, Any]]]] = {
    "sgd": ("SGD", {}),
    "momentum": ("SGD", {"momentum": 0.9}),
    "adagrad": ("Adagrad", {}),
    "rmsprop": ("RMSprop", {}),
    "adam": ("Adam", {}),
    "adamw": ("AdamW", {}),
    "adafactor": ("Adafactor", {}),
    "muon": ("Muon", {}),
}
_ITEM: Final = torch.ops.aten._local_scalar_dense.default
_OWN_STEP: Final = ("embedding", "tokens", "positions", "head", "norm")


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
        precision = self.precision
        sums = precision.accumulated > 0 or precision.gradients > precision.weights
        self.gradient_sums = _fp32(self.trained) if sums else []
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


def _fp32(tensors: Sequence[Tensor]) -> list[Tensor]:
    return [torch.empty_like(each, dtype=torch.float32, requires_grad=False) for each in tensors]


def _add_to(fp32_sum: Tensor, parameter: Tensor, *, keep: bool) -> None:
    assert parameter.grad is not None  # noqa: S101  the hook runs after it came
    with torch.no_grad():
        fp32_sum.add_(parameter.grad)
    if not keep:
        parameter.grad = None


class OptimizerStep:
    """Several optimizers as one, their states already there (as after the first step)."""

    def __init__(self, named: Sequence[tuple[str, Tensor]], key: str, step_kind: str) -> None:
        self.parameters = [tensor for _, tensor in named]
        self.kind = walk(OPTIMIZERS[key], step_kind)
        self._on_meta = self.parameters[0].is_meta
        self._parts = _optimizers(named, key, self.kind, on_meta=self._on_meta)
        self._extra = _eight_bit_states(self.parameters) if key == "adam8bit" else []
        for each in self.parameters:
            each.grad = torch.zeros_like(each)
        self._run()
        self.forget_gradients()

    def states(self) -> Iterable[Tensor]:
        """Yield every tensor that lives between steps."""
        yield from self._extra
        for part in self._parts:
            for state in part.state.values():
                yield from (value for value in state.values() if isinstance(value, Tensor))

    def step(self) -> None:
        """Take the step; a fused kernel makes no tensor, so on meta there is nothing to run."""
        if not (self._on_meta and self.kind == "fused"):
            self._run()

    def _run(self) -> None:
        mode = OneForItem() if self._on_meta else nullcontext()  # type: ignore[no-untyped-call]  # torch's own
        with mode:
            for part in self._parts:
                part.step()

    def forget_gradients(self) -> None:
        """Free the gradients."""
        for each in self.parameters:
            each.grad = None


class OneForItem(TorchDispatchMode):
    """Answers 1.0 where a step asks a tensor for its value: no size depends on it."""

    def __torch_dispatch__(
        self,
        func: Callable[..., Any],
        types: Any,  # noqa: ANN401  as torch declares it
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:  # noqa: ANN401  whatever the operation returns
        return 1.0 if func is _ITEM else func(*args, **(kwargs or {}))


def _optimizers(
    named: Sequence[tuple[str, Tensor]], key: str, kind: str, *, on_meta: bool
) -> list[Optimizer]:
    if key == "adam8bit":
        return []
    if key != "muon":
        return [_make(key, [tensor for _, tensor in named], kind, on_meta=on_meta)]
    matrices = [tensor for name, tensor in named if _is_inner_matrix(name, tensor)]
    others = [tensor for name, tensor in named if not _is_inner_matrix(name, tensor)]
    parts = (("muon", matrices), ("adamw", others))
    return [_make(part, tensors, kind, on_meta=on_meta) for part, tensors in parts if tensors]


def _is_inner_matrix(name: str, tensor: Tensor) -> bool:
    return tensor.dim() == 2 and not any(word in name.split(".") for word in _OWN_STEP)


def _make(key: str, tensors: Sequence[Tensor], kind: str, *, on_meta: bool) -> Optimizer:
    name, options = _TORCH[key]
    make: Callable[..., Optimizer] = getattr(torch.optim, name)
    if key != "muon":
        options = {**options, "foreach": kind == "foreach"}
        if kind == "fused" and not on_meta:
            options = {**options, "foreach": False, "fused": True}
    return make(list(tensors), lr=_LEARNING_RATE, **options)


def _eight_bit_states(parameters: Sequence[Tensor]) -> list[Tensor]:
    """Two moments of one byte a parameter, and an fp32 scale for each 256 of them."""
    total = sum(each.numel() for each in parameters)
    codes = [torch.empty(total, dtype=torch.uint8, device="meta") for _ in range(2)]
    scales = [torch.empty(-(-total // 256), dtype=torch.float32, device="meta") for _ in range(2)]
    return codes + scales


def simulate_step(
    spec: ModelSpec,
    recipe: TrainingRecipe,
    on_progress: Callable[[str, str], None] = lambda _phase, _module: None,
) -> StepTimeline:
    """Run forward, backward and optimizer step on meta and return the bytes after every operation.

    With accumulation two micro-batches are run: all later ones are like the second. Bytes are
    those that the operations ask for; a GPU's allocator rounds each up to 512.

    Raises:
        ValueError: If the recipe cannot be simulated; the sentence says why.
    """
    tracker = StorageTracker()
    prepared = PreparedStep(spec, recipe)
    with watch_modules(prepared.names, tracker, on_progress):
        prepared.checkpointed(partial(_recomputing, tracker))
        return run_step(prepared, tracker)


def run_step(prepared: PreparedStep, tracker: StorageTracker) -> StepTimeline:
    """Run a prepared step under a tracker, on meta or on real tensors."""
    base = {name: tracker.ignore(tensors) for name, tensors in prepared.persistent().items()}
    handles = list(prepared.gather_gradients())
    with tracker:
        for _ in range(min(prepared.recipe.accumulation, ENOUGH_PASSES)):
            with tracker.during(FORWARD), watch_saved(tracker):
                loss: Tensor = prepared.forward()
            tracker.mark_saved()
            with tracker.during(BACKWARD):
                loss.backward()
            tracker.mark_gradients(prepared.trained)
        tracker.module = ""
        with tracker.during(OPTIMIZER):
            prepared.step()
    for handle in handles:
        handle.remove()
    return tracker.timeline({name: num_bytes for name, num_bytes in base.items() if num_bytes})


@contextmanager
def _recomputing(tracker: StorageTracker) -> Iterator[None]:
    try:
        with tracker.during(RECOMPUTE):
            yield
    finally:  # torch stops the rerun by an exception as soon as it has what it needs
        tracker.module = ".".join(tracker.module.split(".")[:2])  # the whole block
