"""Computation graph: what a gradient says, and how it gets to its tensor."""

import gc
import re
import tracemalloc
from textwrap import indent
from urllib.parse import parse_qs

import pytest
import torch

from core.autograd.built_graphs import BUILT_GRAPHS, MAX_BYTES, capture_built
from core.autograd.differences import nudge
from core.autograd.errors import explain_error
from core.autograd.leaves import MAX_ELEMENTS, written_leaves
from core.autograd.presets import PRESETS
from core.autograd.program import capture_program, function_of
from core.tensors.trace import trace
from pages.autograd.computation_graph.inputs import _cached
from pages.components.computation_graph.texts import signed
from pages.shared.start.torch_errors import error_of
from tests.app.shown import ask, captions, commit, headline, page_links, said

PAGE = "autograd/computation_graph"
TABS = ["graph", "chain", "saved"]
LANGUAGES = ("en", "zh")
pytestmark = pytest.mark.filterwarnings("ignore:Using backward")


def program_of(key):
    """Return what the address says of an example."""
    preset = PRESETS[key]
    return {
        "graph_code": preset.source,
        "graph_leaves": written_leaves(preset.tensors()),
        "graph_leaf": preset.nudged,
    }


def errors(app):
    return [each.value for each in app.error]


@pytest.mark.slow
@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("key", [*PRESETS, *BUILT_GRAPHS])
def test_every_example_opens_in_both_languages(open_page, key, language):
    asked = program_of(key) if key in PRESETS else {"graph_of": key}
    app = open_page(PAGE, lang=language, **asked)
    assert headline(app)
    assert errors(app) == []
    assert app.get("bidi_component")


@pytest.mark.slow
@pytest.mark.parametrize("key", ["square", "nan_trap", "exp_in_place", "no_graph"])
@pytest.mark.parametrize("tab", TABS)
def test_every_tab_tells_of_programs_that_run_and_of_those_that_do_not(open_page, tab, key):
    app = open_page(PAGE, graph_tab=tab, **program_of(key))
    assert headline(app)
    assert errors(app) == []


@pytest.mark.parametrize("delta", [-1.0, 0.0, 0.1, 1.0])
def test_the_headline_is_the_real_change_beside_gradient_times_change(open_page, delta):
    app = open_page(PAGE)
    app.slider(key="graph_by").set_value(delta).run()
    preset = PRESETS["square"]
    told = nudge(function_of(preset.source), preset.tensors(), "w", delta, ())
    w, b, x = (preset.tensors()[name].item() for name in "wbx")
    change = ((w + delta) * x + b) ** 2 - (w * x + b) ** 2
    assert told.change == pytest.approx(change)
    assert f"**{signed(told.change)}**" in headline(app)
    assert f"**{signed(told.predicted)}**" in headline(app)
    assert errors(app) == []


@pytest.mark.parametrize("tab", TABS)
def test_programs_that_cannot_run_are_told_in_a_sentence(open_page, tab):
    for code in ("w.__class__", "y = w * x\nnothing * 2", "((", "for i in x: pass", "w @ w"):
        app = open_page(PAGE, graph_code=code, graph_tab=tab)
        assert headline(app), code
        if tab == "graph":
            found = capture_program(code, PRESETS["square"].tensors())
            known = error_of(found.error.message)
            said_of = known.why["en"] if known else explain_error(found, code).sentence
            assert said_of in headline(app), code


@pytest.mark.parametrize("leaves", ["w = inf", "w = nan", "w = 1e999", "w = []", ""])
def test_odd_tensors_break_nothing(open_page, leaves):
    for tab in TABS:
        assert headline(open_page(PAGE, graph_leaves=leaves, graph_tab=tab)), tab


def test_what_there_is_not_is_refused_in_a_sentence(open_page):
    for query, word in (
        ({"graph_of": "nonsense"}, "nonsense"),
        ({"graph_leaves": f"w = {[1] * (MAX_ELEMENTS + 1)}"}, f"{MAX_ELEMENTS + 1} elements"),
    ):
        app = open_page(PAGE, **query)
        assert headline(app)
        (error,) = errors(app)
        assert word in error


