"""The low-precision labs in a browser: one screen, quick sliders, keys, real gradients."""

import re
import statistics

import pytest

PATH = "/low-precision-training"
TABS = ("sums", "updates", "softmax", "scale", "scaler", "stochastic", "matmul", "pictures")
HEADLINE = ".st-key-headline p"
# Notes when the plot of a new picture was last drawn, in milliseconds after the call.
WATCH = """() => {
  const alt = () => document.querySelector('[role="figure"]')?.getAttribute("aria-label");
  const [old, start] = [alt(), performance.now()];
  window.drawnAfter = null;
  window.drawing?.disconnect();
  window.drawing = new MutationObserver((changes) => {
    const inPlot = changes.some(({ target }) => target.closest?.(".js-plotly-plot"));
    if (inPlot && alt() !== old) window.drawnAfter = performance.now() - start;
  });
  window.drawing.observe(document.body, { subtree: true, childList: true, attributes: true });
}"""


def drawn(page):
    page.locator(".js-plotly-plot .main-svg").first.wait_for(timeout=60_000)
    page.until("document.querySelectorAll('[data-testid=stSpinner]').length === 0", timeout=60_000)


def headline(page):
    return page.locator(HEADLINE).first.inner_text()


@pytest.mark.parametrize(("width", "present", "lang"), [(1366, "0", "en"), (1024, "1", "zh")])
def test_every_picture_is_on_the_first_screen(new_page, visit, screenshot, width, present, lang):
    page = new_page(width=width, lang=lang)
    for tab in TABS:
        visit(page, PATH, lowp_tab=tab, present=present)
        drawn(page)
        box = page.locator(".js-plotly-plot").first.bounding_box()
        assert box["y"] + box["height"] <= 768, tab
        assert page.evaluate("document.documentElement.scrollWidth") <= width, tab
        screenshot(page, f"low-precision-{tab}-{lang}-{width}")


@pytest.mark.parametrize(
    ("tab", "label"),
    [("sums", "How often"), ("scale", "Loss scale"), ("pictures", "Brightness")],
)
def test_a_moved_slider_brings_a_new_picture(page, visit, tab, label):
    visit(page, PATH, lowp_tab=tab)
    drawn(page)
    slider = page.get_by_role("slider", name=label)
    slider.focus()
    times = []
    for key in ("ArrowLeft", "ArrowRight") * 5 if tab == "sums" else ("ArrowRight",) * 10:
        page.evaluate(WATCH)
        slider.press(key)
        page.until("window.drawnAfter !== null")
        page.wait_for_timeout(300)  # the last stroke counts, not the first
        times.append(page.evaluate("window.drawnAfter"))
    median, most = statistics.median(times), max(times)
    print(f"{label} to new picture: median {median:.0f} ms, longest {most:.0f} ms")  # noqa: T201


def test_keys_and_buttons_walk_through_the_steps_of_the_scaler(page, visit):
    visit(page, PATH, lowp_tab="scaler")
    drawn(page)
    assert "196,608" in headline(page)

    page.get_by_role("slider", name="Step").first.press("ArrowRight")
    page.until(f"document.querySelector('{HEADLINE}').innerText.startsWith('Step 2:')")
    forward = page.get_by_role("button", name="Next step")
    forward.focus()
    forward.press("Enter")
    page.until(f"document.querySelector('{HEADLINE}').innerText.startsWith('Step 3:')")
    page.until("location.search.includes('lowp_scaler_step=3')")
    page.get_by_role("button", name="Previous step").click()
    page.until(f"document.querySelector('{HEADLINE}').innerText.startsWith('Step 2:')")


def test_a_click_on_a_lab_opens_it_and_writes_the_link(page, visit):
    visit(page, PATH)
    drawn(page)
    page.get_by_role("radio", name="Softmax").click()
    page.until(f"document.querySelector('{HEADLINE}').innerText.includes('exp(11.1)')")
    page.until("location.search.includes('lowp_tab=softmax')")


def test_real_gradients_come_from_a_process_of_their_own(page, visit):
    visit(page, PATH, lowp_tab="scale", lowp_scale_source="real")
    drawn(page)
    # Those of the newest run of this server; of a fresh model where no run has a checkpoint.
    source = re.compile("Gradients of (a fresh small GPT|run .* at step)")
    page.get_by_text(source).wait_for(timeout=90_000)
    assert "of the gradients keep full precision" in headline(page)
    assert "2.38 %" not in headline(page)
