"""Parallelism in a browser: the first screen, a slider, and the ring step by step."""

PATH = "/parallelism"


def headline(page):
    return page.locator(".st-key-headline p").first.inner_text()


def drawn(page):
    page.locator(".js-plotly-plot").first.wait_for(timeout=60_000)
    page.until("document.querySelectorAll('[data-testid=stSpinner]').length === 0")


def test_the_ranks_are_on_the_first_screen_also_on_a_projector(new_page, visit, screenshot):
    for width, theme, settings in ((1366, "light", {}), (1024, "dark", {"present": "1"})):
        page = visit(new_page(width=width, theme=theme), PATH, **settings)
        drawn(page)
        box = page.locator(".js-plotly-plot").first.bounding_box()
        assert box["y"] + box["height"] <= 768, width
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        screenshot(page, f"parallelism-{theme}-{width}")


def test_a_slider_splits_the_model_anew(page, visit):
    visit(page, PATH)
    drawn(page)
    slider = page.get_by_role("slider", name="Pipeline stages")
    slider.focus()
    slider.press("ArrowRight")
    page.until(
        "document.querySelector('.js-plotly-plot')?.textContent.includes('stage 4: 16 layers')"
    )
    assert "on 80 × H100 SXM" in headline(page)


def test_the_ring_goes_on_by_a_click(page, visit):
    visit(page, PATH, parallel_tab="ring", parallel_ring_ranks="2", parallel_ring_step="0")
    drawn(page)
    for step, phase in ((1, "reduce-scatter"), (2, "all-gather")):
        page.get_by_role("button", name="Next step").click()
        page.until(
            f"document.querySelector('.st-key-headline')?.textContent.includes('Step {step} of 2')"
        )
        assert phase in headline(page)
        if step == 1:  # 2 is the default, which the address leaves out
            page.until("location.search.includes('parallel_ring_step=1')")
