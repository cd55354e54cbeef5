"""The gradients of a whole module beside what nearby weights say, in float64."""

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.func import functional_call
from torch.overrides import TorchFunctionMode

from core.autograd.built_graphs import Made
from core.autograd.differences import Difference, finite_differences


def module_differences(made: Made) -> Mapping[str, Difference]:
    """Compare the gradient of each input and each parameter with differences along one direction.

    Args:
        made: A function and its module; under autocast the forward pass itself is rounded, and no
            difference would be small.
    """
    module = made.module if made.module is not None else nn.Module()
    parameters = dict(module.named_parameters())
    whole = _Whole(made, module)

    def function(**leaves: Tensor) -> Any:  # noqa: ANN401  what the graph's function gives
        weights = {f"module.{name}": leaves[name] for name in parameters}
        inputs = {name: leaves[name] for name in made.leaves}
        with _KeepsFloat64():
            return functional_call(whole, weights, (), inputs)

    return finite_differences(function, {**made.leaves, **parameters}, most_elements=1)


class _Whole(nn.Module):
    """The function as a module, so that other weights can be put into it."""

    def __init__(self, made: Made, module: nn.Module) -> None:
        super().__init__()
        self.made, self.module = made, module  # the function may be the module: it is named once

    def forward(self, **leaves: Tensor) -> Tensor:
        """Call the function."""
        return self.made.function(**leaves)


class _KeepsFloat64(TorchFunctionMode):
    """Leave float64 what models cast to float32, to have more digits than bfloat16: it has more."""

    def __torch_function__(
        self,
        func: Any,  # noqa: ANN401
        types: Sequence[type],
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:  # noqa: ANN401
        if func is Tensor.float and args[0].dtype == torch.float64:
            return args[0]
        return func(*args, **(kwargs or {}))
