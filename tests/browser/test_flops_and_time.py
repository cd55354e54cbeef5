"""FLOPs and time in a browser: a slider that answers, a product really timed here."""

from tests.browser.seen import drawn, headline, press, until_headline

PATH = "/flops-and-time"


def test_a_slider_brings_a_new_number_and_a_product_is_timed_in_a_process_of_its_own(page, visit):
    visit(page, PATH, flops_tab="components", plan_model="llama-2-7b", plan_checkpointing="none")
    drawn(page)
    press(page, "Sequence length", "ArrowLeft")
    press(page, "Sequence length", "ArrowLeft")
    until_headline(page, "on 4,096 tokens")
    assert "1.166 ×" in headline(page)

    visit(page, PATH, flops_tab="mfu", flops_measured="matmul", flops_matmul="256")
    chart = drawn(page)
    page.get_by_role("button", name="Time it on this machine").click()
    page.locator(".stStatusWidget").wait_for()
    assert is_clear_of_the_switches(page)
    until_headline(page, " here (")
    assert headline(page).endswith("FLOP/s")
    assert chart.text_content().count("median, waiting")


def is_clear_of_the_switches(page):
    """Return whether the sign that the page is running stands below the menu, on the screen."""
    sign = page.locator(".stStatusWidget").bounding_box()
    switches = page.locator(".st-key-frame_switches").bounding_box()
    is_below = sign["y"] > switches["y"] + switches["height"]
    return is_below and sign["y"] + sign["height"] <= page.viewport_size["height"]
