"""A stack of equal layers to measure: its size, its weights, and its forward pass in torch."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from core.language import N_

if TYPE_CHECKING:
    from torch import Tensor

DTYPES: Final[Mapping[str, int]] = MappingProxyType({"float32": 4, "bfloat16": 2})
"""Number format -> bytes of an element."""
_GAIN: Final = 2**0.5  # He et al. 2015: what keeps the variance behind a ReLU


@dataclass(frozen=True, kw_only=True, slots=True)
class Layer:
    """A layer `(h, w) -> h` with one square matrix."""

    title: str  # its name, marked for the catalogue
    code: str  # it as torch has it, with `F` for `torch.nn.functional`
    num_kept: int  # how many tensors of the size of its output it keeps for the backward pass


LAYERS: Final[Mapping[str, Layer]] = MappingProxyType(
    {
        "relu": Layer(title=N_("Linear, ReLU"), code="F.relu(h @ w)", num_kept=1),
        "gelu": Layer(title=N_("Linear, GELU"), code="F.gelu(h @ w)", num_kept=2),
        "gelu_first": Layer(title=N_("GELU, Linear"), code="F.gelu(h) @ w", num_kept=2),
    }
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Stack:
    """`num_layers` layers of `width` features, run on `batch_size` rows, then a mean square.

    With `on_meta` tensors have shapes and bytes, and no elements: autograd does the same with them,
    and nothing is multiplied.
    """

    batch_size: int = 64
    width: int = 256
    num_layers: int = 16
    layer: str = "relu"
    dtype: str = "float32"
    on_meta: bool = False

    @property
    def element_bytes(self) -> int:
        """Bytes of one number."""
        return DTYPES[self.dtype]

    @property
    def flops(self) -> int:
        """FLOPs of a forward and a backward pass: three products a layer."""
        return 3 * 2 * self.batch_size * self.width**2 * self.num_layers

    def weights(self) -> list["Tensor"]:
        """Return its weights, the same at every call; shape (width, width) each."""
        return [
            self._made((self.width, self.width), scale=_GAIN / self.width**0.5, seed=number)
            for number in range(1, self.num_layers + 1)
        ]

    def rows(self) -> "Tensor":
        """Return its input, as if layers before it needed its gradient; (batch_size, width)."""
        return self._made((self.batch_size, self.width), scale=1, seed=0)

    def _made(self, shape: tuple[int, int], *, scale: float, seed: int) -> "Tensor":
        import torch

        dtype = getattr(torch, self.dtype)
        if self.on_meta:
            return torch.empty(shape, dtype=dtype, device="meta", requires_grad=True)
        drawn = torch.randn(shape, generator=torch.Generator().manual_seed(seed))
        return (drawn * scale).to(dtype).requires_grad_()

    def run(self, h: "Tensor", weights: Sequence["Tensor"]) -> "Tensor":
        """Return what layers with these weights make of `h`."""
        step = _step(self.layer)
        for w in weights:
            h = step(h, w)
        return h


def _step(layer: str) -> Callable[["Tensor", "Tensor"], "Tensor"]:
    from torch.nn import functional as F  # noqa: N812  its usual name

    steps: Mapping[str, Callable[[Tensor, Tensor], Tensor]] = {
        "relu": lambda h, w: F.relu(h @ w),
        "gelu": lambda h, w: F.gelu(h @ w),
        "gelu_first": lambda h, w: F.gelu(h) @ w,
    }
    return steps[layer]
