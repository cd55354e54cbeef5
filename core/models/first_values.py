"""What the code of a model draws into its weights, read while the model is made.

On meta no weight has a value, but each `normal_`, `uniform_` and `ones` is still called: the last
such call on a tensor says where its values come from.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final

from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

_RULES: Final[Mapping[str, Callable[..., str]]] = {
    "aten::normal_": lambda _tensor, mean=0.0, std=1.0: f"N({mean:.4g}, {std:.4g})",
    "aten::uniform_": lambda _tensor, low=0.0, high=1.0: f"U({low:.4g}, {high:.4g})",
    "aten::fill_": lambda _tensor, value: f"{float(value):g}",
    "aten::zero_": lambda _tensor: "0",
    "aten::ones": lambda _shape: "1",
    "aten::zeros": lambda _shape: "0",
    "aten::randn": lambda _shape: "N(0, 1)",
    "aten::empty": lambda *_shape: "",  # forget what lay at this address before
}


class FirstValues(TorchDispatchMode):
    """Open while a model is made; knows afterwards how its tensors were filled."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]  # torch's own
        self._texts: dict[int, str] = {}

    def of(self, tensor: Tensor) -> str:
        """Return the distribution as text, "N(mean, standard deviation)"; "" if unknown."""
        return self._texts.get(_address(tensor), "")

    def __torch_dispatch__(
        self,
        func: Any,  # noqa: ANN401  an operator of torch
        types: Any,  # noqa: ANN401
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:  # noqa: ANN401
        """Run the operation, and note it if it fills a tensor."""
        del types
        result = func(*args, **(kwargs or {}))
        name = func.name().partition(".")[0]
        if name in _RULES:
            self._texts[_address(result)] = _RULES[name](*args)
        elif name == "aten::mul" and self._texts.get(_address(args[0])) == "N(0, 1)":
            factor = args[1]  # a number, or a number that torch has wrapped
            self._texts[_address(result)] = f"N(0, {abs(float(factor)):.4g})"
        return result


def _address(tensor: Tensor) -> int:
    """Return what names the storage; on meta data_ptr() is 0 for all."""
    return int(tensor.untyped_storage()._cdata)  # there is no public name
