"""A capture while it runs: it holds living tensors, and gives them back as they were."""

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import Any

from torch import Tensor, nn

from core.autograd.engine import Engine, Moment
from core.autograd.forward import Limits, Meter, Record, Recorder
from core.autograd.graph import Keeps
from core.autograd.jacobian import Matrix, jacobian_of
from core.autograd.living_graph import LivingGraph, Storages
from core.autograd.tensor_info import Budget
from core.autograd.torch_private import like_output
from core.expressions.dispatch import unwatched


class Session:
    """The forward and backward passes of one capture, in the order in which they are run.

    Args:
        leaves: By name; of a module's the parameters are added under their paths.
        module: Whose calls are told apart by path.
        limits: How much may be used.
        jacobian_of: Id of the node whose local Jacobian is wanted; "" of none.
    """

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
