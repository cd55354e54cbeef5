"""What programs about gradients may call beyond the rest: autograd's own, losses, functions."""

from collections.abc import Mapping
from typing import Final

import torch
from torch.nn import functional as F  # noqa: N812  the field's own name

from core.expressions.signature import Call, as_tuple, table_of

AUTOGRAD: Final = table_of(
    {
        "backward(gradient tensor|None = None, retain_graph bool|None = None, "
        "create_graph bool = False)": lambda x, gradient, retain_graph, create_graph: x.backward(
            gradient, retain_graph, create_graph
        ),
        "retain_grad()": lambda x: x.retain_grad(),
        "requires_grad_(requires_grad bool = True)": lambda x, requires_grad: x.requires_grad_(
            requires_grad
        ),
        "item()": lambda x: x.item(),
        # The array itself is no value here: a tensor that shares its memory stands for it.
        "numpy()": lambda x: torch.from_numpy(x.numpy()),
    },
    is_stateful=True,
)
ELEMENTS: Final = table_of(
    {
        "sin()": lambda x: x.sin(),
        "cos()": lambda x: x.cos(),
        "square()": lambda x: x.square(),
        "reciprocal()": lambda x: x.reciprocal(),
        "clamp(min number|None = None, max number|None = None)": lambda x, low, high: x.clamp(
            low, high
        ),
        "max(dim int|None = None)": lambda x, dim: x.max() if dim is None else tuple(x.max(dim)),
        "min(dim int|None = None)": lambda x, dim: x.min() if dim is None else tuple(x.min(dim)),
        "var()": lambda x: x.var(),
        "std()": lambda x: x.std(),
        "norm()": lambda x: x.norm(),
        "mv(other tensor)": lambda x, other: x.mv(other),
        "log_softmax(dim int)": lambda x, dim: x.log_softmax(dim),
        "logsumexp(dim int)": lambda x, dim: x.logsumexp(dim),
    }
) | table_of({"div_(other tensor|number)": lambda x, other: x.div_(other)}, writes=True)
GRADIENT_METHODS: Final[Mapping[str, Call]] = AUTOGRAD | ELEMENTS
GRADIENT_PROPERTIES: Final = table_of(
    {
        "grad()": lambda x: x.grad,
        "requires_grad()": lambda x: x.requires_grad,
        "is_leaf()": lambda x: x.is_leaf,
    },
    is_stateful=True,
)
LEAVES: Final = table_of(
    {
        "torch.tensor(data data, dtype dtype|None = None, requires_grad bool = False)": (
            lambda data, dtype, requires_grad: torch.tensor(
                data, dtype=dtype, requires_grad=requires_grad
            )
        ),
        "torch.zeros(size *ints, dtype dtype|None = None, requires_grad bool = False)": (
            lambda size, dtype, requires_grad: torch.zeros(
                size, dtype=dtype, requires_grad=requires_grad
            )
        ),
        "torch.ones(size *ints, dtype dtype|None = None, requires_grad bool = False)": (
            lambda size, dtype, requires_grad: torch.ones(
                size, dtype=dtype, requires_grad=requires_grad
            )
        ),
    }
) | table_of(
    {
        "torch.randn(size *ints, requires_grad bool = False)": lambda size, requires_grad, chance: (
            torch.randn(size, generator=chance, requires_grad=requires_grad)
        ),
    },
    is_random=True,
)
MATHEMATICS: Final = table_of(
    {
        "torch.full_like(x tensor, value number)": torch.full_like,
        "torch.sin(x tensor)": torch.sin,
        "torch.cos(x tensor)": torch.cos,
        "torch.tanh(x tensor)": torch.tanh,
        "torch.log(x tensor)": torch.log,
        "torch.abs(x tensor)": torch.abs,
        "torch.sigmoid(x tensor)": torch.sigmoid,
        "torch.relu(x tensor)": torch.relu,
        "torch.square(x tensor)": torch.square,
        "torch.norm(x tensor)": lambda x: x.norm(),
        "torch.sum(x tensor)": torch.sum,
        "torch.mean(x tensor)": torch.mean,
        "torch.max(x tensor, other tensor|None = None)": lambda x, other: (
            torch.max(x) if other is None else torch.max(x, other)
        ),
        "torch.min(x tensor, other tensor|None = None)": lambda x, other: (
            torch.min(x) if other is None else torch.min(x, other)
        ),
        "torch.maximum(x tensor, y tensor)": torch.maximum,
        "torch.minimum(x tensor, y tensor)": torch.minimum,
        "torch.clamp(x tensor, min number|None = None, max number|None = None)": torch.clamp,
        "torch.dot(x tensor, y tensor)": torch.dot,
        "torch.outer(x tensor, y tensor)": torch.outer,
        "torch.logsumexp(x tensor, dim int)": torch.logsumexp,
        "torch.log_softmax(x tensor, dim int)": torch.log_softmax,
    }
)
LOSSES: Final = table_of(
    {
        "F.mse_loss(input tensor, target tensor, reduction text = 'mean')": (
            lambda x, target, reduction: F.mse_loss(x, target, reduction=reduction)
        ),
        "F.cross_entropy(input tensor, target tensor, reduction text = 'mean')": (
            lambda x, target, reduction: F.cross_entropy(x, target, reduction=reduction)
        ),
        "F.nll_loss(input tensor, target tensor)": F.nll_loss,
        "F.log_softmax(x tensor, dim int)": F.log_softmax,
        "F.softplus(x tensor)": F.softplus,
        "F.layer_norm(x tensor, normalized_shape ints, weight tensor|None = None, "
        "bias tensor|None = None, eps number = 1e-05)": lambda x, shape, weight, bias, eps: (
            F.layer_norm(x, as_tuple(shape), weight, bias, eps)
        ),
    }
)
GRADIENT_FUNCTIONS: Final[Mapping[str, Call]] = LEAVES | MATHEMATICS | LOSSES
