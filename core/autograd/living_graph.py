"""Autograd's graph while it lives: its nodes, what each keeps, and which are still needed."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from torch import Tensor
from torch.autograd.graph import Node as TorchNode

from core.autograd.forward import LimitReached
from core.autograd.graph import Keeps, Saved, TensorInfo
from core.autograd.tensor_info import Budget
from core.autograd.torch_private import (
    Seen,
    attributes_of,
    hides_saved,
    kept_of,
    leaf_tensor,
    outputs_of,
    raw_saved,
    sequence_of,
)
from core.expressions.dispatch import storage_id

_UNKNOWN: Final = TensorInfo(shape=(), dtype="", num_bytes=0)  # packed by a hook


@dataclass(kw_only=True, slots=True)
class LivingNode:
    """A node and what was read of it before the engine ran."""

    torch: TorchNode  # the node itself, held so that torch does not make another wrapper for it
    inputs: dict[int, tuple[TorchNode, int]]  # which output of which node
    sequence: int  # the higher, the later it was made
    shapes: list[tuple[int, ...]]  # of its outputs
    saved: tuple[Saved, ...] = ()  # what it keeps, by storage key
    raws: list[Any] = field(default_factory=list)
    attributes: dict[str, str] = field(default_factory=dict)
    leaf: Tensor | None = None  # the tensor of a leaf

    def holds(self) -> bool:
        """Whether it still keeps something."""
        return any(raw.data is not None for raw in self.raws)

    def let_go(self) -> None:
        """Note that the engine has freed what it keeps, where torch does not show it."""
        for raw in self.raws:
            if isinstance(raw, Seen):
                raw.data = None


class Storages:
    """Which memory is whose: parameters and inputs are alive without the graph."""

    def __init__(self, alive: Mapping[str, Tensor], kinds: Mapping[str, Keeps]) -> None:
        self._alive = {storage_id(x): (name, kinds[name]) for name, x in alive.items()}
        self._keys: dict[int, str] = {}
        self._held: list[Tensor] = []  # a freed storage's number would be used again
        self.versions: dict[int, int] = {}  # at the latest operation that met it
        self.makers: dict[int, str] = {}

    def describe(self, name: str, x: Tensor, budget: Budget, version: int | None) -> Saved:
        """Return a saved tensor as plain data."""
        number = storage_id(x)
        if number not in self._keys:
            self._keys[number] = f"S{len(self._keys)}"
            self._held.append(x)
        alias, kind = self._alive.get(number, ("", "activation"))
        return Saved(
            name=name,
            tensor=budget.info(x),
            storage=self._keys[number],
            storage_bytes=x.untyped_storage().nbytes(),
            alias_of=alias,
            kind=kind,
            stride=tuple(x.stride()),
            offset=int(x.storage_offset()),
            version_saved=version,
            version_now=None if x.is_inference() else x._version,
        )


class LivingGraph:
    """All nodes that were found, in the order of finding."""

    def __init__(self, storages: Storages, budget: Budget, max_nodes: int) -> None:
        self.nodes: dict[TorchNode, LivingNode] = {}
        self._storages, self._budget, self._max_nodes = storages, budget, max_nodes
        self._hidden: dict[TorchNode, list[tuple[str, Any]]] = {}

    def look_into(self, written: Tensor) -> None:
        """Read what a write into a view keeps, as long as nobody has overwritten that."""
        node = written.grad_fn
        behind = [each for each, _output in node.next_functions] if node is not None else []
        for each in (node, *behind):
            if each is not None and hides_saved(each) and each not in self._hidden:
                self._hidden[each] = list(raw_saved(each))

    def find(self, roots: Iterable[Tensor], versions: Mapping[int, Mapping[int, int]]) -> None:
        """Walk from tensors to all nodes behind them; known ones are not walked again.

        Args:
            roots: Tensors of the graph.
            versions: Sequence number of a node -> storage -> its version when it was made.

        Raises:
            LimitReached: If there are too many.
        """
        waiting = [x.grad_fn for x in roots if x.grad_fn is not None]
        while waiting:
            node = waiting.pop()
            if node in self.nodes:
                continue
            if len(self.nodes) >= self._max_nodes:
                self._leave_out_the_rest()
                raise LimitReached("nodes")
            self.nodes[node] = living = self._read(node, versions)
            waiting += [target for target, _output in living.inputs.values()]

    def _leave_out_the_rest(self) -> None:
        for living in self.nodes.values():
            known = living.inputs.items()
            living.inputs = {at: each for at, each in known if each[0] in self.nodes}

    def _read(self, node: TorchNode, versions: Mapping[int, Mapping[int, int]]) -> LivingNode:
        inputs = {
            index: (target, output)
            for index, (target, output) in enumerate(node.next_functions)
            if target is not None
        }
        sequence = sequence_of(node)
        raws = self._hidden.pop(node, None) or list(raw_saved(node))
        return LivingNode(
            torch=node,
            inputs=inputs,
            sequence=sequence,
            shapes=outputs_of(node),
            saved=tuple(self._saved(raws, versions.get(sequence, {}))),
            raws=[raw for _name, raw in raws],
            attributes=attributes_of(node),
            leaf=leaf_tensor(node),
        )

    def _saved(
        self, raws: Iterable[tuple[str, Any]], versions: Mapping[int, int]
    ) -> Iterator[Saved]:
        for name, raw in raws:
            x, is_packed = kept_of(raw)
            if x is not None:
                yield self._storages.describe(name, x, self._budget, versions.get(storage_id(x)))
            elif is_packed:
                yield Saved(name=name, tensor=_UNKNOWN, storage="", storage_bytes=0, kind="packed")

    def in_order(self) -> list[LivingNode]:
        """Return all nodes in the order of the forward pass, leaves before their first use."""
        inner = [each for each in self.nodes.values() if each.leaf is None]
        found: dict[TorchNode, LivingNode] = {}
        for each in sorted(inner, key=lambda node: node.sequence):
            for target, _output in each.inputs.values():
                found.setdefault(target, self.nodes[target])
            found.setdefault(each.torch, each)
        return _after_their_inputs(found)


def _after_their_inputs(nodes: Mapping[TorchNode, LivingNode]) -> list[LivingNode]:
    """Return nodes so that each comes after what it was computed from; a stable sort."""
    done: dict[TorchNode, LivingNode] = {}
    for first in nodes:
        waiting = [first]
        while waiting:
            node = waiting[-1]
            open_inputs = [t for t, _output in nodes[node].inputs.values() if t not in done]
            if open_inputs:
                waiting.append(open_inputs[0])
            else:
                done[waiting.pop()] = nodes[node]
    return list(done.values())


def open_inputs(nodes: Mapping[TorchNode, LivingNode]) -> dict[TorchNode, int]:
    """Return how many gradients each node waits for."""
    waits = dict.fromkeys(nodes, 0)
    for living in nodes.values():
        for target, _output in living.inputs.values():
            waits[target] += 1
    return waits


def keepers(nodes: Mapping[TorchNode, LivingNode]) -> dict[str, set[TorchNode]]:
    """Return for each storage that only the graph keeps alive which nodes still keep it."""
    told: dict[str, set[TorchNode]] = {}
    for node, living in nodes.items():
        if living.holds():
            for saved in living.saved:
                if saved.kind == "activation":
                    told.setdefault(saved.storage, set()).add(node)
    return told
