"""Scenarios in a browser: a pin goes into the address and lives through a reload."""

import urllib.parse

PATH = "/training-memory"
HEADLINE = ".st-key-headline p"


def pins(page):
    query = urllib.parse.urlparse(page.url).query
    return urllib.parse.parse_qs(query).get("memory_pins", [""])[0]


def test_a_pin_goes_into_the_address_and_the_waterfall_follows(page, visit, screenshot):
    visit(page, PATH, memory_tab="scenarios", memory_to="D", memory_batch=3)
    page.locator(".js-plotly-plot").first.wait_for(timeout=60_000)
    assert page.locator(HEADLINE).first.inner_text().startswith("A → now")

    page.get_by_role("button", name="Pin as D").click()
    page.until(f"document.querySelector({HEADLINE!r}).innerText.startsWith('A → D')")

    assert pins(page).endswith(";accumulation=8;step_kind=fused"), pins(page)
    assert "batch_size=3" in pins(page)
    screenshot(page, "memory-scenarios")
    page.reload()
    page.until(f"document.querySelector({HEADLINE!r})?.innerText.startsWith('A → D')")
