"""Graphs that no line of the expression language makes: loops, branches, modules, a whole GPT.

Each row has one number that its graph depends on: how often, how many layers, how many tokens.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812  the field's own name
from torch.utils.checkpoint import checkpoint

from core.autograd.capture import capture
from core.autograd.engine import announced
from core.autograd.forward import Limits, made_bytes
from core.autograd.graph import Capture
from core.expressions.dispatch import Watching
from core.language import N_, _
from core.models.build import Block
from core.models.chance import alone_with_chance
from core.models.gpt import GPT
from core.models.kernels import KERNELS
from core.models.spec import GPTShape, ModelSpec
from core.units import format_bytes

MAX_BYTES: Final = 256_000_000
_LIMITS: Final = Limits(num_values=64)  # of large tensors, statistics say more
GPT2_BLOCK: Final = ModelSpec(
    name="GPT-2", num_layers=1, hidden_dim=768, num_heads=12, num_kv_heads=12, head_dim=64,
    ffn_dim=3072, vocab_size=50257, seq_len=1024, tied=True, gated=False, norm="layer",
    norm_bias=True, attention_bias="all", ffn_bias=True, learned_positions=1024,
    source="huggingface.co/openai-community/gpt2, config.json",
)  # fmt: skip


@dataclass(frozen=True, kw_only=True, slots=True)
class Made:
    """What is captured: a function of its leaves, and the module that it calls."""

    function: Callable[..., Tensor]
    leaves: Mapping[str, Tensor]
    module: nn.Module | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class BuiltGraph:
    """One row."""

    key: str  # its word in an address
    title: str  # marked for the catalogue
    number: str  # what the number counts, marked too
    low: int  # the number's range
    high: int
    default: int
    make: Callable[[int], Made]  # number -> what is captured; also on meta
    source: str = ""  # where it comes from
    unchecked: str = ""  # why nearby values cannot tell its slopes, marked too; "" if they can

    def made(self, number: int) -> Made:
        """Return what is captured, with the same random numbers every time."""
        with alone_with_chance():
            return self.make(number)


def capture_built(row: BuiltGraph, number: int) -> Capture:
    """Make a row's graph and capture it.

    Raises:
        ValueError: If the number is outside its range, or the memory is predicted to be too much.
    """
    if not row.low <= number <= row.high:
        message = _("{number} is outside {low} … {high}.")
        raise ValueError(message.format(number=number, low=row.low, high=row.high))
    check_memory(partial(row.make, number))
    made = row.made(number)
    return capture(made.function, made.leaves, made.module, limits=_LIMITS)


def check_memory(make: Callable[[], Made]) -> int:
    """Return the bytes that a capture will need, from a run on tensors without data.

    Parameters and their gradients, and twice what the forward pass makes: values and gradients.

    Raises:
        ValueError: If they are too many.
    """
    num_bytes = 0

    def tell(_function: object, inputs: Any, outputs: Any, _flops: int) -> None:  # noqa: ANN401
        nonlocal num_bytes
        num_bytes += 2 * made_bytes(inputs, outputs)

    with torch.device("meta"):
        made = make()
        with Watching(tell, count_flops=False):
            made.function(**made.leaves)
    if made.module is not None:
        num_bytes += 2 * sum(x.numel() * x.element_size() for x in made.module.parameters())
    if num_bytes > MAX_BYTES:
        message = _("Capturing this graph takes about {size}; the limit is {limit}.")
        sizes = {"size": format_bytes(num_bytes), "limit": format_bytes(MAX_BYTES)}
        raise ValueError(message.format(**sizes))
    return num_bytes


def _loop(number: int) -> Made:
    def function(w: Tensor) -> Tensor:
        y = w
        for _turn in range(number):
            y = torch.tanh(y * w)
        return y

    return Made(function=function, leaves={"w": torch.tensor(1.5, requires_grad=True)})


def _branch(number: int) -> Made:
    def function(x: Tensor) -> Tensor:
        return x**2 if number > 0 else -3 * x

    leaf = torch.tensor(float(number), requires_grad=True)
    return Made(function=function, leaves={"x": leaf})


def _hooks(number: int) -> Made:
    def function(w: Tensor, x: Tensor) -> Tensor:
        y = w * x
        node = y.grad_fn
        if node is not None:  # where gradients are recorded
            y.register_hook(announced("y.register_hook(lambda g: k * g)", lambda g: number * g))
            node.register_prehook(announced("y.grad_fn.register_prehook(f)", _changes_nothing))
            node.register_hook(announced("y.grad_fn.register_hook(f)", _changes_nothing))
            y.retain_grad()
        after = announced("w.register_post_accumulate_grad_hook(f)", _changes_nothing)
        w.register_post_accumulate_grad_hook(after)
        return y**2

    return Made(
        function=function,
        leaves={"w": torch.tensor(2.0, requires_grad=True), "x": torch.tensor(3.0)},
    )


def _changes_nothing(*_given: object) -> None:
    """A hook that returns nothing leaves the gradient as it is."""


class WrongCube(torch.autograd.Function):
    """x ** 3 with a mistake in its backward: 3 x instead of 3 x ** 2."""

    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:  # noqa: ANN401
        """Return the cube."""
        ctx.save_for_backward(x)
        return x**3

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Tensor:  # noqa: ANN401
        """Return a gradient that is wrong on purpose."""
        (x,) = ctx.saved_tensors
        wrong: Tensor = gradients[0] * 3 * x
        return wrong


def _wrong_backward(number: int) -> Made:
    def function(x: Tensor) -> Tensor:
        cubed: Tensor = WrongCube.apply(x)  # type: ignore[no-untyped-call]
        return cubed

    return Made(function=function, leaves={"x": torch.tensor(float(number), requires_grad=True)})


def _two_products(number: int) -> Made:
    leaves = {
        "x": torch.randn(number, 4),
        "w1": torch.randn(4, 8, requires_grad=True),
        "w2": torch.randn(8, 3, requires_grad=True),
    }
    return Made(function=lambda x, w1, w2: (x @ w1 @ w2).sum(), leaves=leaves)


def _mlp(number: int) -> Made:
    module = nn.Sequential(nn.Linear(784, 256), nn.ReLU(), nn.Linear(256, 10))
    leaves = {"x": torch.randn(number, 784), "y": torch.arange(number) % 10}
    return Made(function=lambda x, y: F.cross_entropy(module(x), y), leaves=leaves, module=module)


def _autocast(number: int) -> Made:
    module = nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 4))

    def function(x: Tensor) -> Tensor:
        with torch.autocast("cpu", torch.bfloat16):
            y = module(x)
        mean: Tensor = y.float().pow(2).mean()
        return mean

    return Made(function=function, leaves={"x": torch.randn(number, 16)}, module=module)


def _block(kernels: str, number: int) -> Made:
    module = Block(GPT2_BLOCK, 0, KERNELS[kernels])
    x = torch.randn(1, number, GPT2_BLOCK.hidden_dim)
    return Made(function=lambda x: module(x, None).sum(), leaves={"x": x}, module=module)


def _gpt(number: int, *, checkpointed: bool = False) -> Made:
    shape = GPTShape(num_layers=number, hidden_dim=64, num_heads=4, vocab_size=256, seq_len=32)
    module = GPT(shape)
    ids = torch.arange(4 * 32).reshape(4, 32) * 7 % 256
    leaves = {"token_ids": ids, "targets": ids.roll(-1, 1)}
    if checkpointed:
        for block in module.blocks:
            block.forward = partial(checkpoint, block.forward, use_reentrant=False)
    return Made(function=module, leaves=leaves, module=module)


_TOKENS: Final = N_("Tokens")
_BATCH: Final = N_("Batch size")
_LAYERS: Final = N_("Layers")
_ROUNDED: Final = N_("Not checked: here the forward pass rounds more than a small change moves")
_AGAIN: Final = N_(
    "Not checked: backward runs the forward pass again, when moved weights are back in place; the "
    "same GPT without checkpointing is checked"
)
_ROWS: Final = (
    BuiltGraph(key="loop", title=N_("A loop: y = tanh(y · w), n times"), number=N_("Repetitions"),
               low=0, high=30, default=3, make=_loop),
    BuiltGraph(key="branch", title=N_("An if: x² above 0, else −3x"), number=N_("Value of x"),
               low=-5, high=5, default=2, make=_branch),
    BuiltGraph(key="wrong_backward", title=N_("A custom backward with a mistake"),
               number=N_("Value of x"), low=-5, high=5, default=2, make=_wrong_backward),
    BuiltGraph(key="hooks", title=N_("Hooks: a gradient times k"),
               number=N_("Factor k"), low=1, high=10, default=3, make=_hooks),
    BuiltGraph(key="two_products", title=N_("Two matrix products: x @ w1 @ w2"), number=_BATCH,
               low=1, high=64, default=2, make=_two_products),
    BuiltGraph(key="mlp", title=N_("MLP 784-256-10"), number=_BATCH, low=1, high=128, default=64,
               make=_mlp),
    BuiltGraph(key="autocast", title=N_("MLP under autocast to bfloat16"), number=_BATCH,
               low=1, high=64, default=8, make=_autocast,
               unchecked=_ROUNDED),
    BuiltGraph(key="block", title=N_("GPT-2 block, fused attention"), number=_TOKENS,
               low=1, high=128, default=32, make=partial(_block, "cpu")),
    BuiltGraph(key="block_full", title=N_("GPT-2 block, manual attention"), number=_TOKENS,
               low=1, high=128, default=32, make=partial(_block, "megatron")),
    BuiltGraph(key="gpt", title=N_("A small GPT"), number=_LAYERS, low=1, high=12, default=6,
               make=_gpt),
    BuiltGraph(key="gpt_checkpointed", title=N_("A small GPT with activation checkpointing"),
               number=_LAYERS, low=1, high=12, default=6, make=partial(_gpt, checkpointed=True),
               unchecked=_AGAIN),
)  # fmt: skip
BUILT_GRAPHS: Final[Mapping[str, BuiltGraph]] = {row.key: row for row in _ROWS}
