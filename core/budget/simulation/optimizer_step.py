"""Optimizers on meta tensors: their states as they live between steps, and their step."""

from collections.abc import Callable, Iterable, Sequence
from contextlib import nullcontext
from typing import Any, Final

import torch
from torch import Tensor
from torch.optim import Optimizer
from torch.utils._python_dispatch import TorchDispatchMode

from core.budget.training.optimizers import OPTIMIZERS, walk

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


class OptimizerStep:
    """Several optimizers as one, their states already there (as after the first step).

    Args:
        named: Name and tensor of every trained parameter.
        key: A row of `core.budget.training.optimizers.OPTIMIZERS`.
        step_kind: "for_loop", "foreach" or "fused".
    """

    def __init__(self, named: Sequence[tuple[str, Tensor]], key: str, step_kind: str) -> None:
        self.parameters = [tensor for _, tensor in named]
        self.kind = walk(OPTIMIZERS[key], step_kind)
        self._on_meta = self.parameters[0].is_meta
        self._parts = _optimizers(named, key, self.kind, on_meta=self._on_meta)
        self._extra = _eight_bit_states(self.parameters) if key == "adam8bit" else []
        self._warm_up()

    def _warm_up(self) -> None:
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
        mode = _OneForItem() if self._on_meta else nullcontext()  # type: ignore[no-untyped-call]  # torch's own
        with mode:
            for part in self._parts:
                part.step()

    def forget_gradients(self) -> None:
        """Free the gradients."""
        for each in self.parameters:
            each.grad = None


class _OneForItem(TorchDispatchMode):
    """Answers 1.0 where an optimizer asks a meta tensor for its value (Adafactor's norms)."""

    def __torch_dispatch__(
        self,
        func: Callable[..., Any],
        types: Any,  # noqa: ANN401  as torch declares it
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:  # noqa: ANN401  whatever the operation returns
        if func is _ITEM and args[0].is_meta:
            return 1.0
        return func(*args, **(kwargs or {}))


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
