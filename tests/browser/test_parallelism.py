"""Parallelism in a browser: a slider, and the ring step by step."""

import json
from pathlib import Path

from core.budget.parallel.collectives import chunks, turns
from pages.components.moving_bytes import moving_bytes
from pages.components.moving_bytes.moving_bytes import start_row, turn_row
from tests.browser.seen import drawn, headline, press, until_headline
from tests.core.budget.parallel.held import PATTERNS, held_after

PATH = "/parallelism"


def test_a_slider_splits_the_model_anew(page, visit):
    visit(page, PATH, parallel_tab="stages")
    drawn(page)
    press(page, "Pipeline-parallel size (PP)", "ArrowRight")
    page.until("document.querySelector('.js-plotly-plot')?.textContent.includes('stage 1')")
    assert "(stage 1)" in headline(page)


def test_the_ring_goes_on_by_a_click(page, visit):
    visit(
        page,
        PATH,
        parallel_tab="moving",
        parallel_collective="arrays",
        parallel_ring_ranks="2",
        parallel_ring_step="0",
    )
    drawn(page)
    for step, phase in ((1, "reduce-scatter"), (2, "all-gather")):
        page.get_by_role("button", name="Next step").click()
        until_headline(page, f"Step {step} of 2")
        assert phase in headline(page)
        if step == 1:  # 2 is the default, which the address leaves out
            page.until("location.search.includes('parallel_ring_step=1')")


# The functions of a script are its own: it is run with one line more that gives them away.
COMPARE = """([source, cases]) => {
  const run = new Function(`${source}; return { movesOf, heldAfter };`);
  const { movesOf, heldAfter } = run();
  return cases.map(({ rows, num_ranks, at }) => JSON.stringify([
    rows.turns.map((turn) => movesOf(turn, num_ranks, rows.num_chunks)),
    at.map((number) => heldAfter(rows, num_ranks, number)),
  ]));
}"""


def cases():
    """Yield what the browser gets, and what Python says of it, for 2 to 64 devices."""
    for num_ranks in range(2, 65):
        for pattern in PATTERNS:
            for num_runs in (1, 2) if pattern in ("forward", "backward") else (1,):
                done = turns(pattern, num_ranks, num_runs)
                at = sorted({0, 1, len(done) // 2, len(done)})
                num_chunks = chunks(pattern, num_ranks)
                moves = [turn.moves(num_ranks, num_chunks) for turn in done]
                held = [held_after(pattern, done[:number], num_ranks) for number in at]
                rows = {
                    "turns": [turn_row(turn) for turn in done],
                    **start_row(pattern, num_ranks),
                }
                yield {"rows": rows, "num_ranks": num_ranks, "at": at}, [moves, held]


def test_the_browser_moves_the_bytes_that_python_moves(page, visit):
    visit(page, PATH)
    source = Path(moving_bytes.__file__).with_name("moves.js").read_text(encoding="utf-8")
    given, expected = zip(*cases(), strict=True)
    found = page.evaluate(COMPARE, [source, list(given)])
    for case, said, known in zip(given, found, expected, strict=True):
        assert json.loads(said) == json.loads(json.dumps(known)), case["num_ranks"]


def test_bytes_move_by_keys_by_hand_and_by_themselves(page, visit):
    visit(page, PATH, parallel_tab="moving")
    picture, sentence = page.locator(".bytes .picture"), page.locator(".bytes .sentence")

    def until_sentence(words):
        sentence.filter(has_text=words).wait_for()

    until_sentence("Before the first of 7 steps")
    picture.focus()
    picture.press("ArrowRight")
    until_sentence("After step 1 of 7. Each device has sent 1.87 GiB of 13.1 GiB.")
    page.until("location.search.includes('parallel_moved=1')")
    picture.press("ArrowDown")
    page.locator(".bytes .device").filter(has_text="Device 1").wait_for()
    picture.press("End")
    until_sentence("After step 7 of 7. Each device has sent 13.1 GiB of 13.1 GiB.")
    page.locator(".bytes .time").fill("2.5")
    until_sentence("After step 2 of 7")
    page.locator(".bytes [data-act=play]").click()
    until_sentence("After step 7 of 7")
    page.until("location.search.includes('parallel_moved=7')")


def test_the_devices_are_saved_as_a_picture_of_their_own(page, visit):
    visit(page, PATH, parallel_tab="moving", parallel_moved="3")
    page.locator(".bytes .sentence").filter(has_text="After step 3").wait_for()
    with page.expect_download() as saved:
        page.locator(".bytes [data-act=svg]").click()
    text = saved.value.path().read_text(encoding="utf-8")
    assert "step 4 of 7: all-gather" in text
    assert text.count("<circle") == 8
    assert "var(" not in text
