"""The exported run in a browser without a network, its numbers beside those of the run's CSV."""

import csv
import io
import itertools
import urllib.request

import pytest

from core.train.run.reader import RunReader
from core.train.run.recorded import recorded_run
from pages.components.run_player.run_player import player_html

NUMBERS = ("step", "time", "loss", "learning_rate", "grad_norm", "tokens_per_second")
# Of the recorded run, as the table writes its newest numbers.
TABLE = [
    "2,822", "3,242", "1.370", "1.328", "4.635", "3.250", "2.458", "5.00e-04", "0", "1.568",
    "1", "91.6 k tokens/s", "53.4 k tokens/s", "72.3 k tokens/s", "unknown", "427 KiB",
    "427 KiB", "854 KiB", "8.99 MiB", "4.05 MiB", "12.8 MiB (watched tensors)", "10.7 MiB",
    "346 MiB",
]  # fmt: skip
TICKS_OF_THREE_STEPS = """() => {
    const chart = { name: "few", lines: [], title: "", steps: 3, write: String }
    const figure = document.createElement("figure")
    drawCurves(figure, chart, 720, 470)
    const ticks = [...figure.querySelectorAll("text[text-anchor=middle]")]
    return ticks.map((tick) => tick.textContent)
}"""


@pytest.fixture
def exported(new_page, visit, start_server, tmp_path):
    """The file that the live page offers, and the CSV of the same run."""
    with start_server() as fresh:
        page = visit(new_page(url=fresh.url), "/live-run")
        link = page.locator(".live-player")
        link.wait_for()
        theme = "each => [each, document.body].map((one) => getComputedStyle(one).color)"
        color, of_text = link.evaluate(theme)
        assert color not in {"rgb(0, 0, 238)", of_text}  # the browser's own blue
        with page.expect_download() as started:
            link.click()
        path = tmp_path / "run.html"
        started.value.save_as(path)
        address = f"{fresh.url}/live/metrics.csv?recording=one_minute"
        rows = list(csv.DictReader(io.StringIO(urllib.request.urlopen(address).read().decode())))
        page.close()  # else it asks a server that has ended
    return path, rows


@pytest.fixture
def offline(browser):
    """Return a page of a browser that has no network, and what went wrong in it."""
    context = browser.new_context(offline=True, viewport={"width": 1366, "height": 900})
    page, problems = context.new_page(), []
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.on("console", lambda each: each.type == "error" and problems.append(each.text))
    page.on("request", lambda each: each.url.startswith("file:") or problems.append(each.url))
    yield page, problems
    context.close()


def test_it_plays_from_a_file_and_its_numbers_are_those_of_the_csv(exported, offline):
    (path, rows), (page, problems) = exported, offline
    page.goto(path.as_uri())
    for name in NUMBERS:
        assert page.evaluate(f"RUN.columns.{name}") == [float(row[name]) for row in rows], name
    last = rows[-1]
    assert f"{float(last['loss']):.3f}" in page.locator(".player-headline").inner_text()
    everything = RunReader(recorded_run("one_minute")).read_new()
    told = page.locator(".live-tables table").first.locator("td").all_inner_texts()
    assert told == TABLE

    ticks = page.locator("[data-chart=learning_rate] text[text-anchor=end]").all_text_contents()
    rates = [float(tick) for tick in ticks if tick != "step"]
    steps = {round(high - low, 12) for low, high in itertools.pairwise(rates)}
    assert (len(steps), max(rates) <= max(float(row["learning_rate"]) for row in rows)) == (1, True)
    assert page.evaluate(TICKS_OF_THREE_STEPS) == ["0", "1", "2", "3"]

    for svg in page.locator(".player-grid svg").all():
        for anchor in ("end", "middle"):
            texts = svg.locator(f"text[text-anchor={anchor}]").all_text_contents()
            assert len(texts) == len({*texts}), texts

    page.locator(".player-time").fill("500")
    row = rows[499]
    assert (
        f"after 500 of 3,242 steps the loss is {float(row['loss']):.3f}"
        in page.locator(".player-headline").inner_text()
    )
    samples = [event for event in everything.events if event["kind"] == "sample"]
    newest = [event for event in samples if event["step"] <= 500][-1]
    assert page.locator(".live-sample pre span").all_inner_texts() == [
        text for text, _bits, _candidates in newest["written"]
    ]
    page.locator(".player-play").click()
    page.locator(".player-headline").get_by_text("step 500 ").wait_for(state="hidden")
    page.locator(".player-language").click()
    assert "损失" in page.locator(".player-headline").inner_text()
    assert page.evaluate("document.documentElement.lang") == "zh"
    assert problems == []


def test_a_run_with_damaged_events_plays_and_says_how_many_are_left_out(
    spoilt_run, offline, tmp_path
):
    (directory, sound), (page, problems) = spoilt_run, offline
    path = tmp_path / "spoilt.html"
    path.write_text(player_html(directory), encoding="utf-8")
    page.goto(path.as_uri())
    num_damaged = RunReader(directory).read_new().num_damaged
    assert (
        f"left out: {num_damaged:,} steps or events" in page.locator(".player-about").inner_text()
    )
    for step in (1, 2000, sound[-1]["step"]):
        page.locator(".player-time").fill(str(step))
    page.locator(".player-language").click()
    assert problems == []
