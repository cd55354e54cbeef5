"""The computation graph in a browser: time, choice and zoom move there, words and numbers come."""

import re

import pytest
import torch

from core.autograd.built_graphs import BUILT_GRAPHS, capture_built
from core.autograd.collapse import collapse
from core.autograd.formulas import substituted
from core.autograd.forward import Limits
from core.autograd.leaves import written_leaves
from core.autograd.presets import PRESETS
from core.autograd.program import capture_program
from core.language import _, install_provider
from pages.components.computation_graph.texts import number_text
from pages.components.computation_graph.words import CUTS, EVENTS, WORDS
from tests.browser.dashboard import wait_until
from tests.browser.seen import RUNS, headline, press

ADDRESS = "/computation-graph"
START = PRESETS["square"]
LAST_LINE = "(w * x + b) ** 2"
PATIENT = Limits(seconds=60)  # a busy machine cuts no graph short
# Keys one after the other, before anybody can answer: the sentence then, and how often Python ran.
PRESSED = """(picture, keys) => {
  for (const key of keys) picture.dispatchEvent(new KeyboardEvent("keydown", { key }));
  return [picture.getRootNode().querySelector(".sentence").textContent, window.runs];
}"""

LETTERS = """(texts) => texts.filter((each) => each.textContent).map((each) => {
  const { a, b } = each.getScreenCTM();
  return parseFloat(getComputedStyle(each).fontSize) * Math.hypot(a, b);
})"""
PROJECTOR = (1024, 768)


@pytest.fixture(autouse=True)
def in_english_again():
    yield
    install_provider(None)


@pytest.fixture
def open_graph(new_page, visit):
    """Return open_graph(lang=..., screen=..., **query): the page with its graph drawn."""

    def go(lang="en", screen=(1366, 768), **query):
        page = visit(new_page(*screen, lang=lang), ADDRESS, **query)
        page.locator(".box").first.wait_for()
        rested(page)
        return page

    return go


@pytest.fixture
def captured():
    """The graph that the page begins with."""
    return capture_program(START.source, START.tensors(), PATIENT)


def rested(page):
    page.until("document.querySelector('[data-test-script-state=notRunning]')")
    return page


def box(page, label):
    """The box of that label."""
    label = re.compile(rf"^\s*{re.escape(label)}( ▸)?$")
    return page.locator(".box").filter(has=page.locator(".label", has_text=label)).first


def said_on(page, label, line):
    return box(page, label).locator(f".{line}").text_content()


def act(page, name):
    return page.locator(f"[data-act={name}]")


def sentence(page):
    return page.locator(".sentence").inner_text()


def place(page):
    """Which part of the graph is seen, and how large."""
    return page.locator(".world").get_attribute("transform")


def in_sight(page, found):
    """Whether a box lies wholly within the picture."""
    stage = page.locator(".picture").bounding_box()
    inner = found.locator("rect").first.bounding_box()
    return all(
        stage[start] - 1 <= inner[start]
        and inner[start] + inner[length] <= stage[start] + stage[length] + 1
        for start, length in (("x", "width"), ("y", "height"))
    )


def seen_letters(page):
    """The sizes on the screen of all that is written in the picture."""
    return page.locator(".picture text").evaluate_all(LETTERS)


def written(name):
    """The inputs of an example, as a link has them."""
    preset = PRESETS[name]
    return {"graph_code": preset.source, "graph_leaves": written_leaves(preset.tensors())}


def pressed(page, *keys):
    return page.locator(".picture").evaluate(PRESSED, keys)


def test_boxes_hold_the_values_and_gradients_of_torch(open_graph):
    page = open_graph()
    names = START.tensors()
    exec(START.source, {"torch": torch, **names})  # noqa: S102  our own table
    for name in ("w", "b"):
        leaf = names[name]
        assert said_on(page, name, "value") == number_text(leaf.item())
        assert said_on(page, name, "gradient") == f"grad {number_text(leaf.grad.item())}"
    result = (names["w"] * names["x"] + names["b"]) ** 2
    assert said_on(page, LAST_LINE, "value") == number_text(result.item())
    assert said_on(page, "x", "gradient") == CUTS["data"]


def test_stepping_asks_python_nothing_until_the_reader_pauses(open_graph, captured):
    page = open_graph()
    count = len(captured.events)
    seed = next(at for at, event in enumerate(captured.events) if event.kind == "seed")
    page.evaluate(RUNS)
    before, after = pressed(page, "Home"), pressed(page, *["]"] * seed)
    assert before == [f"step 0 of {count}: before the first operation", 0]
    assert after[0].startswith(f"step {seed} of {count}: {LAST_LINE} is computed: 49")
    assert said_on(page, "w", "gradient") == ""
    rested(page)
    page.wait_for_url(re.compile(rf"graph_step={seed - 1}\b"))
    page.evaluate("window.runs = 0")
    act(page, "next").evaluate("button => button.click()")
    assert sentence(page).startswith(f"step {seed + 1} of {count}: backward() begins")
    assert said_on(page, LAST_LINE, "gradient") == "grad 1"
    page.wait_for_url(re.compile(rf"graph_step={seed}\b"))
    rested(page)
    assert page.evaluate("window.runs") == 1