@pytest.mark.parametrize("number", ["0", "999", "-1", "nan", "many"])
def test_a_number_outside_its_range_gives_way_to_one_within(open_page, number):
    app = open_page(PAGE, graph_of="gpt", graph_number=number)
    assert headline(app)
    assert errors(app) == []
    row = BUILT_GRAPHS["gpt"]
    assert row.low <= app.slider(key="graph_number").value <= row.high
    assert any("`graph_number`" in each for each in captions(app))


@pytest.mark.parametrize(
    "query",
    [
        {"graph_at": "n99", "graph_step": "9999"},
        {"graph_at": "<b>", "graph_step": "-5"},
        {"graph_open": "nothing|blocks.0|…", "graph_of": "gpt"},
        {"graph_leaf": "nobody"},
        {"graph_by": "1e9"},
    ],
)
def test_a_link_to_what_is_not_there_opens_what_is(open_page, query):
    app = open_page(PAGE, **query)
    assert headline(app)
    assert errors(app) == []


def test_a_chosen_node_is_told_with_value_and_gradient(open_page):
    preset = PRESETS["square"]
    found = capture_program(preset.source, preset.tensors())
    node = next(node for node in found.nodes if node.type == "PowBackward0")
    app = open_page(PAGE, graph_at=node.id)
    assert "PowBackward0" in said(app)
    (table,) = [each.value for each in app.table]
    assert list(table["Line"]) == [str(node.line)]
    assert list(table["Turn in backward"]) == [str(node.order + 1)]


def test_a_refused_write_is_explained_and_its_rewrite_runs(open_page):
    app = open_page(PAGE, **program_of("exp_in_place"))
    preset = PRESETS["exp_in_place"]
    found = capture_program(preset.source, preset.tensors())
    explained = explain_error(found, preset.source, preset.tensors())
    assert explained.sentence in headline(app)
    assert found.error.message in [code.value for code in app.code]
    app.button(key="graph_rewrite").click().run()
    assert app.text_area(key="graph_field").value == explained.rewrite
    assert not [each for each in app.button if each.key == "graph_rewrite"]
    assert capture_program(explained.rewrite, preset.tensors()).error is None
    assert explained.sentence not in headline(app)
    assert "x[0]" in headline(app)


@pytest.mark.parametrize("language", LANGUAGES)
def test_what_goes_wrong_is_laid_to_the_line_and_to_the_one_that_did_it(open_page, language):
    """Of each: program, tensors, what the headline and the page say in any language."""
    for code, leaves, big, small in [
        ("u = 2 * t\ne = u.exp()\nu[0] = 6\ne[0] = 6\ne.sum().backward()", "t = [0.0, 1.0]",
         ["e[0] = 6", "4"], ["is at version 1; expected version 0"]),
        ("loss = F.mse_loss(a, b)\nloss.backward()", "a = [1.0, 2.0]; b = [[1.0], [2.0]] (data)",
         ["0.1"], ["view_as()", "Using a target size (torch.Size([2, 1]))"]),
        ("y = torch.expand(x, 2)", "x = [1.0]", ["torch.expand", "x.expand(...)"], ["PyTorch"]),
        ("y = F.embedding(torch.tensor([0, 2]), w)", "w = [[1.0], [2.0]]", ["10", "0", "9"],
         ["num_embeddings", "index out of range in self"]),
        ("y = torch.where(x > 0, x.sqrt(), 0).sum()", "x = [0.0, 4.0, inf]", ["NaN", "x.sqrt()"],
         ["0", "NaN"]),
    ]:  # fmt: skip
        app = open_page(PAGE, lang=language, graph_code=code, graph_leaves=leaves, graph_leaf="")
        assert errors(app) == [], code
        for word in big:
            assert word in headline(app), (code, word, headline(app))
        shown = said(app) + " ".join(each.value for each in app.code)
        for word in small:
            assert word in shown, (code, word)
        assert ("PyTorch refused" in headline(app)) is False
        rewritten = [each for each in app.button if each.key == "graph_rewrite"]
        assert len(rewritten) == (code[0] == "u" or "where" in code), code
    rewritten[0].click().run()
    assert "torch.where(x > 0, torch.where(x > 0, x, 1).sqrt(), 0)" in app.text_area[0].value
    assert "NaN" not in headline(app)


