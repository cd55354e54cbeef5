"""From a capture to what is drawn of it: modules closed, sums kept, no circle made."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from core.autograd.graph import Capture, Edge, Node
from core.autograd.module_groups import (
    Item,
    arrows_of,
    closed_modules,
    contract,
    copies_in,
    fitting_depth,
    is_too_much,
    items_of,
    runs_of_neighbours,
    with_repeats,
)

BoxKind = Literal["node", "leaf", "ghost", "module", "operations"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Box:
    """One box.

    Attributes:
        id: Of its node or ghost; "m:blocks.0" of a module, with "#1" behind it where a module had
            to be drawn as several boxes.
        flops_forward, flops_backward: Of all members.
        saved_bytes: What its members keep beyond parameters and inputs; memory that several boxes
            keep counts for the first.
    """

    id: str
    kind: BoxKind  # "operations" are neighbours in the program that are in no module, drawn as one
    label: str  # what stands on it
    members: tuple[str, ...]  # ids of its nodes and ghosts, in the order of the forward pass
    path: str = ""  # what `expanded` has to name to open it; "" of what cannot be opened
    inside: str = ""  # the innermost opened path that it lies in; "" of none
    times: int = 1  # how many identical modules it stands for
    flops_forward: int = 0
    flops_backward: int = 0
    saved_bytes: int = 0


@dataclass(frozen=True, kw_only=True, slots=True)
class Link:
    """A value's way from the box `target`, which made it, to `source`, computed from it."""

    id: str  # of its own
    source: str
    target: str
    edges: tuple[int, ...] = ()  # places in the capture's edges; () to a ghost
    operation: str = ""  # that it leads into, where boxes are tensors
    is_cut: bool = False  # whether no gradient goes back along it
    has_scissors: bool = False  # whether it is here that a gradient's way ends


@dataclass(frozen=True, kw_only=True, slots=True)
class Join:
    """An output of a box, and what comes back to it: the contributions add up to its gradient."""

    box: str  # id of the box
    node: str  # id of the member that made the output
    output_number: int  # which of its outputs
    edges: tuple[int, ...]  # places in the capture's edges: a contribution each


@dataclass(frozen=True, kw_only=True, slots=True)
class View:
    """What is drawn of a capture."""

    boxes: tuple[Box, ...] = ()  # in the order of the forward pass
    links: tuple[Link, ...] = ()  # in the order of the capture's edges, then those of ghosts
    joins: tuple[Join, ...] = ()  # of outputs that other boxes use
    collapsed_by_itself: bool = False  # whether it was, because there was too much to draw

    @property
    def box_of(self) -> dict[str, str]:
        """Return the id of the box of each node and ghost."""
        return {member: box.id for box in self.boxes for member in box.members}


def collapse(
    capture: Capture,
    expanded: Collection[str] = (),
    depth: int | None = None,
    *,
    as_tensors: bool = False,
) -> View:
    """Return what is drawn of a capture.

    Modules are closed at `depth` (1: the outermost), but those in `expanded` are open and show what
    is in them. Identical modules of a list become one box while neither the list nor one of them is
    in `expanded`. More than `DRAWN` boxes are collapsed until a screen shows them; what the reader
    has opened stays open.
    """
    items, arrows = items_of(capture), arrows_of(capture)
    is_too_large = is_too_much(items, closed_modules(items, depth))
    runs = {}
    if is_too_large:
        depth = fitting_depth(items, depth)
        runs = runs_of_neighbours(items, depth, expanded)
    groups = with_repeats(items, arrows, closed_modules(items, depth, expanded) | runs, expanded)
    box_of = contract(list(items), arrows, groups)
    kinds = _members(box_of)
    saved = _saved_bytes(capture)
    return View(
        boxes=tuple(_box(each, items, arrows, kinds[each], saved, expanded) for each in kinds),
        links=(
            *_edge_links(capture, box_of, kinds, as_tensors=as_tensors),
            *_ghost_links(capture, box_of),
        ),
        joins=_joins(capture, box_of),
        collapsed_by_itself=is_too_large,
    )


def _members(box_of: Mapping[str, str]) -> dict[str, tuple[str, ...]]:
    members: dict[str, list[str]] = {}
    for name, box in box_of.items():
        members.setdefault(box, []).append(name)
    return {box: tuple(names) for box, names in members.items()}


def _saved_bytes(capture: Capture) -> dict[str, int]:
    """Return what each node keeps beyond parameters and inputs: a storage counts once."""
    seen: set[str] = set()
    found = {}
    for node in capture.nodes:
        extra = [each for each in node.saved if each.kind in {"activation", "packed"}]
        fresh = {each.storage: each.storage_bytes for each in extra if each.storage not in seen}
        seen |= set(fresh)
        found[node.id] = sum(fresh.values())
    return found