def test_play_reaches_the_end_without_asking_at_every_step(open_graph, captured):
    page = open_graph()
    count = len(captured.events)
    for _turn in range(3):
        act(page, "speed").click()
    assert act(page, "speed").inner_text() == "16×"
    page.evaluate(RUNS)
    act(page, "play").click()
    page.until("window.runs >= 1")
    page.locator(".sentence", has_text=f"step {count} of {count}:").wait_for()
    rested(page)
    assert page.evaluate("window.runs") == 1
    assert act(page, "play").inner_text() == WORDS["play"]
    assert said_on(page, "w", "gradient") == "grad 42"


def test_a_clicked_box_is_explained_below_and_stays_chosen_and_in_its_place(open_graph, captured):
    page = open_graph()
    box(page, LAST_LINE).click()
    inspector = page.locator(".st-key-graph_inspector")
    inspector.wait_for()
    node = next(each for each in captured.nodes if each.label == LAST_LINE)
    assert node.type in inspector.inner_text()
    inspector.locator("annotation").nth(1).wait_for(state="attached")
    formulas = inspector.locator("annotation").all_text_contents()
    assert substituted(node, captured.edges).strip() in [each.strip() for each in formulas]

    act(page, "in").click()
    act(page, "in").click()
    seen, before = place(page), headline(page)
    press(page, "Change of w", *["ArrowRight"] * 4)
    page.until("document.querySelector('.st-key-headline p')?.innerText.includes('+0.3')")
    rested(page)
    assert headline(page) != before
    assert place(page) == seen
    assert page.locator(".box.chosen .label").text_content() == LAST_LINE
    assert node.type in inspector.inner_text()


def test_arrow_keys_move_along_the_links(open_graph):
    page = open_graph()
    box(page, LAST_LINE).click()
    page.locator(".picture").focus()
    page.keyboard.press("ArrowLeft")
    assert page.locator(".box.chosen .label").text_content() == "w * x + b"
    page.keyboard.press("ArrowRight")
    assert page.locator(".box.chosen .label").text_content() == LAST_LINE
    page.locator(".st-key-graph_inspector", has_text="PowBackward0").wait_for()


def test_answers_that_come_late_do_not_undo_a_later_choice(open_graph):
    page = open_graph()
    box(page, LAST_LINE).click()
    page.locator(".picture").focus()
    for _time in range(6):
        for key, label in (("ArrowLeft", "w * x + b"), ("ArrowRight", LAST_LINE)):
            page.keyboard.press(key)
            page.wait_for_timeout(60)  # about as long as Python takes to answer the one before
            assert page.locator(".box.chosen .label").text_content() == label
    rested(page)
    assert page.locator(".box.chosen .label").text_content() == LAST_LINE


def test_a_module_of_a_gpt_opens_and_closes(open_graph):
    page = open_graph(graph_of="gpt")
    capture = capture_built(BUILT_GRAPHS["gpt"], BUILT_GRAPHS["gpt"].default)
    closed = collapse(capture)
    first = next(each for each in closed.boxes if each.path)
    opened = collapse(capture, [first.path])
    assert len(opened.boxes) > len(closed.boxes)
    wait_until(lambda: page.locator(".box").count() == len(closed.boxes))

    act(page, "fit").click()
    page.locator(f"[id='box-{first.id}']").click()
    act(page, "open").click()
    wait_until(lambda: page.locator(".box").count() == len(opened.boxes))
    rested(page)
    page.wait_for_url(re.compile(r"graph_open="))

    act(page, "close").click()
    wait_until(lambda: page.locator(".box").count() == len(closed.boxes))
    rested(page)
    assert page.locator(".box.chosen").get_attribute("id") == f"box-{first.id}"


def test_the_picture_speaks_chinese(open_graph, captured):
    page = open_graph("zh")
    install_provider(lambda: "zh")
    event = captured.events[-1]
    assert event.kind == "accumulate"
    told = _(EVENTS["accumulate"]).format(label="w", before="None", after="42")
    assert sentence(page).endswith(told)
    assert told != EVENTS["accumulate"].format(label="w", before="None", after="42")
    assert act(page, "fit").inner_text() == _(WORDS["fit"]) != WORDS["fit"]
    assert said_on(page, "x", "gradient") == _(CUTS["data"]) != CUTS["data"]
    for name in ("back", "play", "next", "speed", "in", "out", "fit", "svg", "png"):
        assert re.search(r"[\u4e00-\u9fff]", act(page, name).get_attribute("aria-label")), name