def test_infinite_tensors_stand_in_the_code_as_torch_knows_them(open_page, run_code):
    app = open_page(PAGE, graph_code="y = (2 * x).sum()", graph_leaves="x = [0.0, inf, -inf, nan]")
    assert errors(app) == []
    assert "x.grad = tensor([2., 2., 2., 2.])" in run_code(app)


def test_a_built_graph_leads_back_to_the_program(open_page):
    app = open_page(PAGE, graph_of="loop", **program_of("fork"))
    assert app.slider(key="graph_number").value == BUILT_GRAPHS["loop"].default
    app.button(key="graph_to_program").click().run()
    assert app.text_area(key="graph_field").value == PRESETS["fork"].source
    assert headline(app)


@pytest.mark.slow
@pytest.mark.parametrize("key", PRESETS)
def test_the_code_prints_the_gradients_of_the_capture(open_page, run_code, key):
    preset = PRESETS[key]
    printed = run_code(open_page(PAGE, **program_of(key)))
    found = capture_program(preset.source, preset.tensors())
    if found.error is not None:
        assert found.error.message.split("\n")[0] in printed
    for name, leaf in found.leaves.items():
        if leaf.grad is None or name not in preset.tensors():
            continue
        (line,) = [each for each in flat(printed) if each.startswith(f"{name}.grad = ")]
        text = line.partition(" = ")[2]
        numbers = [float(each) for each in re.findall(r"nan|-?[\d.]+(?:e[-+]?\d+)?", text)]
        assert numbers == pytest.approx(leaf.grad.values, rel=1e-3, abs=1e-4, nan_ok=True), name


def flat(printed):
    """Return lines, those of one tensor joined."""
    return re.sub(r"\n\s+", " ", printed).split("\n")


def test_a_formula_that_does_not_give_the_gradient_is_left_out(open_page):
    asked = {
        "graph_code": "y = F.cross_entropy(z, t, reduction='sum')\ny.backward()",
        "graph_leaves": "z = [[2.0, 1.0, 0.0], [0.0, 0.0, 0.0]]; t = [0, 1] (data)",
    }
    app = open_page(PAGE, graph_tab="chain", **asked)
    shown = "\n".join(each.value for each in app.latex)
    assert "onehot" not in shown
    assert r"-1 & 0 & 0 \\ 0 & -1 & 0" in shown
    assert "left out" in said(app)
    mean = open_page(PAGE, graph_tab="chain", **program_of("cross_entropy"))
    assert any("onehot" in each.value for each in mean.latex)
    assert "left out" not in said(mean)


def test_differences_say_why_a_right_backward_need_not_agree(open_page):
    roots = {"graph_code": "y = x.sqrt().sum()\ny.backward()", "graph_leaves": "x = [0.0, 4.0]"}
    rows = {
        "kink": program_of("relu_at_zero"),
        "cut": program_of("detach"),
        "no finite slope": roots,
        "hook": {"graph_of": "hooks"},
    }
    for reason, asked in rows.items():
        app = open_page(PAGE, graph_tab="chain", graph_check="true", **asked)
        assert "wrong" not in headline(app), reason
        assert reason in headline(app).lower()
        (table,) = [each.value for each in app.table]
        assert list(table["Agrees"]) == [reason]
        if asked is roots:
            assert list(table["Autograd"]) == ["∞, 0.25"]
            assert table["Finite differences"][0].endswith(", 0.25")


def test_what_cannot_be_checked_says_why_and_of_two_backwards_the_first_is(open_page):
    single = {"graph_code": "y = x @ torch.ones(2)", "graph_leaves": "x = [1.0, 4.0]"}
    app = open_page(PAGE, graph_tab="chain", graph_check="true", **single)
    assert "Double and Float" in headline(app)
    assert not app.error
    twice = {"graph_code": "(2 * x).backward()\n(x ** 2).backward()", "graph_leaves": "x = 3.0"}
    app = open_page(PAGE, graph_tab="chain", graph_check="true", **twice)
    assert list(app.table[0].value["Autograd"]) == ["2"]
    assert "first call is checked" in said(app)


