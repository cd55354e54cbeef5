"""FLOPs and time in a browser: a slider that answers, a product really timed here."""

from tests.browser.seen import drawn, headline, press, until_headline

PATH = "/flops-and-time"


def test_a_slider_brings_a_new_number_and_a_product_is_timed_in_a_process_of_its_own(page, visit):
    visit(page, PATH, flops_tab="components", flops_model="llama-2-7b")
    drawn(page)
    press(page, "Sequence length", "ArrowLeft")
    press(page, "Sequence length", "ArrowLeft")
    until_headline(page, "on 4,096 tokens")
    assert "1.166 ×" in headline(page)

    visit(page, PATH, flops_tab="matmul", flops_matmul="256")
    chart = drawn(page)
    page.get_by_role("button", name="Time it on this machine").click()
    until_headline(page, " here (")
    assert headline(page).endswith("FLOP/s")
    assert chart.text_content().count("median, waiting")
