"""What the computation graph sends to the browser: texts, the steps they come at, every word."""

import importlib
import re
from dataclasses import replace
from pathlib import Path

import pytest

from core.autograd.built_graphs import BUILT_GRAPHS, capture_built
from core.autograd.collapse import collapse
from core.autograd.graph import Event, Node, TensorInfo
from core.autograd.presets import PRESETS
from core.autograd.program import capture_program
from pages.components.computation_graph import computation_graph
from pages.components.computation_graph.rows import graph_rows
from pages.components.computation_graph.texts import (
    draw,
    gradient_text,
    number_text,
    own_part,
    short_label,
    tensor_text,
)
from pages.components.computation_graph.words import (
    EVENTS,
    WORDS,
)
from pages.components.part import translated
from tests.core.autograd.made_captures import fork, number, tensor, transformer

FOLDER = Path(computation_graph.__file__).parent
SOURCE = "".join(path.read_text(encoding="utf-8") for path in sorted(FOLDER.glob("*.js")))


def rows_of(capture, **options):
    view = collapse(capture, **options)
    return graph_rows(capture, view, draw(capture, view))


def named(rows, name):
    return next(row for row in rows["boxes"] if row["id"] == name)


def text_at(changes, step):
    return [text for at, text in changes if at <= step][-1:]


def test_contributions_that_meet_are_written_as_a_sum():
    rows = rows_of(fork())
    assert named(rows, "n0")["gradients"][-1][1] == "4 + 6 = 10"
    texts = {(row["source"], row["target"]): row["text"] for row in rows["links"]}
    assert (texts["n1", "n0"], texts["n2", "n0"]) == ("4", "6")


def test_a_negative_contribution_is_subtracted():
    capture = fork()
    edges = [replace(capture.edges[0], gradient=number(-4.0)), *capture.edges[1:]]
    edges = [edges[2], edges[0], edges[1], *edges[3:]]
    leaf = replace(capture.nodes[0], gradients_in=(number(2.0),))
    capture = replace(capture, edges=tuple(edges), nodes=(leaf, *capture.nodes[1:]))
    assert named(rows_of(capture), "n0")["gradients"][-1][1] == "6 − 4 = 2"


def test_texts_come_at_the_steps_of_their_events():
    capture = fork()
    rows = rows_of(capture)
    kinds = [(event.kind, event.node) for event in capture.events]
    mul = named(rows, "n1")

    assert mul["appears"] == kinds.index(("forward", "n1"))
    assert mul["gradients"] == [(kinds.index(("node", "n1")), "1")]
    assert mul["ran"] == kinds.index(("node", "n1"))
    assert named(rows, "n0")["appears"] == -1
    back = next(row for row in rows["links"] if row["source"] == "n1" and row["target"] == "n0")
    assert back["goes_back"] == kinds.index(("node", "n1"))
    assert back["appears"] == kinds.index(("forward", "n1"))


def test_a_padlock_closes_when_a_node_saves_and_opens_when_it_lets_go():
    capture = fork()
    kinds = [(event.kind, event.node) for event in capture.events]
    locks = named(rows_of(capture), "n2")["locks"]

    assert locks == [
        (kinds.index(("forward", "n2")), True),
        (kinds.index(("release", "n2")), False),
    ]
    assert named(rows_of(capture), "n3")["locks"] == []


def test_a_second_backward_adds_to_what_a_leaf_has():
    capture = fork()
    again = [
        Event(kind="node", node="n0", backward=1, gradients=(number(10.0),)),
        Event(kind="accumulate", node="n0", backward=1, before=number(10.0), after=number(20.0)),
        Event(kind="reset", node="n0", before=number(20.0)),
    ]
    rows = rows_of(replace(capture, events=(*capture.events, *again)))
    first, last = len(capture.events) - 1, len(capture.events) + 2

    assert text_at(named(rows, "n0")["gradients"], first) == ["10"]
    assert text_at(named(rows, "n0")["gradients"], last - 1) == ["10 → 20"]
    assert text_at(named(rows, "n0")["gradients"], last) == ["None"]
    assert rows["events"][-1]["words"] == {"label": "w", "before": "20", "after": "None"}


def test_an_update_writes_a_new_value_into_a_leaf():
    capture = fork()
    update = Event(kind="update", node="n0", before=number(3.0), after=number(2.5))
    values = named(rows_of(replace(capture, events=(*capture.events, update))), "n0")["values"]
    assert values == [(-1, "3"), (len(capture.events), "2.5")]


def test_a_closed_module_has_run_when_all_its_nodes_have():
    capture = transformer(12)
    rows = rows_of(capture, depth=1)
    blocks = next(row for row in rows["boxes"] if row["times"] == 12)
    ran = [at for at, event in enumerate(capture.events) if event.kind == "node"]
    inside = [at for at in ran if rows["events"][at]["box"] == blocks["id"]]

    assert blocks["ran"] == max(inside)
    assert blocks["opens"] == "blocks"
    members = [node for node in capture.nodes if "blocks." in (node.module or node.leaf)]
    assert len(inside) == len(members)


