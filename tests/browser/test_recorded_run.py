"""Live training on a server without a run: a recording that moves and says that it is one."""

import pytest

from core.train.run.reader import RunReader
from core.train.run.recorded import recorded_run
from core.train.text.pieces import SIGNS

PLOT = "document.querySelector('[data-chart=loss] .live-plot')"
STEPS = f"({PLOT}?.data?.find(t => t.meta.role === 'training')?.x.length ?? 0)"
VIEW = "[...window[Symbol.for('bits-to-gpt.live')].values()][0]"


@pytest.mark.parametrize(("lang", "width"), [("en", 1366), ("zh", 1024)])
def test_a_fresh_server_shows_a_moving_curve_that_is_labelled_as_recorded(
    fresh, new_page, visit, screenshot, lang, width
):
    page = visit(new_page(lang=lang, width=width, url=fresh.url), "/live-run")
    page.until(f"{STEPS} > 1")
    seen = page.evaluate(STEPS)
    page.until(f"{STEPS} > {seen}")
    recorded = RunReader(recorded_run("one_minute")).info["recorded"]
    said = page.locator(".live-message").inner_text()
    assert recorded["date"] in said
    assert recorded["machine"] in said
    word = {"en": "Recording", "zh": "录制"}[lang]
    page.locator(".st-key-headline").get_by_text(word).wait_for()
    assert page.locator(".live-controls").is_hidden()
    assert page.locator(".st-key-lr_start button").is_enabled()
    screenshot(page, f"live-run-recorded-{lang}")


def test_the_readers_own_run_takes_the_place_of_the_recording_on_the_same_connection(
    fresh, new_page, visit
):
    page = visit(new_page(url=fresh.url), "/live-run", lr_steps="20", lr_size="110k")
    page.until(f"{STEPS} > 1")
    page.locator(".st-key-lr_start button").click()
    page.until(
        f"{VIEW}.history.state?.state === 'finished' && !{VIEW}.history.info.recorded", 120_000
    )
    page.locator(".st-key-headline").get_by_text("step 20 of 20").wait_for()
    assert page.evaluate(f"{VIEW}.numConnections") == 1
    assert "recording" not in page.locator(".live").inner_text().lower()


def samples():
    events = RunReader(recorded_run("one_minute")).read_new().events
    return [event for event in events if event["kind"] == "sample"]


def test_each_character_is_shaded_by_its_surprise_and_tells_what_was_likeliest(
    fresh, new_page, visit
):
    page = visit(new_page(url=fresh.url), "/live-run")
    arithmetic = "window[Symbol.for('bits-to-gpt.arithmetic')]"
    page.until(f"{VIEW}?.history.events.some(event => event.kind === 'sample')")
    slider = page.locator(".live-sample input")
    page.until(f"{VIEW}.history.events.filter(event => event.kind === 'sample').length > 2")
    slider.press("Home")
    written = samples()[0]["written"]
    spans = page.locator(".live-sample pre span")
    assert spans.all_inner_texts() == [text for text, _bits, _candidates in written]
    for index in (0, 3, 40):  # at 8 bits the strongest, 45 %
        given = spans.nth(index).evaluate("span => span.style.getPropertyValue('--surprise')")
        assert float(given.rstrip("%")) == pytest.approx(45 * written[index][1] / 8, abs=0.06)
    for bits, shade in ((0, 0), (4, 0.225), (8, 0.45), (100, 0.45), ("null", 0), (-1, 0)):
        assert page.evaluate(f"{arithmetic}.shade({bits})") == shade
    mean = page.evaluate(f"written => {arithmetic}.meanSurprise(written)", written)
    assert mean == pytest.approx(6.67806, abs=1e-5)
    assert f"{mean:.2f}" in page.locator(".live-mean-surprise").inner_text()
    space = next(index for index, (text, *_rest) in enumerate(written) if text == " ")
    spans.nth(space).hover()
    assert page.locator(".live-candidates").inner_text().startswith(f"{SIGNS[' ']}: ")

    def told(index):
        _text, bits, candidates = written[index]
        said = page.locator(".live-candidates").inner_text()
        return f"{bits:.2f} bits" in said and all(sign in said for sign, _chance in candidates[0])

    spans.nth(7).hover()
    assert told(7)
    page.locator(".live-sample pre").focus()
    page.keyboard.press("ArrowRight")
    assert told(8)


def test_a_sample_of_an_older_run_stands_there_without_shades(fresh, new_page, visit):
    page = visit(new_page(url=fresh.url), "/live-run")
    page.until(f"{VIEW}?.history.events.some(event => event.kind === 'sample')")
    # Looked at in the same moment: the next sample of this run comes with shades.
    num_shades, text, legend = page.evaluate(
        f"""(view => {{
            const text = view.root.querySelector('.live-sample pre')
            for (const event of view.history.events) delete event.written
            text.dataset.shown = ''
            view.root.querySelector('.live-sample input').oninput()
            const legend = view.root.querySelector('.live-legend').checkVisibility()
            return [text.querySelectorAll('span').length, text.innerText.trim(), legend]
        }})({VIEW})"""
    )
    assert (num_shades, text[:3], legend) == (0, "The", False)


def test_points_are_drawn_between_two_messages_and_none_is_invented(fresh, new_page, visit):
    page = new_page(url=fresh.url)
    page.emulate_media(reduced_motion="no-preference")
    visit(page, "/live-run")
    page.until(f"{STEPS} > 1")
    # How many different curves were drawn while the same points were there: between two messages.
    page.evaluate(
        f"""() => {{
            const view = {VIEW}
            const drawn = new Map()
            const look = () => {{
                const held = view.history.columns.step.length
                drawn.set(held, (drawn.get(held) ?? new Set()).add({STEPS}))
                window.mostDrawn = Math.max(...[...drawn.values()].map((each) => each.size))
                requestAnimationFrame(look)
            }}
            look()
        }}"""
    )
    page.until("window.mostDrawn >= 3")
    records = RunReader(recorded_run("one_minute")).read_new().records
    losses = dict(zip(records["step"].tolist(), records["loss"].tolist(), strict=True))
    trace = page.evaluate(
        f"(trace => [...trace.x].map((x, i) => [x, trace.y[i]]))"
        f"({PLOT}.data.find(t => t.meta.role === 'training'))"
    )
    assert all(losses[step] == loss for step, loss in trace)


def test_at_the_end_what_was_predicted_stands_beside_what_it_took(fresh, new_page, visit):
    page = visit(new_page(url=fresh.url), "/live-run")
    page.until(f"{VIEW}?.history.state?.state === 'finished'", 90_000)
    assert page.locator(".live-outcome").inner_text() == (
        "Predicted 1 min 00 s and 10.7 MiB; took 1 min 05 s and 14.7 MiB, of which 4.05 MiB "
        "(other) is in no prediction."
    )
    page.until(f"{PLOT}._fullLayout.xaxis.range[1] === 2822")
    for part in ("[data-chart=loss]", "[data-chart=memory]", "pre"):
        box = page.locator(f".live {part}").bounding_box()
        assert 0 <= box["y"] <= box["y"] + box["height"] <= 768, part
