"""Programs to begin with: what tutorials show about gradients, and what goes wrong in practice.

Each is written in the calls of `core.expressions.names.GRADIENT`, with numbers that a reader can
follow in the head. Facts about torch were measured with torch 2.13.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final

import torch
from torch import Tensor

from core.autograd.refusals import Kind
from core.language import N_

Values = Any  # a number, or nested lists of numbers


@dataclass(frozen=True, kw_only=True, slots=True)
class Start:
    """A tensor that a program is handed.

    Attributes:
        values: A number, or nested lists of numbers.
        requires_grad: Whether it is a parameter, or data.
        dtype: "float32"; "int64" of class indices.
    """

    values: Values
    requires_grad: bool = True
    dtype: str = "float32"

    def tensor(self, dtype: torch.dtype | None = None) -> Tensor:
        """Return it as a fresh leaf; floating-point numbers in another dtype if one is given."""
        own = getattr(torch, self.dtype)
        chosen = dtype if dtype is not None and own.is_floating_point else own
        return torch.tensor(self.values, dtype=chosen, requires_grad=self.requires_grad)


@dataclass(frozen=True, kw_only=True, slots=True)
class Preset:
    """A program and the tensors that it begins with.

    Attributes:
        key: In links.
        title: What it shows.
        source: The program.
        leaves: What it is handed, by name.
        nudged: The leaf that a reader moves first.
        origin: Where it is taken from.
        concepts: Ids of `pages/shared/concepts.toml`.
        refusal: How torch refuses it; "" if it runs.
        error: Id of the error in the source documents that it corrects; "" of none.
    """

    key: str
    title: str
    source: str
    leaves: Mapping[str, Start]
    nudged: str
    origin: str
    concepts: tuple[str, ...]
    refusal: Kind | None = None
    error: str = ""

    def tensors(self, dtype: torch.dtype | None = None) -> dict[str, Tensor]:
        """Return fresh leaves by name."""
        return {name: start.tensor(dtype) for name, start in self.leaves.items()}


def _data(values: Values, dtype: str = "float32") -> Start:
    return Start(values=values, requires_grad=False, dtype=dtype)


def _parameter(values: Values) -> Start:
    return Start(values=values)


_TUTORIAL: Final = "a tensor tutorial"
_HANDBOOK: Final = "a framework handbook"
_CS336: Final = "Stanford CS336, lecture 2 (2025)"
_CORE: Final = "a page on core principles"
_INFRA: Final = "an AI infrastructure tutorial"
_MEASURED: Final = "measured with torch 2.13"

_TWO_LAYERS: Final = """\
h = x @ W1 + b1
a = F.relu(h)
out = a @ W2 + b2
loss = F.mse_loss(out, y)
loss.backward()"""
_ACCUMULATE: Final = "\n".join(["y = x ** 2", "y.backward()"] * 3)
_ZEROED: Final = "\n".join(["y = x ** 2", "y.backward()", "x.grad.zero_()"] * 2)
_STEP: Final = """\
loss = ((w * x - y) ** 2).mean()
loss.backward()
with torch.no_grad():
    w -= 0.1 * w.grad
w.grad = None
loss = ((w * x - y) ** 2).mean()
loss.backward()"""
_TWICE: Final = """\
y = x ** 3 + torch.sin(x)
y.backward(create_graph=True)
g = x.grad
x.grad = None
g.backward()"""
_RECORDED: Final = """\
with torch.no_grad():
    with torch.enable_grad():
        y = 2 * x
z = y * x
z.backward()"""
_MADE_INSIDE: Final = """\
with torch.no_grad():
    w = torch.ones(3, requires_grad=True)
y = (w * x).sum()
y.backward()"""
_INFERENCE: Final = "with torch.inference_mode():\n    z = x * 2\ny = w * z\ny.backward()"
_TOO_EARLY: Final = """\
loss = (w ** 2).sum()
with torch.no_grad():
    w -= 0.1
