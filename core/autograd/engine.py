"""One backward pass, watched: what goes into each node and comes out, and what is freed when."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor
from torch.autograd.graph import Node as TorchNode
from torch.utils.hooks import RemovableHandle

from core.autograd.forward import Meter, Recorder, made_bytes
from core.autograd.graph import EventKind, TensorInfo
from core.autograd.living_graph import LivingGraph, LivingNode, keepers, open_inputs
from core.autograd.torch_private import planned_order, running_node
from core.expressions.dispatch import Watching

Infos = tuple[TensorInfo | None, ...]
_WHO_LISTENS: ContextVar[Callable[[str], None] | None] = ContextVar("hooks", default=None)


def announced(name: str, hook: Callable[..., Any]) -> Callable[..., Any]:
    """Return a hook that names itself to the capture in whose backward pass it runs, if any."""

    def telling(*given: Any) -> Any:  # noqa: ANN401  what torch hands to hooks differs
        listener = _WHO_LISTENS.get()
        if listener is not None:
            listener(name)
        return hook(*given)

    return telling


@contextmanager
def hearing(listener: Callable[[str], None]) -> Iterator[None]:
    """Hear of the hooks that run in this thread."""
    before = _WHO_LISTENS.set(listener)
    try:
        yield
    finally:
        _WHO_LISTENS.reset(before)


@dataclass(kw_only=True, slots=True)
class Moment:
    """An event of a backward that still knows its living node; `freed` are storages' bytes."""

    kind: EventKind
    node: TorchNode | None = None
    leaf: Tensor | None = None
    gradients: Infos = ()
    before: TensorInfo | None = None
    after: TensorInfo | None = None
    waiting: Sequence[TorchNode] = ()
    freed: Mapping[str, int] = field(default_factory=dict)
    text: str = ""
    backward: int | None = None


@dataclass(kw_only=True, slots=True)
class Pass:
    """What one backward did."""

    root: TorchNode | None = None  # the node that it began at
    order: list[TorchNode] = field(default_factory=list)  # the nodes that ran, in turn
    planned: list[TorchNode] = field(default_factory=list)  # the engine's own plan
    gradients_in: dict[TorchNode, Infos] = field(default_factory=dict)  # one for each output
    contributions: dict[tuple[TorchNode, int], TensorInfo] = field(default_factory=dict)
    seconds: dict[TorchNode, float] = field(default_factory=dict)  # with the hooks
    flops: dict[TorchNode, int] = field(default_factory=dict)  # node -> torch's count
    finding: dict[TorchNode, str] = field(default_factory=dict)
    failed: TorchNode | None = None  # the node that raised


class Engine:
    """Runs backward passes over a living graph, and notes their moments."""

    def __init__(
        self,
        graph: LivingGraph,
        recorder: Recorder,
        meter: Meter,
        info: Callable[[Tensor], TensorInfo],
        moments: list[Any],
    ) -> None:
        self.moments = moments
        self.passes: list[Pass] = []
        self._graph, self._recorder, self._meter, self._info = graph, recorder, meter, info

    def run(
        self,
        root: Tensor,
        gradient: Tensor | None = None,
        *,
        retain_graph: bool | None = None,
        create_graph: bool = False,
    ) -> None:
        """Run `root.backward(...)`.

        Raises:
            RuntimeError: Whatever torch raises.
            LimitReached: If the capture has used up what it may.
        """
        watch = _Watch(self, Pass(root=root.grad_fn), len(self.passes), self._reachable(root))
        watch.frees = not (create_graph if retain_graph is None else retain_graph)
        made = (x for record in self._recorder.records for x in record.outputs)
        watch.keeping = list({id(x): x for x in made if x.retains_grad}.values())
        self.passes.append(watch.ran)
        watch.seed(root, gradient)
        mode = self._recorder.mode() if create_graph else Watching(watch.count)
        self._recorder.layer = int(create_graph)
        try:
            with watch, hearing(watch.hear), torch.autograd.set_multithreading_enabled(False), mode:
                torch.autograd.backward(
                    root, gradient, retain_graph=retain_graph, create_graph=create_graph
                )
            watch.look_for_release()
        finally:
            self._recorder.layer = 0

    def _reachable(self, root: Tensor) -> dict[TorchNode, LivingNode]:
        found: dict[TorchNode, LivingNode] = {}
        waiting = [root.grad_fn] if root.grad_fn is not None else []
        while waiting:
            node = waiting.pop()
            if node not in found:
                found[node] = self._graph.nodes[node]
                waiting += [target for target, _output in found[node].inputs.values()]
        return found