def _box(
    name: str,
    items: Mapping[str, Item],
    arrows: Sequence[tuple[str, str]],
    members: tuple[str, ...],
    saved: Mapping[str, int],
    expanded: Collection[str],
) -> Box:
    nodes = [each for member in members if isinstance(each := items[member].of, Node)]
    kind = _kind(name, items)
    label, times, opens = _label(name, kind, items, arrows, members)
    shared = [each for each in items[members[0]].paths if each in expanded]
    return Box(
        id=name,
        kind=kind,
        label=label,
        members=members,
        path=opens,
        inside=shared[-1] if shared else "",
        times=times,
        flops_forward=sum(node.flops_forward for node in nodes),
        flops_backward=sum(node.flops_backward for node in nodes),
        saved_bytes=sum(saved.get(member, 0) for member in members),
    )


def _kind(name: str, items: Mapping[str, Item]) -> BoxKind:
    if name.startswith("m:"):
        return "operations" if name.startswith("m:#") else "module"
    of = items[name].of
    if not isinstance(of, Node):
        return "ghost"
    return "leaf" if of.leaf else "node"


def _label(
    name: str,
    kind: BoxKind,
    items: Mapping[str, Item],
    arrows: Sequence[tuple[str, str]],
    members: tuple[str, ...],
) -> tuple[str, int, str]:
    """Return what stands on a box, how many modules it stands for, and what opens it."""
    if kind == "operations":
        labels = [items[each].of.label for each in members]
        return f"{labels[0]} … {labels[-1]}", 1, f"#{name[3:].partition('#')[0]}"
    if kind != "module":
        return items[name].of.label, 1, ""
    path, split, _piece = name[2:].partition("#")
    copies = () if split else copies_in(items, arrows, path, members)
    label = f"{path}.{copies[0]}-{copies[-1]}" if copies else path
    return label, len(copies) or 1, path


def _edge_links(
    capture: Capture,
    box_of: Mapping[str, str],
    members: Mapping[str, tuple[str, ...]],
    *,
    as_tensors: bool,
) -> tuple[Link, ...]:
    """Return a link an edge between nodes, and one for all edges between a module and a box."""
    together: dict[tuple[str, str, bool, int], list[int]] = {}
    for at, edge in enumerate(capture.edges):
        source, target = box_of[edge.source], box_of[edge.target]
        if source != target:
            is_single = len(members[source]) == len(members[target]) == 1
            key = (source, target, edge.is_cut, edge.input_index if is_single else -1)
            together.setdefault(key, []).append(at)
    operations = {node.id: node.operation or node.type for node in capture.nodes}
    return tuple(
        Link(
            id=f"{source}>{target}:{'cut' if is_cut else ''}{number}",
            source=source,
            target=target,
            edges=tuple(edges),
            operation=operations.get(source, source.removeprefix("m:")) if as_tensors else "",
            is_cut=is_cut,
        )
        for (source, target, is_cut, number), edges in together.items()
    )


def _ghost_links(capture: Capture, box_of: Mapping[str, str]) -> tuple[Link, ...]:
    """Return the ways into ghosts: out of a node, this is where a gradient's way ends."""
    nodes = {node.id for node in capture.nodes}
    found: dict[tuple[str, str], bool] = {}
    for ghost in capture.ghosts:
        for each in ghost.inputs:
            pair = (box_of[ghost.id], box_of[each])
            if pair[0] != pair[1]:
                found[pair] = found.get(pair, False) or each in nodes
    return tuple(
        Link(
            id=f"{source}>{target}:ghost",
            source=source,
            target=target,
            is_cut=True,
            has_scissors=cut,
        )
        for (source, target), cut in found.items()
    )


def _joins(capture: Capture, box_of: Mapping[str, str]) -> tuple[Join, ...]:
    """Return the outputs that other boxes use, with what came back in the last backward."""
    ran = _ran_last(capture)
    sums: dict[tuple[str, int], list[int]] = {}
    for at, edge in enumerate(capture.edges):
        if edge.gradient is not None and edge.source in ran:
            sums.setdefault((edge.target, edge.output_number), []).append(at)

    def leaves_its_box(edge: Edge) -> bool:
        return box_of[edge.source] != box_of[edge.target]

    return tuple(
        Join(box=box_of[node], node=node, output_number=output, edges=tuple(edges))
        for (node, output), edges in sums.items()
        if any(leaves_its_box(capture.edges[at]) for at in edges)
    )


def _ran_last(capture: Capture) -> set[str]:
    """Return the nodes of the last backward: what earlier ones handed on is in no sum of it."""
    runs = [event for event in capture.events if event.kind == "node"]
    if not runs:
        return {node.id for node in capture.nodes}
    return {event.node for event in runs if event.backward == runs[-1].backward}
