"""Drawings of graphs: nothing overlaps, every link goes to the right, always the same."""

from itertools import combinations, pairwise

import pytest

from core.autograd.collapse import Box, Link, View, collapse
from core.autograd.layout import layout
from tests.core.autograd.made_captures import fork, random_capture, seeded, transformer


def sizes_of(view, rng=None):
    width = (lambda: rng.randint(20, 180)) if rng else (lambda: 120)
    return {box.id: (width(), 30 + 10 * (len(box.label) % 5)) for box in view.boxes}


def overlaps(drawing):
    def meet(one, other):
        (x, y, width, height), (left, top, wide, high) = one, other
        apart = x + width <= left or left + wide <= x or y + height <= top or top + high <= y
        return not apart

    places = drawing.places
    return [pair for pair in combinations(places, 2) if meet(places[pair[0]], places[pair[1]])]


@pytest.mark.slow
def test_of_hundreds_of_graphs_no_box_overlaps_and_every_link_goes_to_the_right():
    for seed in range(300):
        rng = seeded(seed)
        view = collapse(random_capture(rng, rng.randint(1, 40)), depth=rng.choice([None, 1, 2]))
        drawing = layout(view, sizes_of(view, rng))
        assert not overlaps(drawing), seed
        for link in view.links:
            (x, _y, width, _height), (left, *_) = (
                drawing.places[link.target],
                drawing.places[link.source],
            )
            assert x + width < left, (seed, link)
            points = drawing.paths[link.id]
            assert points[0][0] == x + width
            assert points[-1][0] == left
            assert all(first[0] <= second[0] for first, second in pairwise(points)), (seed, link)
        for x, y, width, height in drawing.places.values():
            assert min(x, y) >= -1e-9
            assert x + width <= drawing.width + 1e-9
            assert y + height <= drawing.height + 1e-9


def test_links_pass_boxes_without_touching_them():
    for seed in range(100):
        view = collapse(random_capture(seeded(seed)))
        drawing = layout(view, sizes_of(view))
        for points in drawing.paths.values():
            for (x, y), (right, level) in zip(points[1:-1:2], points[2:-1:2], strict=True):
                assert y == level
                for left, top, width, height in drawing.places.values():
                    is_in_the_way = left < right and x < left + width and top < y < top + height
                    assert not is_in_the_way, seed


def test_the_same_view_is_always_drawn_alike():
    for seed in range(20):
        drawings = []
        for _ in range(2):
            view = collapse(random_capture(seeded(seed)))
            drawings.append(layout(view, sizes_of(view)))
        assert drawings[0] == drawings[1]


def test_leaves_stand_at_the_left_beside_their_use_and_the_loss_at_the_right():
    view = collapse(transformer(1))
    drawing = layout(view, sizes_of(view))
    right = max(drawing.places, key=lambda name: drawing.places[name][0])

    assert right == view.boxes[-1].id
    for box in view.boxes:
        if box.kind == "leaf":
            use = next(link.source for link in view.links if link.target == box.id)
            x, _y, width, _height = drawing.places[box.id]
            assert drawing.places[use][0] - (x + width) < 200


def test_a_chain_runs_level():
    boxes = tuple(Box(id=name, kind="node", label=name, members=(name,)) for name in "abcd")
    links = tuple(
        Link(id=f"{right}>{left}", source=right, target=left) for left, right in pairwise("abcd")
    )
    drawing = layout(View(boxes=boxes, links=links), dict.fromkeys("abcd", (50, 30)))
    assert {y for _x, y, _width, _height in drawing.places.values()} == {0.0}


def test_a_fork_is_drawn_without_crossings():
    view = collapse(fork())
    drawing = layout(view, sizes_of(view))
    mul, power = drawing.places["n1"], drawing.places["n2"]
    ends = {
        link.target: drawing.paths[link.id][-1][1] for link in view.links if link.source == "n3"
    }
    assert (mul[1] < power[1]) == (ends["n1"] < ends["n2"])


def test_a_view_with_a_circle_is_refused():
    boxes = tuple(Box(id=name, kind="node", label=name, members=(name,)) for name in "ab")
    links = (Link(id="1", source="a", target="b"), Link(id="2", source="b", target="a"))
    with pytest.raises(ValueError, match="circle"):
        layout(View(boxes=boxes, links=links), dict.fromkeys("ab", (50, 30)))
