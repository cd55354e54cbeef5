"""Journey J5: an error that was pasted, the page that shows its cause, and the ways around it."""

import contextlib
import io
import json

import pytest

from core.language import _, install_provider
from core.tensors.examples import PRESETS, given
from core.tensors.merged_heads import merge_heads
from core.tensors.trace import trace
from core.tensors.views import explain_view
from core.units import format_bytes
from pages.components.tensor_map.tensor_map import KINDS
from pages.shared.start.torch_errors import load_torch_errors
from tests.browser.seen import until_headline

PASTED = "view size is not compatible with input tensor's size and stride"
SHAPE = (2, 12, 128, 64)
HEADS = "x.transpose(1, 2)"
TARGET = (2, 128, 768)
UNEVEN = "x[:, :3].view(2, 2, 3)"
STRIDES, INDEXING = "/strides-and-views", "/indexing-and-sharing"
TABS = ".st-key-page_tabs [role=radio]"
STORAGE, WHY, STEPS = range(3)
EXAMPLE = list(PRESETS).index("merge")


@pytest.fixture(autouse=True)
def in_english_again():
    yield
    install_provider(None)


@pytest.fixture(params=["en", "zh"])
def reader(request, new_page):
    """A page of a reader; what core says is in his language."""
    install_provider(lambda: request.param)
    return new_page(lang=request.param)


def run_on(shape, source):
    """Return what core finds out about a program."""
    x, limits = given(shape)
    return trace(source, {"x": x}, limits)


def why_not(shape, source):
    """Return core's verdict on the view that a program was refused."""
    ran = run_on(shape, source)
    layout = ran.tensors[-1].layout
    return explain_view(layout.shape, layout.stride, ran.refused_shape), layout


def until_body(page, *words):
    for each in words:
        page.until(f"document.querySelector('[data-testid=stMain]')?.innerText.includes({each!r})")


def choose_example(page):
    """Choose an example; its program is there before a hand can type another one."""
    before = page.locator(".stTextArea textarea:visible").input_value()
    page.locator(".st-key-strides_preset_menu button").click()
    page.get_by_role("menuitem").nth(EXAMPLE).click()
    page.until(f"document.querySelector('.stTextArea textarea').value !== {json.dumps(before)}")


def type_program(page, source):
    field = page.locator(".stTextArea textarea:visible")
    field.fill(source)
    field.press("Control+Enter")
    page.until("document.querySelector('[data-test-script-state=notRunning]')")


def open_tab(page, place):
    page.locator(TABS).nth(place).click()
    page.until(f"document.querySelectorAll({TABS!r})[{place}].ariaChecked === 'true'")


def shown_code(page):
    """Open "Show the code" and return what it says."""
    page.locator("[class*=st-key-][class*=_code] summary").first.click()
    return page.locator("[class*=_code] [data-testid=stCode] code").first.inner_text()


def printed_by(code):
    """Return what a snippet prints: it is Python that runs anywhere."""
    with contextlib.redirect_stdout(io.StringIO()) as output:
        exec(compile(code, "snippet", "exec"), {})  # noqa: S102  what a reader copies
    return output.getvalue()


def search_the_error(page, visit):
    """Paste the error on Home and follow its card."""
    visit(page)
    field = page.locator(".st-key-home_search input")
    field.fill(PASTED)
    field.press("Enter")
    page.locator("[data-testid=stPageLink] a[href*='strides_tab=why']").first.click()
    page.wait_for_url(f"**{STRIDES}?*")


def test_from_a_pasted_error_to_the_pair_that_forbids_the_view(reader, visit):
    search_the_error(reader, visit)
    error = next(each for each in load_torch_errors() if each.text.startswith(PASTED))
    rows, columns = (int(error.query[f"strides_{name}"]) for name in ("rows", "columns"))
    verdict, layout = why_not((rows, columns), error.query["strides_code"])
    (pair,) = verdict.failures
    until_headline(reader, str(layout.shape))
    until_body(reader, str(pair.need), str(pair.have))

    choose_example(reader)
    type_program(reader, f"{HEADS}.view{TARGET}")
    verdict, layout = why_not(SHAPE, f"{HEADS}.view{TARGET}")
    (pair,) = verdict.failures
    until_headline(reader, str(layout.shape))
    length, stride = layout.shape[pair.right], layout.stride[pair.right]
    until_body(reader, f"{pair.have} ≠ {length}·{stride}")
    for fix in verdict.fixes:
        size = format_bytes(layout.num_bytes, "GiB")
        until_body(reader, fix, size)
    assert "not compatible" in printed_by(shown_code(reader))

    open_tab(reader, STORAGE)
    until_body(reader, run_on(SHAPE, f"{HEADS}.view{TARGET}").error.torch_message)


@pytest.mark.parametrize("fix", [f".contiguous().view{TARGET}", f".reshape{TARGET}"])
def test_what_helps_copies_as_many_bytes_as_core_says(reader, visit, fix):
    rows, columns = SHAPE[2:]
    query = {"strides_leading": "2, 12", "strides_rows": rows, "strides_columns": columns}
    page = visit(reader, STRIDES, strides_code=HEADS, **query)
    type_program(page, HEADS + fix)
    steps = run_on(SHAPE, HEADS + fix).steps
    (copy,) = (step for step in steps if step.bytes_copied)
    row = page.get_by_role("row").filter(has_text=copy.text).first
    row.wait_for()
    assert _(KINDS[copy.kind]).partition(" · ")[0] in row.inner_text()
    assert format_bytes(copy.bytes_copied, "GiB") in row.inner_text()
    assert str(TARGET) in printed_by(shown_code(page))


def test_reshape_without_transpose_mixes_heads(reader, visit):
    page = visit(reader, INDEXING, index_tab="merge", index_tokens=4, index_heads=2, index_dim=3)
    both = merge_heads(4, 2, 3)
    assert both.num_mixed_rows
    until_headline(page, str(both.num_displaced))
    until_headline(page, str(both.num_elements))
    until_body(page, f"{both.num_mixed_rows}", f"(1, 4, {len(both.right[0])})")
    code = shown_code(page)
    assert printed_by(code).startswith(f"{both.num_displaced} of {both.num_elements}")


def test_a_view_of_what_is_not_contiguous_works_where_its_pairs_lie_evenly(reader, visit):
    query = {"strides_rows": 4, "strides_columns": 6, "strides_code": UNEVEN}
    page = visit(reader, STRIDES, **query)
    ran = run_on((4, 6), UNEVEN)
    sliced, viewed = ran.steps
    assert (sliced.outputs[0].layout.is_contiguous, viewed.kind) == (False, "view")
    layout = viewed.outputs[0].layout
    until_body(page, str(layout.shape), str(layout.stride))
    page.locator(".step.view").nth(1).wait_for()
    address = layout.offset + sum(layout.stride[axis] * (1, 1, 2)[axis] for axis in range(3))
    until_headline(page, f"= {address}")
    assert str(layout.stride) in printed_by(shown_code(page))