loss.backward()"""
_ON_A_LINE: Final = {
    "w": _parameter([0.5]),
    "x": _data([1.0, 2.0, 3.0]),
    "y": _data([2.0, 3.0, 4.0]),
}
_NETWORK: Final = {
    "x": _parameter([[1.0, 2.0]]),  # so that each of the eight formulas has its numbers
    "W1": _parameter([[1.0, -1.0], [0.5, 1.0]]),
    "b1": _parameter([0.0, -2.0]),
    "W2": _parameter([[1.0], [2.0]]),
    "b2": _parameter([0.5]),
    "y": _data([[1.0]]),
}
# fmt: off
_ROWS: Final = (
    Preset(key="square", title=N_("A neuron and its squared error"),
           source="y = (w * x + b) ** 2\ny.backward()",
           leaves={"w": _parameter(2.0), "x": _data(3.0), "b": _parameter(1.0)}, nudged="w",
           origin=_HANDBOOK, concepts=("C70",)),
    Preset(key="fork", title=N_("Two paths to one leaf: contributions add up"),
           source="a = x ** 2\nb = 3 * x\ny = a + b\ny.backward()", leaves={"x": _parameter(2.0)},
           nudged="x", origin=_CORE, concepts=("C58", "C70")),
    Preset(key="polynomial", title=N_("A polynomial: x² + 3x + 1"),
           source="y = x ** 2 + 3 * x + 1\ny.backward()", leaves={"x": _parameter(2.0)}, nudged="x",
           origin=_CORE, concepts=("C58",)),
    Preset(key="mse", title=N_("Mean squared error: a printed gradient that is wrong"),
           source="pred = w * x\nloss = ((pred - y) ** 2).mean()\nloss.backward()",
           leaves=_ON_A_LINE,
           nudged="w", origin=_TUTORIAL, concepts=("C60",), error="E2"),
    Preset(key="sum_of_squares", title=N_("A sum of squares"),
           source="y = (x ** 2).sum()\ny.backward()", leaves={"x": _parameter([2.0, 3.0])},
           nudged="x", origin=_HANDBOOK, concepts=("C59",)),
    Preset(key="linear", title=N_("A linear model: half the squared error"),
           source="pred = x @ w\nloss = 0.5 * (pred - 5) ** 2\nloss.backward()",
           leaves={"w": _parameter([1.0, 1.0, 1.0]), "x": _data([1.0, 2.0, 3.0])}, nudged="w",
           origin=_CS336, concepts=("C61",)),
    Preset(key="two_layers", title=N_("A network of two layers, by the chain rule"),
           source=_TWO_LAYERS,
           leaves=_NETWORK,
           nudged="W1", origin=_HANDBOOK, concepts=("C69", "C70")),
    Preset(key="cross_entropy", title=N_("Cross-entropy: the gradient is softmax minus one-hot"),
           source="p = F.softmax(z, dim=1)\nloss = F.cross_entropy(z, target)\nloss.backward()",
           leaves={"z": _parameter([[2.0, 1.0, 0.0]]), "target": _data([0], "int64")}, nudged="z",
           origin=_HANDBOOK, concepts=("C70",)),
    Preset(key="step", title=N_("One step of gradient descent"), source=_STEP,
           leaves=_ON_A_LINE,
           nudged="w", origin=_INFRA, concepts=("C72", "C67")),
    Preset(key="retain_grad", title=N_("retain_grad(): the gradient of a computed tensor"),
           source="y = w * x\ny.retain_grad()\nz = y ** 2\nz.backward()",
           leaves={"w": _parameter(2.0), "x": _data(3.0)}, nudged="w", origin=_INFRA,
           concepts=("C62",), error="E43"),
    Preset(key="accumulate", title=N_("Three backward passes: 4, 8, 12"), source=_ACCUMULATE,
           leaves={"x": _parameter(2.0)}, nudged="x", origin=_HANDBOOK, concepts=("C65",)),
    Preset(key="zeroed", title=N_("Zeroed in between: 4, 0, 4, 0"), source=_ZEROED,
           leaves={"x": _parameter(2.0)}, nudged="x", origin=_INFRA, concepts=("C65",)),
    Preset(key="detach", title=N_("detach(): one path carries no gradient"),
           source="y = x ** 2\nz = y.detach() * x\nz.backward()", leaves={"x": _parameter(3.0)},
           nudged="x", origin=_HANDBOOK, concepts=("C67",)),
    Preset(key="no_grad", title=N_("no_grad: what is computed there is a constant"),
           source="with torch.no_grad():\n    y = 2 * x\nz = y * x\nz.backward()",
           leaves={"x": _parameter(3.0)}, nudged="x", origin=_HANDBOOK, concepts=("C67",)),
    Preset(key="enable_grad", title=N_("enable_grad inside no_grad records again"),
           source=_RECORDED,
           leaves={"x": _parameter(3.0)}, nudged="x", origin=_CORE, concepts=("C67",)),
    Preset(key="leaf_in_no_grad", title=N_("A leaf made in no_grad gets a gradient all the same"),
           source=_MADE_INSIDE,
           leaves={"x": _data(2.0)}, nudged="x", origin=_HANDBOOK, concepts=("C67",), error="E17"),
    Preset(key="second_derivative", title=N_("create_graph: the derivative of a derivative"),
           source=_TWICE, leaves={"x": _parameter(1.0)}, nudged="x", origin=_MEASURED,
           concepts=("C70",)),
    Preset(key="nan_trap", title=N_("A NaN from the branch that was not taken"),
           source="y = torch.where(x > 0, torch.sqrt(x), 0)\ny.backward()",
           leaves={"x": _parameter(0.0)}, nudged="x", origin=_MEASURED, concepts=("C70",)),
    Preset(key="relu_at_zero", title=N_("ReLU at 0: torch takes the slope 0"),
           source="y = F.relu(x).sum()\ny.backward()", leaves={"x": _parameter([-1.0, 0.0, 2.0])},
           nudged="x", origin=_MEASURED, concepts=("C70",)),
    Preset(key="max_tie", title=N_("Two largest elements share the gradient of max"),
           source="y = x.max()\ny.backward()", leaves={"x": _parameter([3.0, 1.0, 3.0])},
           nudged="x", origin=_MEASURED, concepts=("C70",)),
    Preset(key="add_twice", title=N_("Backward twice through an addition: nothing was saved"),
           source="y = x + 3\ny.backward()\ny.backward()", leaves={"x": _parameter(3.0)},
           nudged="x", origin=_MEASURED, concepts=("C62", "C68")),
    Preset(key="square_twice", title=N_("Backward twice through a square: its input was freed"),
           source="y = x ** 2\ny.backward()\ny.backward()", leaves={"x": _parameter(3.0)},
           nudged="x", origin=_INFRA, concepts=("C68",), refusal="second_backward"),
    Preset(key="not_scalar", title=N_("backward() of a vector"), source="y = w * x\ny.backward()",
           leaves={"w": _parameter([1.0, 2.0]), "x": _data([3.0, 4.0])}, nudged="w", origin=_INFRA,
           concepts=("C68",), refusal="not_scalar", error="E39"),
    Preset(key="exp_in_place", title=N_("An in-place write into what exp() saved"),
           source="b = x.exp()\nb.add_(1)\nb.sum().backward()",
           leaves={"x": _parameter([0.0, 1.0])}, nudged="x", origin=_MEASURED, concepts=("C68",),
           refusal="version"),
    Preset(key="update_too_early", title=N_("A parameter updated before backward()"),
           source=_TOO_EARLY, leaves={"w": _parameter([1.0, 2.0])}, nudged="w", origin=_MEASURED,
           concepts=("C68",), refusal="version"),
    Preset(key="leaf_in_place", title=N_("An in-place write into a leaf"),
           source="w.add_(1)\ny = (w * x).sum()\ny.backward()",
           leaves={"w": _parameter([1.0, 2.0]), "x": _data([3.0, 4.0])}, nudged="w",
           origin=_HANDBOOK, concepts=("C68",), refusal="leaf_in_place"),
    Preset(key="inference_mode", title=N_("A tensor of inference mode in a graph"),
           source=_INFERENCE, leaves={"w": _parameter(2.0), "x": _data(3.0)}, nudged="w",
           origin=_HANDBOOK, concepts=("C67", "C68"), refusal="inference"),
    Preset(key="no_graph", title=N_("Nothing requires a gradient"),
           source="y = (x ** 2).sum()\ny.backward()", leaves={"x": _data([2.0, 3.0])}, nudged="x",
           origin=_MEASURED, concepts=("C68",), refusal="no_graph"),
    Preset(key="numpy", title=N_("numpy() of a tensor that requires a gradient"),
           source="y = w * x\ny.numpy()",
           leaves={"w": _parameter([1.0, 2.0]), "x": _data([3.0, 4.0])}, nudged="w", origin=_INFRA,
           concepts=("C68",), refusal="numpy"),
)
# fmt: on
PRESETS: Final[Mapping[str, Preset]] = MappingProxyType({row.key: row for row in _ROWS})