def test_colours_follow_the_logarithm_of_the_gradients_norm():
    nodes = tuple(
        Node(id=f"n{at}", type="Mul", label="m", gradients_in=(tensor(8, norm=norm),))
        for at, norm in enumerate((1e-4, 1e-2, 1.0, 0.0))
    )
    rows = rows_of(replace(fork(), nodes=nodes, edges=(), ghosts=(), events=(), leaves={}))
    assert [row["heat"] for row in rows["boxes"]] == [0.0, 0.5, 1.0, None]
    assert rows["heats"] == ["0.0001", "1"]


def test_a_box_has_room_for_what_its_gradient_grows_to():
    preset = PRESETS["accumulate"]
    capture = capture_program(preset.source, preset.tensors())
    view = collapse(capture)
    leaf = next(box for box in view.boxes if box.kind == "leaf")
    once = replace(capture, events=[each for each in capture.events if each.before is None])
    grown, plain = (draw(each, view).places[leaf.id][2] for each in (capture, once))
    assert grown == plain + len(" → 12") * 7.4


def test_the_drawing_has_a_key_that_values_do_not_change():
    capture = fork()
    warmer = replace(
        capture, nodes=(replace(capture.nodes[0], outputs=(number(5.0),)), *capture.nodes[1:])
    )
    assert rows_of(capture)["shape"] == rows_of(warmer)["shape"]
    assert rows_of(transformer(1))["shape"] != rows_of(transformer(2))["shape"]


@pytest.mark.parametrize(
    ("info", "text"),
    [
        (number(12.0), "12"),
        (number(-8.666667), "−8.667"),
        (TensorInfo(shape=(2,), dtype="float32", num_bytes=8, values=(1.0, 0.5)), "[1, 0.5]"),
        (tensor(4, 8, norm=0.31), "‖g‖ 0.31"),
        (None, ""),
    ],
)
def test_a_gradient_fits_on_a_link(info, text):
    assert gradient_text(info) == text


def test_large_tensors_are_named_by_their_shape():
    assert tensor_text(tensor(4, 8)) == "4×8"
    assert number_text(float("nan")) == "nan"
    assert len(short_label("x" * 100)) == 30


@pytest.mark.parametrize(
    ("label", "makers", "text"),
    [
        ("w * x + b", ["w * x", "b"], "w * x + b"),  # short enough
        ("(w * x + b) ** 2", ["w * x + b"], "(…) ** 2"),
        ("x ** 2 + 3 * x + 1", ["x ** 2 + 3 * x"], "… + 1"),
        ("max ** 2 + x ** 2", ["x ** 2"], "max ** 2 + …"),
        ("F.mse_loss(out, y)", [], "F.mse_loss(…)"),
        ("nll_loss_forward_and_more", [], "nll_loss_forward_…"),
    ],
)
def test_on_a_projector_a_long_label_leaves_out_what_other_boxes_say(label, makers, text):
    assert own_part(label, makers) == text


def test_every_word_that_the_browser_asks_for_is_there():
    asked = set(re.findall(r"words\.(\w+)", SOURCE)) - {"label"}
    acts = set(re.findall(r'data-act="(\w+)"', (FOLDER / "computation_graph.html").read_text()))
    words = translated(WORDS)

    assert len(acts) > 8
    needed = asked | acts | {f"{act}_label" for act in acts}
    assert needed <= set(words), needed - set(words)
    assert all(words.values())


def test_every_sentence_of_every_example_has_all_that_it_names():
    captures = [capture_program(row.source, row.tensors()) for row in PRESETS.values()]
    captures += [capture_built(BUILT_GRAPHS[key], 1) for key in ("hooks", "gpt_checkpointed")]
    told = [event for capture in captures for event in rows_of(capture)["events"]]
    assert {event["kind"] for event in told} == set(EVENTS)
    for event in told:
        assert fields(EVENTS[event["kind"]]) <= event["words"].keys(), event


def fields(text):
    return set(re.findall(r"\{(\w+)", text))


def test_browser_parts_fill_in_all_that_a_word_names():
    """Where a script gives a word its numbers by name: `fill(words.step, { step, count })`."""
    filled = 0
    for path in FOLDER.parent.glob("*/words.py"):
        module = importlib.import_module(f"pages.components.{path.parent.name}.words")
        tables = [each for each in vars(module).values() if isinstance(each, dict)]
        script = "".join(each.read_text(encoding="utf-8") for each in path.parent.glob("*.js"))
        for name, given in re.findall(r"fill\([\w.]*words\.(\w+), \{([^{}]*)\}\)", script):
            names = {each.partition(":")[0].strip() for each in given.split(",")}
            texts = [text for table in tables if isinstance(text := table.get(name), str)]
            for text in texts if "..." not in given else []:
                assert fields(text) <= names, (path.parent.name, name)
                filled += 1
    assert filled > 20


def test_a_leaf_that_is_only_accumulated_shows_the_sum_too():
    capture = fork()
    kept = [event for event in capture.events if (event.kind, event.node) != ("node", "n0")]
    leaf = named(rows_of(replace(capture, events=tuple(kept))), "n0")
    assert leaf["gradients"] == [(len(kept) - 1, "4 + 6 = 10")]
    assert leaf["ran"] == len(kept) - 1


def test_an_equation_that_does_not_hold_is_not_written():
    capture = fork()  # as where a hook has doubled what came
    leaf = replace(capture.nodes[0], gradients_in=(number(20.0),))
    rows = rows_of(replace(capture, nodes=(leaf, *capture.nodes[1:])))
    assert named(rows, "n0")["gradients"][-1][1] == "20"