class _Watch:
    """The hooks of one backward."""

    def __init__(
        self, engine: Engine, ran: Pass, number: int, nodes: dict[TorchNode, LivingNode]
    ) -> None:
        self.ran = ran
        self._engine, self._number, self._nodes = engine, number, nodes
        self._info = engine._info
        self._handles: list[RemovableHandle] = []
        self._open = open_inputs(nodes)
        self._ready: list[TorchNode] = []
        self._began = 0.0
        self._last: TorchNode | None = None
        self._before: TensorInfo | None = None
        self._entered = 0  # moments before the node that runs
        self.frees = True  # whether a node lets go of what it saved when it has run
        self.keeping: list[Tensor] = []  # those that retain_grad was called on
        # A storage that several nodes keep is freed with the last of them.
        self._keepers = keepers(engine._graph.nodes)

    def __enter__(self) -> None:
        for node in self._nodes:
            self._handles.append(node.register_prehook(self._entering(node)))
            self._handles.append(node.register_hook(self._leaving(node)))
        for x in self.keeping:  # after the tensor's hooks and before its node's, as torch keeps it
            self._handles.append(x.register_hook(lambda _gradient: self.hear("retain_grad()")))

    def __exit__(self, *_error: object) -> None:
        for handle in self._handles:
            handle.remove()

    def seed(self, root: Tensor, gradient: Tensor | None) -> None:
        """Note the gradient that backward begins with."""
        if root.grad_fn is not None:
            self._ready = [root.grad_fn]
        given = gradient if gradient is not None else torch.ones_like(root, requires_grad=False)
        self._note("seed", root.grad_fn, gradients=(self._info(given),))

    def _note(self, kind: EventKind, node: TorchNode | None, **more: Any) -> None:  # noqa: ANN401
        self._engine.moments.append(
            Moment(kind=kind, node=node, backward=self._number, waiting=tuple(self._ready), **more)
        )

    def _entering(self, node: TorchNode) -> Callable[[tuple[Tensor | None, ...]], None]:
        def hook(_gradients: tuple[Tensor | None, ...]) -> None:
            if not self.ran.planned:
                self.ran.planned = planned_order()
            self.look_for_release()
            self._before = self._gradient_of(self._nodes[node].leaf)
            self.ran.failed = node
            self._entered = len(self._engine.moments)
            self._began = time.perf_counter()

        return hook

    def _leaving(self, node: TorchNode) -> Callable[..., None]:
        def hook(
            contributions: tuple[Tensor | None, ...], gradients: tuple[Tensor | None, ...]
        ) -> None:
            ran = self.ran
            ran.seconds[node] = time.perf_counter() - self._began
            ran.failed = None
            infos = tuple(None if x is None else self._info(x) for x in gradients)
            ran.gradients_in[node] = infos
            ran.order.append(node)
            self._ready = [each for each in self._ready if each is not node]
            for index, x in enumerate(contributions):
                if x is not None:
                    ran.contributions[node, index] = self._info(x)
            self._find(node, infos)
            self._hand_on(node)
            self._last = node
            later = self._hooks_since()
            leaf = self._nodes[node].leaf
            if leaf is None:
                self._note("node", node, gradients=infos)
            else:
                changed = {"before": self._before, "after": self._gradient_of(leaf)}
                self._note("accumulate", node, gradients=infos, **changed)
            for each in later:
                each.waiting = tuple(self._ready)
            self._engine.moments += later

        return hook

    def _gradient_of(self, leaf: Tensor | None) -> TensorInfo | None:
        return None if leaf is None or leaf.grad is None else self._info(leaf.grad)

    def hear(self, name: str) -> None:
        """Note that a hook of the reader's runs, at the node that the engine has come to."""
        self.look_for_release()
        self._note("hook", running_node(), text=name)

    def _hooks_since(self) -> list[Moment]:
        """Take out the hooks of the node that has just run: as this one, they came after it."""
        moments = self._engine.moments
        since = moments[self._entered :]
        moments[self._entered :] = [each for each in since if not _is_hook(each)]
        return list(filter(_is_hook, since))

    def _find(self, node: TorchNode, infos: Infos) -> None:
        """Note a node that made NaN or infinity of finite numbers."""
        outward = [
            self.ran.contributions[node, index]
            for index in self._nodes[node].inputs
            if (node, index) in self.ran.contributions
        ]
        if all(map(_is_finite, infos)) and not all(map(_is_finite, outward)):
            has_nan = any(each.statistics and each.statistics.num_nan for each in outward)
            self.ran.finding[node] = "nan" if has_nan else "inf"

    def _hand_on(self, node: TorchNode) -> None:
        """Queue the nodes that now have all their gradients, as the engine does."""
        for target, _output in self._nodes[node].inputs.values():
            self._open[target] -= 1
            if not self._open[target]:
                self._ready.append(target)
        self._ready.sort(key=lambda each: -self._nodes[each].sequence)

    def look_for_release(self) -> None:
        """Note what the node that ran last has let go of since."""
        node, self._last = self._last, None
        if node is not None and self.frees:
            self._nodes[node].let_go()
        if node is None or not self._nodes[node].raws or self._nodes[node].holds():
            return
        freed = {}
        for saved in self._nodes[node].saved:
            keepers = self._keepers.get(saved.storage, set())
            keepers.discard(node)
            if not keepers and saved.kind == "activation":
                freed[saved.storage] = saved.storage_bytes
        self._note("release", node, freed=freed)

    def count(
        self,
        func: Any,  # noqa: ANN401
        inputs: Sequence[Tensor],
        outputs: Sequence[Tensor],
        flops: int,
    ) -> None:
        """Count the FLOPs of the node that runs; operations of a recomputed forward too."""
        self._engine._meter.count(made_bytes(inputs, outputs))
        node = running_node()
        if node is None:
            return
        self.ran.flops[node] = self.ran.flops.get(node, 0) + flops
        if torch.is_grad_enabled():
            self._note_recompute(node, str(func._schema.name).removeprefix("aten::"))

    def _note_recompute(self, node: TorchNode, name: str) -> None:
        last = self._engine.moments[-1]
        if isinstance(last, Moment) and last.kind == "recompute" and last.node is node:
            last.text = f"{last.text}, {name}"
        else:
            self._note("recompute", node, text=name)


def _is_hook(moment: object) -> bool:
    return isinstance(moment, Moment) and moment.kind == "hook"


def _is_finite(info: TensorInfo | None) -> bool:
    if info is None or info.statistics is None:
        return True
    return not info.statistics.num_nan and not info.statistics.num_inf
