"""Parallelism in a browser: a slider, and the ring step by step."""

from tests.browser.seen import drawn, headline, press, until_headline

PATH = "/parallelism"


def test_a_slider_splits_the_model_anew(page, visit):
    visit(page, PATH, parallel_tab="ranks")
    drawn(page)
    press(page, "Pipeline-parallel size (PP)", "ArrowRight")
    page.until(
        "document.querySelector('.js-plotly-plot')?.textContent.includes('stage 4: 16 layers')"
    )
    assert "on 80 × H100 SXM" in headline(page)


def test_the_ring_goes_on_by_a_click(page, visit):
    visit(page, PATH, parallel_tab="ring", parallel_ring_ranks="2", parallel_ring_step="0")
    drawn(page)
    for step, phase in ((1, "reduce-scatter"), (2, "all-gather")):
        page.get_by_role("button", name="Next step").click()
        until_headline(page, f"Step {step} of 2")
        assert phase in headline(page)
        if step == 1:  # 2 is the default, which the address leaves out
            page.until("location.search.includes('parallel_ring_step=1')")