def test_what_a_write_into_a_view_keeps_is_listed_and_what_is_retained_is_not_called_freed(
    open_page,
):
    written = {
        "graph_code": "z = x.clone()\nz[0:2].mul_(w)\nz.sum().backward()",
        "graph_leaves": "x = [1.0, 2.0, 3.0]; w = [5.0, 7.0]",
    }
    app = open_page(PAGE, graph_tab="saved", **written)
    assert "8 B" in headline(app)
    (table,) = [each.value for each in app.table]
    assert list(table["Bytes"]) == ["8 B", "8 B"]  # what stood there, and w
    for code, freed in (
        ("y.backward(torch.tensor([1.0, 1.0]), retain_graph=True)", "0 B"),
        ("y.backward(torch.tensor([1.0, 1.0]))", "8 B"),
    ):
        asked = {"graph_code": f"y = x.sigmoid()\n{code}", "graph_leaves": "x = [1.0, 2.0]"}
        assert f"frees {freed} " in headline(open_page(PAGE, **asked))


def test_a_prediction_is_about_the_program_that_is_shown(open_page):
    """By hand: 6 (3w + 1) at 4; 2x + 3 at 4; 2x at 4; the mean of 2x (wx - y) at 1."""
    for key, wanted in (("square", "78"), ("fork", "11"), ("sum_of_squares", "8"), ("mse", "-4")):
        app = open_page(PAGE, **program_of(key), **ask("graph_doubled"))
        (radio,) = app.radio
        options = list(radio.options)
        assert wanted in options, key
        assert len(set(options)) == 3, key
        assert indent(PRESETS[key].source, "    ") in said(app)
        commit(app, radio.key, options.index(wanted))
        assert f"**{wanted}**" in said(app)


def test_where_no_gradient_can_be_asked_for_the_question_is_about_the_start(open_page):
    for asked in (program_of("no_graph"), {"graph_of": "loop"}, {"graph_leaves": "w = "}):
        app = open_page(PAGE, **asked, **ask("graph_doubled"))
        assert list(app.radio[0].options) == ["42", "78", "84"]


@pytest.mark.slow
def test_every_parameter_of_a_module_has_its_slope(open_page):
    app = open_page(PAGE, graph_of="gpt", graph_number="2", graph_tab="chain", graph_check="true")
    assert errors(app) == []
    (table,) = [each.value for each in app.table]
    model = BUILT_GRAPHS["gpt"].made(2).module
    assert list(table["Leaf"]) == [name for name, _x in model.named_parameters()]
    assert set(table["Agrees"]) == {"✓"}
    assert headline(app).startswith(f"{len(table)} slopes")


def test_each_saved_tensor_opens_where_its_elements_lie(open_page):
    preset = PRESETS["two_layers"]
    found = capture_program(preset.source, preset.tensors())
    node = next(node for node in found.nodes if node.label == "a @ W2")
    assert len(node.saved) == 2
    app = open_page(PAGE, graph_at=node.id, **program_of("two_layers"))
    shown = [each for each in page_links(app) if each.page == "strides-and-views"]
    assert len(shown) == len(node.saved)
    for link, saved in zip(shown, node.saved, strict=True):
        query = {name: words[0] for name, words in parse_qs(link.query_string).items()}
        shape = tuple(int(query[f"strides_{word}"]) for word in ("rows", "columns"))
        y = trace(query["strides_code"], {"x": torch.zeros(shape)}).steps[-1].outputs[0].layout
        assert (y.shape, y.stride) == (saved.tensor.shape, saved.stride), saved.name
        opened = open_page("tensors/strides_and_views", **query)
        assert errors(opened) == []
        assert headline(opened)


def test_all_captures_that_are_kept_and_the_one_that_runs_stay_under_a_gigabyte():
    lines = ["x = torch.ones(64, 64, requires_grad=True)", *["x = x * x * x"] * 28]
    source = "\n".join([*lines, "x.sum().backward()"])
    large = {
        "program": lambda: capture_program(source, {"w": torch.tensor(1.0)}),
        "built": lambda: capture_built(BUILT_GRAPHS["gpt"], BUILT_GRAPHS["gpt"].high),
    }
    total = MAX_BYTES  # what the one that runs may take
    for make in large.values():
        make()  # what torch loads once is no part of it
        tracemalloc.start()
        kept = make()
        gc.collect()
        total += tracemalloc.get_traced_memory()[0] * _cached.keywords["max_entries"]
        tracemalloc.stop()
        assert kept.error is None
    assert MAX_BYTES + 500_000_000 < total < 1_000_000_000
