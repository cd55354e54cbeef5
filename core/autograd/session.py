"""A capture while it runs: it holds living tensors, and gives them back as they were."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any, Final, TypeAlias

import torch
from torch import Tensor, nn

from core.autograd.engine import Engine, Moment
from core.autograd.forward import Limits, Meter, Record, Recorder
from core.autograd.graph import Keeps
from core.autograd.living_graph import LivingGraph, Storages
from core.autograd.tensor_info import Budget
from core.autograd.torch_private import like_output
from core.expressions.dispatch import unwatched

Matrix: TypeAlias = tuple[tuple[float, ...], ...]

MOST_OUTPUTS: Final = 16
MOST_INPUTS: Final = 256


class Session:
    """The forward and backward passes of one capture, in the order in which they are run."""

    def __init__(
        self,
        leaves: Mapping[str, Tensor],
        module: nn.Module | None,
        limits: Limits,
        jacobian_of: str = "",
    ) -> None:
        self.budget = Budget(limits.num_values)
        self.meter = Meter(limits)
        self.inputs = {name: _copy(x) for name, x in leaves.items()}
        self._module = module
        self._jacobian_of = jacobian_of
        self.printed: tuple[str, ...] = ()
        self.jacobian: tuple[Matrix | None, ...] = ()
        parameters = dict(module.named_parameters()) if module is not None else {}
        buffers = dict(module.named_buffers()) if module is not None else {}
        self.leaves: dict[str, Tensor] = {**self.inputs, **parameters}
        self.first_values = {name: self.budget.info(x) for name, x in self.leaves.items()}
        kinds: dict[str, Keeps] = dict.fromkeys(self.inputs, "input")
        kinds |= dict.fromkeys([*parameters, *buffers], "parameter")
        self.storages = Storages({**self.leaves, **buffers}, kinds)
        self.moments: list[Record | Moment] = []
        self.recorder = Recorder(self.meter, self.budget.info, self.moments)
        self.graph = LivingGraph(self.storages, self.budget, limits.num_nodes)
        self.engine = Engine(self.graph, self.recorder, self.meter, self.budget.info, self.moments)

    @contextmanager
    def recording(self, text: str = "", line: int | None = None) -> Iterator[None]:
        """Note every operation within, at a place of the reader's program."""
        place = self.recorder.place
        place.text, place.line = text, line
        with ExitStack() as stack:
            if self._module is not None:
                stack.enter_context(_telling_modules(self._module, place.modules))
            stack.enter_context(self.recorder.mode())
            yield
        place.ran.add((text, line))

    def find_nodes(self) -> None:
        """Read the graph behind everything that was computed so far."""
        records = self.recorder.records
        versions = {each.sequence: each.versions for each in records if each.sequence is not None}
        self.graph.find((x for each in records for x in each.outputs), versions)

    def backward(self, root: Tensor, gradient: Tensor | None = None, **how: Any) -> None:  # noqa: ANN401
        """Run `root.backward(gradient, ...)`, watched.

        Raises:
            RuntimeError: Whatever torch raises.
            LimitReached: If the capture has used up what it may.
        """
        self.find_nodes()
        self.graph.find([root], {})
        self._note_jacobian()
        self.engine.run(root, gradient, **how)
        self.find_nodes()  # those of `create_graph` too, while they live

    def _note_jacobian(self) -> None:
        """Compute the wanted Jacobian while the node still holds what it needs."""
        if not self._jacobian_of or self.jacobian:
            return
        ids = {f"n{at}": living for at, living in enumerate(self.graph.in_order())}
        living = ids.get(self._jacobian_of)
        if living is None or living.leaf is not None or not living.shapes:
            return
        with unwatched():
            self.jacobian = jacobian_of(living.torch, living.shapes, like_output(living.torch))


@contextmanager
def kept_as_it_was(module: nn.Module | None) -> Iterator[None]:
    """Give a module back with the gradients and buffers that it had."""
    if module is None:
        yield
        return
    gradients = {x: x.grad for x in module.parameters()}
    buffers = {x: x.clone() for x in module.buffers()}
    for weights in gradients:
        weights.grad = None
    try:
        yield
    finally:
        for weights, gradient in gradients.items():
            weights.grad = gradient
        for x, value in buffers.items():
            x.copy_(value)


def _copy(x: Tensor) -> Tensor:
    """Return a leaf of the capture's own, with a gradient of its own."""
    copy = x.detach().clone().requires_grad_(x.requires_grad)
    if x.grad is not None:
        copy.grad = x.grad.detach().clone()
    return copy


@contextmanager
def _telling_modules(module: nn.Module, path: list[str]) -> Iterator[None]:
    """Keep the path of the module that runs at the end of a list."""

    def entering(name: str) -> Any:  # noqa: ANN401
        return lambda *_call: path.append(name)

    def leaving(*_call: object) -> None:
        path.pop()

    handles = []
    for name, each in module.named_modules():
        handles.append(each.register_forward_pre_hook(entering(name)))
        handles.append(each.register_forward_hook(leaving, always_call=True))
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()
        path.clear()


def jacobian_of(
    torch_node: Any,  # noqa: ANN401  torch's nodes have no common public type
    shapes: Sequence[tuple[int, ...]],
    like: Tensor,
) -> tuple[Matrix | None, ...]:
    """Return a Jacobian for each input of a node: a row an output element, a column an input's.

    The real node is called with one-hot gradients, so each call gives a row; calling it frees
    nothing that it saved and runs no hook. Elements are counted in row-major order. Call it before
    a backward frees what the node saved; a node under a checkpoint would compute its forward again.

    Args:
        torch_node: A `grad_fn`; never a leaf's, which would add to its `.grad`.
        shapes: Of its outputs; the first one is meant.
        like: A tensor of the output's dtype and device.

    Returns:
        None for an input that takes no gradient, or has more than 256 elements; () if the output
        has more than 16.
    """
    num_rows = torch.Size(shapes[0]).numel()
    if num_rows > MOST_OUTPUTS:
        return ()
    # The node of a torch.autograd.Function is no callable; its `apply` is the same.
    call = torch_node if callable(torch_node) else torch_node.apply
    rows = []
    for one_hot in torch.eye(num_rows, dtype=like.dtype, device=like.device):
        with torch.no_grad():
            answer = call(one_hot.reshape(shapes[0]), *[None] * (len(shapes) - 1))
        rows.append(_row(torch_node, answer if isinstance(answer, tuple | list) else (answer,)))
    return tuple(None if None in column else column for column in zip(*rows, strict=True))


def _row(torch_node: Any, gradients: Sequence[Any]) -> list[tuple[float, ...] | None]:  # noqa: ANN401
    """Return what goes to each input; to a leaf that was broadcast the sum, as in the engine."""
    row: list[tuple[float, ...] | None] = []
    for gradient, (below, _number) in zip(gradients, torch_node.next_functions, strict=True):
        leaf = getattr(below, "variable", None)
        x = gradient if gradient is None or leaf is None else gradient.sum_to_size(leaf.shape)
        is_small = x is not None and x.numel() <= MOST_INPUTS
        row.append(tuple(x.reshape(-1).tolist()) if is_small else None)
    return row
