"""What a reader sees on a page of the browser, and hands that move it."""

HEADLINE = ".st-key-headline p"
_TEXT = f"document.querySelector({HEADLINE!r})?.innerText.replaceAll('\\u00a0', ' ')"
CHART = ".js-plotly-plot"
# Counts from now on how often Python has run for this page, in `window.runs`.
RUNS = """() => {
  window.runs = 0;
  const app = document.querySelector("[data-testid=stApp]");
  const note = () => { window.runs += app.dataset.testScriptState === "running"; };
  new MutationObserver(note).observe(app, { attributeFilter: ["data-test-script-state"] });
}"""


def headline(page):
    """The sentence with every space an ordinary one."""
    return page.locator(HEADLINE).first.inner_text().replace("\N{NO-BREAK SPACE}", " ")


def until_headline(page, words, how="includes"):
    """Wait until the headline includes the words, or `startsWith` them."""
    page.until(f"{_TEXT}?.{how}({words!r})")


def until_other_headline(page, before):
    """Wait until the headline is no longer what `headline` has returned."""
    page.until(f"{_TEXT} !== {before!r}")


def drawn(page):
    """Wait until the first chart is there and nothing is on its way; return the chart."""
    page.locator(f"{CHART} .main-svg").first.wait_for()
    page.until("document.querySelectorAll('[data-testid=stSpinner]').length === 0")
    return page.locator(CHART).first


def press(page, slider, *keys):
    """Move the slider of that name."""
    found = page.get_by_role("slider", name=slider).first
    found.focus()
    for key in keys:
        found.press(key)
