"""Living nodes and noted operations put together as the plain data of a `Capture`."""

from collections.abc import Iterator
from typing import Final

import torch
from torch.autograd.graph import Node as TorchNode

from core.autograd.engine import Moment, Pass
from core.autograd.forward import Record
from core.autograd.graph import Cut, Edge, Event, Ghost, Leaf, Node, Saved, TensorInfo
from core.autograd.living_graph import LivingNode
from core.autograd.session import Session

_OPERATORS: Final = {
    "add": "{} + {}", "sub": "{} - {}", "mul": "{} * {}", "div": "{} / {}", "pow": "{} ** {}",
    "mm": "{} @ {}", "bmm": "{} @ {}", "mv": "{} @ {}", "neg": "-{}",
}  # fmt: skip


class Assembly:
    """Gives ids to living things, and tells of them."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._records = session.recorder.records
        self._living = session.graph.in_order()
        self.ids = {living.torch: f"n{at}" for at, living in enumerate(self._living)}
        self._leaf_names = {id(x): name for name, x in session.leaves.items()}
        self._record_of = self._find_records()
        self._node_of = {id(r): node for node, (r, _output) in self._record_of.items()}
        # What a text comes to: its last operation that made a node, if one did.
        self._last = {(each.text, each.line): each for each in self._records}
        self._last |= {
            (each.text, each.line): each for each in self._records if each.sequence is not None
        }
        self._leaf_ids = {
            id(living.leaf): self.ids[living.torch]
            for living in self._living
            if living.leaf is not None
        }
        self._ghosts = self._find_ghosts()
        self._kept = self._find_kept()
        self._passes: dict[TorchNode, Pass] = {}
        for each in session.engine.passes:
            self._passes |= dict.fromkeys(each.order, each)

    # which operation made which node

    def _find_records(self) -> dict[TorchNode, tuple[Record, int]]:
        """Return node -> the operation that made it, and its first output of that node."""
        found: dict[TorchNode, tuple[Record, int]] = {}
        # What made no node, such as a write under no_grad, has one only if nobody else made it.
        latest_first = self._records[::-1]
        for record in sorted(latest_first, key=lambda each: each.sequence is None):
            for at, x in enumerate(record.outputs):
                node = x.grad_fn
                if node is not None and node in self.ids and type(node).__name__ != "CopySlices":
                    found.setdefault(node, (record, at))
        by_number = {each.sequence: each for each in self._records if each.sequence is not None}
        for living in self._living:
            numbered = by_number.get(living.sequence)
            if living.torch not in found and living.leaf is None and numbered is not None:
                shapes = [info.shape for info in numbered.infos]
                if living.shapes[:1] == shapes[:1]:
                    found[living.torch] = (numbered, 0)
        return found

    def _find_kept(self) -> dict[int, list[Saved]]:
        """Return id of an operation -> what its nodes keep beyond parameters and inputs."""
        found: dict[int, list[Saved]] = {}
        for living in self._living:
            record, _output = self._record_of.get(living.torch, (None, 0))
            record = record or self._last_before(living.sequence)
            if record is not None:
                kept = (each for each in living.saved if each.kind == "activation")
                found.setdefault(id(record), []).extend(kept)
        return found

    def _last_before(self, sequence: int) -> Record | None:
        """Return the operation in which the node of that number was made, or just before."""
        last = None
        for record in self._records:
            if record.sequence is not None and record.sequence > sequence:
                break
            last = record
        return last

    def nodes(self) -> tuple[Node, ...]:
        """Return all nodes in the order of the forward pass."""
        return tuple(self._node(living) for living in self._living)

    def _node(self, living: LivingNode) -> Node:
        node, told = living.torch, self._passes.get(living.torch)
        record, _output = self._record_of.get(node, (None, 0))
        name = self._leaf_names.get(id(living.leaf), "") if living.leaf is not None else ""
        return Node(
            id=self.ids[node],
            type=type(node).__name__,
            label=self._label(living, record, name),
            operation=record.name if record else "",
            leaf=name,
            module=record.module if record else name.rpartition(".")[0],
            line=record.line if record else None,
            outputs=self._outputs(living, record, name),
            gradients_in=told.gradients_in[node] if told else (),
            saved=living.saved,
            attributes=living.attributes,
            order=told.order.index(node) if told else None,
            seconds=told.seconds[node] if told else None,
            flops_forward=record.flops if record else 0,
            flops_backward=told.flops.get(node, 0) if told else 0,
            layer=record.layer if record else 0,
            finding=told.finding.get(node, "") if told else "",
        )

    def _label(self, living: LivingNode, record: Record | None, name: str) -> str:
        if living.leaf is not None:
            return name or "?"
        if record is None:
            return type(living.torch).__name__.removesuffix("0").removesuffix("Backward")
        return self._label_of(record)

    def _label_of(self, record: Record) -> str:
        """Return what the reader wrote, or, of a part of it, what was done."""
        place = (record.text, record.line)
        is_whole = record is self._last[place] and place in self._session.recorder.place.ran
        if record.text and is_whole:
            return record.text
        pattern = _OPERATORS.get(record.name, "")
        words = [self._leaf_names.get(id(x), "…") for x in record.inputs]
        if pattern.count("{}") == len(words) and set(words) != {"…"}:
            return pattern.format(*words)
        return record.name.strip("_")

    def _outputs(
        self, living: LivingNode, record: Record | None, name: str
    ) -> tuple[TensorInfo | None, ...]:
        if name:
            return (self._session.first_values[name],)
        if type(living.torch).__name__ == "CopySlices":
            written = (x for r in self._records for x in r.outputs if x.grad_fn is living.torch)
            return tuple(self._session.budget.info(x) for x in list(written)[:1])
        outputs: list[TensorInfo | None] = [None] * len(living.shapes)
        if record is not None:
            for x, info in zip(record.outputs, record.infos, strict=True):
                at = x.output_nr if x.grad_fn is living.torch else 0
                if at < len(outputs) and outputs[at] is None:
                    outputs[at] = info
        return tuple(outputs)

    # what is no node

    def _find_ghosts(self) -> dict[int, str]:
        """Return id of a tensor -> id of its ghost, for values that no gradient reaches."""
        used = {id(x) for record in self._records for x in record.inputs}
        found: dict[int, str] = {}
        for name, x in self._session.inputs.items():
            if not x.requires_grad and id(x) in used:
                found[id(x)] = f"g{len(found)}"
                self._leaf_names.setdefault(id(x), name)
        for record in self._records:
            if record.layer or id(record) in self._node_of:
                continue
            for x in record.outputs[:1]:
                is_write = any(x is given for given in record.inputs)
                if (
                    id(x) in used
                    and not is_write
                    and x.grad_fn is None
                    and id(x) not in self._leaf_names
                ):
                    found.setdefault(id(x), f"g{len(found)}")
        return found

    def ghosts(self) -> Iterator[Ghost]:
        """Yield all ghosts: data first, then what was computed without a node."""
        for name, x in self._session.inputs.items():
            if id(x) in self._ghosts:
                value = self._session.first_values[name]
                yield Ghost(id=self._ghosts[id(x)], label=name, reason="data", output=value)
        told: set[str] = set()
        for record in self._records:
            key = self._ghosts.get(id(record.outputs[0])) if record.outputs else None
            if key is None or key in told or id(record.outputs[0]) in self._leaf_names:
                continue
            told.add(key)
            yield Ghost(
                id=key,
                label=self._label_of(record),
                reason=self._reason(record),
                operation=record.name,
                inputs=tuple(dict.fromkeys(filter(None, map(self._id_of, record.inputs)))),
                output=record.infos[0],
                module=record.module,
                line=record.line,
            )

    def _reason(self, record: Record) -> Cut:
        if record.inference:
            return "inference_mode"
        if record.name == "detach":
            return "detach"
        if not (record.outputs[0].is_floating_point() or record.outputs[0].is_complex()):
            return "integer"
        needs = any(x.requires_grad for x in record.inputs)
        if needs and not record.grad_enabled:
            return "no_grad"
        return "data" if record.inputs else "constant"

    def _id_of(self, x: torch.Tensor) -> str:
        """Return the id of the node or ghost that a tensor came from; "" if it is not known."""
        if id(x) in self._ghosts:
            return self._ghosts[id(x)]
        if x.grad_fn is not None:
            return self.ids.get(x.grad_fn, "")
        return self._leaf_ids.get(id(x), "")

    def edges(self) -> Iterator[Edge]:
        """Yield the edges of each node: where gradients go, then those that are cut."""
        for living in self._living:
            told = self._passes.get(living.torch)
            source = self.ids[living.torch]
            for index, (target, output) in living.inputs.items():
                yield Edge(
                    source=source,
                    target=self.ids[target],
                    input_index=index,
                    output_number=output,
                    gradient=told.contributions.get((living.torch, index)) if told else None,
                )
            record, _output = self._record_of.get(living.torch, (None, 0))
            for index, x in enumerate(record.inputs if record else ()):
                if id(x) in self._ghosts:
                    yield Edge(
                        source=source, target=self._ghosts[id(x)], input_index=index, is_cut=True
                    )

    # time

    def events(self) -> Iterator[Event]:
        """Yield the timeline, with what the graph keeps after each moment."""
        held: dict[str, int] = {}
        for moment in self._session.moments:
            if isinstance(moment, Record):
                node = self._node_of.get(id(moment))
                for each in self._kept.get(id(moment), ()):
                    held[each.storage] = each.storage_bytes
                if told := self._forward_event(moment, node, sum(held.values())):
                    yield told
                continue
            for storage in moment.freed:
                held.pop(storage, None)
            yield self._event(moment, sum(held.values()))

    def _forward_event(self, record: Record, node: TorchNode | None, saved: int) -> Event | None:
        key = self.ids[node] if node is not None else ""
        if not key and record.outputs:
            key = self._ghosts.get(id(record.outputs[0]), "")
        return Event(kind="forward", node=key, saved_bytes=saved) if key else None

    def _event(self, moment: Moment, saved: int) -> Event:
        return Event(
            kind=moment.kind,
            node=self._place_of(moment),
            backward=moment.backward,
            gradients=moment.gradients,
            before=moment.before,
            after=moment.after,
            waiting=tuple(self.ids[each] for each in moment.waiting),
            saved_bytes=saved,
            num_bytes=sum(moment.freed.values()),
            text=moment.text,
        )

    def _place_of(self, moment: Moment) -> str:
        if moment.leaf is not None:
            return self._leaf_ids.get(id(moment.leaf), self._ghosts.get(id(moment.leaf), ""))
        return self.ids.get(moment.node, "") if moment.node is not None else ""

    def leaves(self) -> dict[str, Leaf]:
        """Return what was handed in, by name, as it is at the end."""
        ids, info = self._leaf_ids, self._session.budget.info
        return {
            name: Leaf(
                name=name,
                value=info(x),
                requires_grad=x.requires_grad,
                node=ids.get(id(x), self._ghosts.get(id(x), "")),
                grad=info(x.grad) if x.grad is not None else None,
            )
            for name, x in self._session.leaves.items()
        }
