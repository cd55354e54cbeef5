"""Serving in a browser: a slider that answers, a number that explains itself."""

from tests.browser.seen import drawn, headline, press, until_headline


def test_the_context_grows_the_cache_and_the_number_explains_itself(page, visit):
    visit(page, "/serving")
    drawn(page)
    for cache in ("8.00 GiB", "16.0 GiB"):
        press(page, "Context (tokens)", "ArrowRight")
        until_headline(page, f"{cache} KV cache")

    assert "only 1 sequence of 32,768 tokens fits" in headline(page)
    page.locator('[data-testid="stMetric"]').nth(1).get_by_test_id("stTooltipIcon").hover()
    page.get_by_text("= 17,179,869,184", exact=False).first.wait_for()
