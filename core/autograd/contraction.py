"""Drawing groups of a graph as one box each, without making a circle."""

from collections.abc import Iterable, Mapping, Sequence
from graphlib import CycleError, TopologicalSorter

Arrows = Sequence[tuple[str, str]]


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
        names = {turn: f"{group}#{at}" if at else group for at, turn in _numbered(turns)}
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


def _numbered(turns: Mapping[str, int]) -> list[tuple[int, int]]:
    return list(enumerate(sorted(set(turns.values()))))
