"""Which nodes and ghosts become one box: closed modules, identical ones of a list, neighbours."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from typing import Final

from core.autograd.graph import Capture, Ghost, Node

DRAWN: Final = 150  # boxes; more than these are collapsed
READ: Final = 60  # and until no more are left than one screen can show
Arrows = Sequence[tuple[str, str]]
Groups = dict[str, str]  # id of a node or ghost -> "m:blocks.0"


@dataclass(frozen=True, kw_only=True, slots=True)
class Item:
    """A node or a ghost, and the modules that it lies in, from the outermost."""

    of: Node | Ghost
    paths: tuple[str, ...]


def items_of(capture: Capture) -> dict[str, Item]:
    """Return nodes and ghosts by id, as they came to be; parameters lie in their module."""
    found = _in_forward_order(capture)
    known = {path for each in found for path in _paths(each.module)}
    items = {}
    for each in found:
        module = each.module
        if isinstance(each, Node) and each.leaf and not module:
            owner = each.leaf.rpartition(".")[0]
            module = owner if owner in known else ""
        items[each.id] = Item(of=each, paths=_paths(module))
    return items


def _in_forward_order(capture: Capture) -> list[Node | Ghost]:
    """Return what the timeline does not tell of first: leaves."""
    ran = [event.node for event in capture.events if event.kind == "forward"]
    place = {each: at for at, each in reversed(list(enumerate(ran)))}
    both: list[Node | Ghost] = [*capture.nodes, *capture.ghosts]
    return sorted(both, key=lambda each: place.get(each.id, -1))


def _paths(module: str) -> tuple[str, ...]:
    """Return ("blocks", "blocks.0", "blocks.0.norm") of the last of these."""
    parts = module.split(".") if module else []
    return tuple(".".join(parts[:end]) for end in range(1, len(parts) + 1))


def arrows_of(capture: Capture) -> list[tuple[str, str]]:
    """Return from which node or ghost to which a value goes."""
    arrows = [(edge.target, edge.source) for edge in capture.edges]
    return arrows + [(each, ghost.id) for ghost in capture.ghosts for each in ghost.inputs]


def closed_modules(
    items: Mapping[str, Item], depth: int | None, expanded: Collection[str] = ()
) -> Groups:
    """Return the closed module of each item that is in one.

    Modules at the depth are closed, and those outside of them that have no module in them.
    """
    if depth is None:
        return {}
    parents = {path for item in items.values() for path in item.paths[:-1]}
    groups = {}
    for name, item in items.items():
        can_close = [
            path
            for level, path in enumerate(item.paths, 1)
            if path not in expanded and (level >= depth or path not in parents)
        ]
        if can_close:
            groups[name] = f"m:{can_close[0]}"
    return groups


def is_too_much(items: Mapping[str, Item], groups: Groups) -> bool:
    """Whether there would be more boxes than are drawn."""
    return num_boxes(items, groups) > DRAWN


def num_boxes(items: Mapping[str, Item], groups: Groups) -> int:
    """Return how many boxes there would be."""
    return len({groups.get(name, name) for name in items})


def fitting_depth(items: Mapping[str, Item], depth: int | None) -> int:
    """Return the largest depth, up to this one, at which a screen shows all boxes; else 1."""
    deepest = max((len(item.paths) for item in items.values()), default=1)
    for tried in range(min(depth or deepest, deepest), 1, -1):
        if num_boxes(items, closed_modules(items, tried)) <= READ:
            return tried
    return 1


def runs_of_neighbours(
    items: Mapping[str, Item], depth: int, expanded: Collection[str] = ()
) -> Groups:
    """Return groups of neighbours outside of modules, where closing modules was not enough."""
    closed = closed_modules(items, depth)
    free = [name for name in items if name not in closed]
    num_closed = num_boxes(items, closed) - len(free)
    if num_closed + len(free) <= DRAWN:
        return {}
    length = -(-len(free) // max(DRAWN - num_closed, 1))
    runs = {name: f"#{at // length + 1}" for at, name in enumerate(free)}
    return {name: f"m:{run}" for name, run in runs.items() if run not in expanded}


def with_repeats(
    items: Mapping[str, Item], arrows: Arrows, groups: Groups, expanded: Collection[str]
) -> Groups:
    """Return the groups, identical modules of a list as one where that makes no circle."""
    lists: dict[str, dict[str, list[str]]] = {}
    for name, group in groups.items():
        parent, _dot, last = group[2:].rpartition(".")
        if last.isdigit():
            lists.setdefault(parent, {}).setdefault(group, []).append(name)
    for parent, members in lists.items():
        is_open = any(path == parent or path.startswith(f"{parent}.") for path in expanded)
        if is_open or not are_alike(items, arrows, list(members.values())):
            continue
        tried = groups | {name: f"m:{parent}" for names in members.values() for name in names}
        if f"m:{parent}#1" not in contract(list(items), arrows, tried).values():
            groups = tried
    return groups


def are_alike(items: Mapping[str, Item], arrows: Arrows, groups: Sequence[Sequence[str]]) -> bool:
    """Whether there are several groups, and the same operations on the same shapes in each."""
    if len(groups) < 2 or len({len(group) for group in groups}) > 1:
        return False
    place = {name: (at, nth) for at, group in enumerate(groups) for nth, name in enumerate(group)}
    inner: list[set[tuple[int, int]]] = [set() for _ in groups]
    for start, end in arrows:
        (first, nth), (second, other) = place.get(start, (-1, 0)), place.get(end, (-2, 0))
        if first == second:
            inner[first].add((nth, other))
    kinds = {tuple(_kind(items[name].of) for name in group) for group in groups}
    return len(kinds) == 1 and all(each == inner[0] for each in inner)


def _kind(each: Node | Ghost) -> tuple[object, ...]:
    outputs = each.outputs if isinstance(each, Node) else (each.output,)
    shapes = tuple(output.shape for output in outputs if output is not None)
    return (each.type if isinstance(each, Node) else each.reason, each.operation, shapes)


def copies_in(
    items: Mapping[str, Item], arrows: Arrows, path: str, members: Sequence[str]
) -> tuple[str, ...]:
    """Return the identical modules ("0", "1", ...) that a module is a list of; () if it is none."""
    numbers: dict[str, list[str]] = {}
    for name in members:
        below = [each for each in items[name].paths if each.startswith(f"{path}.")]
        number = below[0].removeprefix(f"{path}.") if below else ""
        if not number.isdigit():
            return ()
        numbers.setdefault(number, []).append(name)
    return tuple(numbers) if are_alike(items, arrows, list(numbers.values())) else ()


def contract(ids: Sequence[str], arrows: Arrows, group_of: Mapping[str, str]) -> dict[str, str]:
    """Return for each id the id of its box: a group's name, or itself.

    A group that would close a circle becomes several boxes: "name", "name#1", ... A value that
    leaves a group and comes back then finds a box of its own.

    Args:
        ids: All of them.
        arrows: (from, to), without a circle.
        group_of: Names of groups, of those that are in one; no name is an id.

    Raises:
        ValueError: If the arrows go in a circle without any group.
    """
    whole = {each: group_of.get(each, each) for each in ids}
    if in_order(whole.values(), _between(arrows, whole)) is not None:
        return whole
    box_of = {each: each for each in ids}
    for group in dict.fromkeys(group_of.values()):
        members = [each for each in ids if group_of.get(each) == group]
        turns = _turns(set(members), box_of, arrows)
        numbered = enumerate(sorted(set(turns.values())))
        names = {turn: f"{group}#{at}" if at else group for at, turn in numbered}
        box_of |= {each: names[turns[each]] for each in members}
    return box_of


def in_order(boxes: Iterable[str], arrows: Iterable[tuple[str, str]]) -> list[str] | None:
    """Return the boxes with every arrow pointing onwards; None if there is a circle."""
    before: dict[str, list[str]] = {box: [] for box in boxes}
    for start, end in arrows:
        before[end].append(start)
    try:
        return list(TopologicalSorter(before).static_order())
    except CycleError:
        return None


def _between(arrows: Arrows, box_of: Mapping[str, str]) -> list[tuple[str, str]]:
    pairs = ((box_of[start], box_of[end]) for start, end in arrows)
    return list(dict.fromkeys((start, end) for start, end in pairs if start != end))


def _turns(members: set[str], box_of: Mapping[str, str], arrows: Arrows) -> dict[str, int]:
    """Return how often a way to each member has left the group before: those alike may join.

    Members of one turn have no way between them that leads outside, and a turn never leads back
    to an earlier one; so the boxes still have no circle when each turn has become one.
    """
    between = _between(arrows, box_of)
    order = in_order(box_of.values(), between)
    if order is None:  # joining what may join never makes one
        raise ValueError("the arrows already go in a circle")
    onwards: dict[str, list[str]] = {box: [] for box in order}
    for start, end in between:
        onwards[start].append(end)
    turns = dict.fromkeys(order, 0)
    for box in order:
        for end in onwards[box]:
            leaves = box in members and end not in members
            turns[end] = max(turns[end], turns[box] + leaves)
    return {each: turns[each] for each in members}
