"""Inside GPT in a browser: every key runs the model, what is pointed at moves without Python."""

import pytest

from core.language import install_provider
from core.models.depth import inside
from core.train.learning.opened import open_shipped, shipped_steps
from core.train.text.pieces import last_pieces, vocabulary_signs
from pages.models.inside_gpt.inputs import MAX_CHARS, START
from tests.browser.seen import RUNS, headline, press, until_headline, until_other_headline

ADDRESS = "/inside-gpt"
PASTE = """(field, text) => {
  const clipboardData = new DataTransfer();
  clipboardData.setData("text", text);
  field.dispatchEvent(new ClipboardEvent("paste", { clipboardData, cancelable: true }));
}"""

# Every token that is pointed at from now on, by its number.
POINTED = """(depth) => {
  window.pointed = [];
  const isChosen = (each) => each.classList.contains("chosen");
  const look = () => {
    window.pointed.push([...depth.querySelectorAll(".token")].findIndex(isChosen));
    requestAnimationFrame(look);
  };
  look();
}"""


@pytest.fixture(autouse=True)
def in_english_again():
    yield
    install_provider(None)


@pytest.fixture
def open_depth(new_page, visit):
    """Return open_depth(lang=..., **query): the page with its picture drawn."""

    def go(lang="en", **query):
        page = visit(new_page(lang=lang), ADDRESS, **query)
        page.locator(".picture").first.wait_for()
        rested(page)
        return page

    return go


@pytest.fixture(scope="module")
def opened():
    return open_shipped(shipped_steps()[-1])


def rested(page):
    page.until("document.querySelector('[data-test-script-state=notRunning]')")


def best_after(opened, text):
    ids = last_pieces(opened.tokenizer, text, 64).token_ids
    best = int(inside(opened.model, ids)[1][-1, -1].argmax())
    return vocabulary_signs(opened.tokenizer, [best])[0]


def sentence(page):
    return page.locator(".sentence").inner_text()


def test_what_is_typed_is_what_the_model_reads(open_depth, opened):
    page = open_depth()
    field = page.locator(".text")
    field.fill("")
    page.until("document.querySelector('.st-key-headline p')?.innerText.includes('Type a text')")
    text = "the statement is "
    field.press_sequentially(text)
    # The headline of a shorter text can name the same token: "the st" is followed by an "a" too.
    page.locator(".token").nth(len(text) - 1).wait_for()
    until_headline(page, f"“{best_after(opened, text)}”")
    assert field.input_value() == text


def test_pointing_asks_python_nothing_and_tells_where_a_token_looks(open_depth, opened):
    page = open_depth()
    page.evaluate(RUNS)
    page.locator(".token").nth(5).hover()
    ids = last_pieces(opened.tokenizer, START, 64).token_ids
    weights = inside(opened.model, ids)[0][0].mean(0)[5]
    signs = vocabulary_signs(opened.tokenizer, ids)
    seen = int(weights.argmax())
    page.until("document.querySelector('.st-key-inside_picture')")
    assert sentence(page).startswith(f"“{signs[5]}” looks at “{signs[seen]}” ")
    assert f"{100 * float(weights[seen]):.3g}"[:3] in sentence(page)
    page.mouse.move(5, 5)
    assert sentence(page).startswith(f"“{signs[-1]}” looks at")
    assert page.evaluate("window.runs") == 0


def test_arrow_keys_move_the_token_and_the_layer_and_the_link_keeps_them(open_depth):
    page = open_depth()
    page.locator(".picture").focus()
    page.keyboard.press("ArrowUp")
    page.locator(".depth").evaluate(POINTED)
    for _time in range(12):  # faster than Python answers
        page.keyboard.press("ArrowLeft")
        page.wait_for_timeout(80)
    expected = str(len(START) - 13)
    page.until(f"new URLSearchParams(location.search).get('inside_at') === '{expected}'")
    rested(page)
    pointed = page.evaluate("window.pointed")
    assert pointed == sorted(pointed, reverse=True), "it never jumps back"
    said = sentence(page)
    page.reload()
    page.locator(".picture").first.wait_for()
    rested(page)
    assert said.split(" looks")[0] == sentence(page).split(" looks")[0]


def test_the_slider_of_steps_redraws_the_picture(open_depth):
    page = open_depth()
    before = headline(page)
    press(page, "Training step", "ArrowLeft", "ArrowLeft", "ArrowLeft")
    until_other_headline(page, before)
    rested(page)
    assert "inside_step=170" in page.url or "inside_step=614" in page.url


def test_the_picture_speaks_chinese(open_depth):
    page = open_depth(lang="zh")
    assert "关注" in sentence(page)
    assert sentence(page).count("、") == 2  # between the three that are looked at
    assert ", " not in sentence(page)
    assert "下一个词元" in headline(page)


@pytest.mark.parametrize("present", ["0", "1"])
def test_of_a_long_text_the_last_line_stands_whole_in_its_field(open_depth, present):
    page = open_depth(present=present, inside_text="the value of an expression " * 8)
    page.until("document.fonts.status === 'loaded'")
    top, height, whole = page.locator(".text").evaluate(
        "(each) => [each.scrollTop, each.clientHeight, each.scrollHeight]"
    )
    lines = round(whole / height)
    assert lines > 1
    assert whole == pytest.approx(lines * height, abs=lines), "no line is shown in part"
    assert top == pytest.approx(whole - height, abs=2)


def test_a_locked_page_takes_no_text_and_still_shows_where_a_token_looks(open_depth):
    page = open_depth(lock="1")
    assert page.locator(".text").is_disabled()
    before = sentence(page)
    page.locator(".token").nth(2).hover()
    assert sentence(page) != before


def test_the_picture_is_saved_with_its_letters_where_they_stand(open_depth):
    page = open_depth()
    with page.expect_download() as saved:
        page.locator("[data-act=svg]").click()
    text = saved.value.path().read_text(encoding="utf-8")
    assert saved.value.suggested_filename == "inside-gpt.svg"
    assert "text-anchor: middle" in text
    assert text.count("<path") == page.locator(".picture path").count()


def test_on_a_phone_the_tokens_take_the_room_of_the_bars(new_page, visit):
    page = visit(new_page(390, 800), ADDRESS)
    page.locator(".picture").first.wait_for()
    assert page.locator(".cell").count() > 10
    assert page.locator(".bar").count() == 0


def test_a_pasted_book_is_read_at_its_end(open_depth, opened):
    page = open_depth()
    book = "the value of it 你🎉 " * 6000  # 114,000 characters
    page.locator(".text").fill("")
    page.locator(".text").evaluate(PASTE, book)
    until_headline(page, f"“{best_after(opened, book)}”")
    assert len(page.locator(".text").input_value()) <= MAX_CHARS + 400  # an emoji counts twice
    assert page.locator(".token").count() > 20
    assert "last 64 tokens" in page.locator("[data-testid=stMain]").inner_text()