def test_the_whole_graph_is_saved_from_its_data(open_graph, captured):
    page = open_graph()
    with page.expect_download() as saved:
        act(page, "svg").click()
    text = saved.value.path().read_text(encoding="utf-8")
    drawn = len(collapse(captured).boxes)
    assert len(re.findall(r'class="box[ "]', text)) == drawn
    assert LAST_LINE in text
    assert "<script" not in text


def test_what_a_reader_types_is_text_and_nothing_else(new_page, visit):
    page = visit(new_page(), ADDRESS, graph_code="y = w['<img src=x onerror=alert(1)>']")
    rested(page)
    assert page.locator("img[src=x]").count() == 0
    assert headline(page)


def test_a_node_is_found_by_its_type_and_every_way_to_it_is_shown(open_graph, captured):
    page = open_graph()
    field = page.locator(".find")
    for _time, label in enumerate(("w * x", "w * x")):  # the only one is found again
        field.fill("mulback")
        field.press("Enter")
        assert page.locator(".box.chosen .label").text_content() == label
    field.fill("accumulate")
    field.press("Enter")
    field.press("Enter")
    assert page.locator(".box.chosen .label").text_content() in {"w", "b"}
    field.fill("w")
    while page.locator(".box.chosen .label").text_content() != "w":
        field.press("Enter")
    ways = {"w", "w * x", "w * x + b"}
    labels = {node.id: node.label for node in captured.nodes}
    wanted = [edge for edge in captured.edges if not edge.is_cut and labels[edge.target] in ways]
    assert page.locator(".link.onway").count() == len(wanted) == 3
    field.fill("nothing of the kind")
    field.press("Enter")
    assert field.get_attribute("aria-invalid") == "true"
    assert page.locator(".box.chosen .label").text_content() == "w"


def test_the_end_of_a_graph_that_does_not_fit_can_be_read(open_graph):
    page = open_graph(graph_of="gpt")
    assert float(re.search(r"scale\(([\d.]+)\)", place(page))[1]) == 0.8
    letters = page.locator(".box .label").last
    assert letters.bounding_box()["height"] > 10
    act(page, "fit").click()
    assert float(re.search(r"scale\(([\d.]+)\)", place(page))[1]) < 0.55


@pytest.mark.parametrize("name", ["square", "fork", "accumulate", "no_grad", "nan_trap"])
def test_a_small_graph_is_whole_and_readable_on_a_projector(open_graph, name):
    page = open_graph(screen=PROJECTOR, present="1", **written(name))
    assert min(seen_letters(page)) >= 22
    boxes = page.locator(".box").all()
    assert len(boxes) > 1
    assert all(in_sight(page, each) for each in boxes)
    assert not page.locator(".map").is_visible()


def test_the_legend_of_the_colours_stands_above_the_map(open_graph):
    page = open_graph(graph_of="gpt", graph_heat="true")
    legend, small = (page.locator(each).bounding_box() for each in (".legend", ".map"))
    assert legend["height"] > 10
    assert legend["y"] + legend["height"] <= small["y"]


def test_of_a_large_graph_a_projector_shows_a_readable_part_and_a_map_of_the_rest(open_graph):
    page = open_graph(screen=PROJECTOR, present="1", graph_of="gpt")
    count = page.locator(".box").count()
    assert min(seen_letters(page)) >= 22
    assert in_sight(page, page.locator(".box").last)
    assert not in_sight(page, page.locator(".box").first)
    assert page.locator(".map .small").count() == count
    first = page.locator(".map .small").first.bounding_box()
    page.mouse.click(first["x"] + first["width"] / 2, first["y"] + first["height"] / 2)
    assert in_sight(page, page.locator(".box").first)
    assert not in_sight(page, page.locator(".box").last)
    assert min(seen_letters(page)) >= 22
    act(page, "fit").click()
    assert all(in_sight(page, each) for each in page.locator(".box").all())
    assert not page.locator(".map").is_visible()


def test_the_step_of_a_link_comes_into_sight(open_graph):
    capture = capture_built(BUILT_GRAPHS["gpt"], BUILT_GRAPHS["gpt"].default)
    boxes = collapse(capture).box_of
    step = len(capture.events) // 4
    page = open_graph(graph_of="gpt", graph_step=str(step))
    shown = page.locator(f"[id='box-{boxes[capture.events[step].node]}']")
    assert "now" in shown.get_attribute("class")
    assert in_sight(page, shown)
    assert not in_sight(page, page.locator(".box").last)
