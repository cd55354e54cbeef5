"""What people come with, each answered within six clicks from Home: a press or a typed entry."""

import json
import re

import pytest

from tests.browser.seen import until_headline

MOST = 6
LINE = ".st-key-page_line p"
VIEW_ERROR = "at least one dimension spans across two contiguous subspaces"
IN_PLACE = (
    "one of the variables needed for gradient computation has been modified by an inplace operation"
)
HOURS = {"en": "11 h 17 min", "zh": "11 小时 17 分"}
OVERFLOW = {"en": "FP16 overflow", "zh": "FP16 溢出"}
VIEW = {"en": "why does view fail after transpose", "zh": "为什么转置后 view 报错"}
SEVENTY = {
    "en": "how many H100 80GB for Llama-3.1 70B, FSDP, bf16, AdamW, 8,192 tokens, 1 B tokens",
    "zh": "Llama-3.1 70B FSDP 需要多少张 H100，训练 10 亿词元要多久",
}
QWEN = {
    "en": "Qwen3-32B in 4 bits on one RTX 5090, 32k context, 4 users",
    "zh": "Qwen3-32B 4 位量化，单张 RTX 5090，32k 上下文，4 个用户",
}
TYPED = {
    "Model": {"Qwen3-32B": "Qwen3 32B", "Llama 3.1 70B": "Llama-3.1 70B", "gpt oss 20b": "gpt-oss"},
    "Device": {"H100 80GB": "NVIDIA H100 SXM", "RTX5090": "NVIDIA RTX 5090"},
}


class Reader:
    """Hands on a page of Home, whose clicks are counted."""

    def __init__(self, page, ready):
        self.page, self.ready, self.clicks = page, ready, 0

    def count(self):
        self.clicks += 1
        assert self.clicks <= MOST, f"more than {MOST} clicks"

    def click(self, found):
        self.count()
        found.first.click()

    def search(self, words):
        """Type into Home's search: one entry."""
        self.count()
        field = self.page.locator(".st-key-home_search input")
        field.fill(words)
        field.press("Enter")

    def follow(self, part):
        """Click the first link whose address holds this, once the search has found it."""
        links = f"[data-testid=stPageLink] a[href*={json.dumps(part)}]"
        self.click(self.page.locator(f"{links}:not(.st-key-home_steps a)"))
        self.page.wait_for_url(re.compile(re.escape(part)))
        self.ready(self.page)

    def sees(self, *words):
        main = "document.querySelector('[data-testid=stMain]').innerText"
        for each in words:
            self.page.until(f"{main}.replaceAll('\\u00a0', ' ').includes({json.dumps(each)})")


@pytest.fixture(params=["en", "zh"])
def reader(request, new_page, visit, ready):
    """A reader on Home."""
    reader = Reader(visit(new_page(lang=request.param)), ready)
    yield reader
    print(f"{request.node.name}: {reader.clicks} clicks")  # noqa: T201


def test_fp16_overflows_where_bf16_does_not(reader):
    reader.search(OVERFLOW[reader.page.lang])
    reader.follow("rounding_tab=formats")
    reader.sees("70000", "↑ inf", "≈ 70144", "65504")


def test_why_a_view_fails_after_t(reader):
    reader.search(VIEW[reader.page.lang])
    reader.follow("strides_tab=why")
    reader.sees(VIEW_ERROR, "x.t()", "1 ≠ 4·4", ".contiguous().view(16)")


def test_a_write_that_spoils_the_gradient_is_named_and_mended(reader):
    reader.search(IN_PLACE)
    reader.follow("computation-graph")
    until_headline(reader.page, "b.add_(1)")
    reader.sees("b = b + 1", "modified by an inplace operation")


def test_how_many_h100_train_70b_and_how_long(reader):
    reader.search(SEVENTY[reader.page.lang])
    reader.follow("what-fits")
    for words in ("Llama-3.1 70B", "32", "24", HOURS[reader.page.lang], "USD"):
        until_headline(reader.page, words)


def test_qwen3_32b_in_4_bits_on_one_rtx_5090(reader):
    reader.search(QWEN[reader.page.lang])
    reader.follow("serving")
    until_headline(reader.page, "32,768")
    reader.sees("int4_group128", "51.3 GiB", "17.9 GiB", "32.0 GiB", "8.00 GiB", "RTX 5090")
    reader.page.locator(LINE).filter(has_text=re.compile(r"51\.3 GiB.* 2[. ]")).wait_for()
    changes = reader.page.locator("[class*=st-key-plan_change_] button")
    reader.click(changes.filter(has_text="int4_group128_affine"))
    reader.sees("27.6 GiB")
    changes.first.wait_for(state="hidden")


@pytest.mark.parametrize("label", TYPED)
def test_a_menu_finds_the_names_that_people_type(page, visit, label):
    visit(page, "/what-fits")
    field = page.get_by_role("combobox", name=label)
    for typed, wanted in TYPED[label].items():
        field.click()
        field.fill(typed)
        first = page.get_by_role("option").first
        first.filter(has_text=wanted).wait_for()
        assert first.inner_text().startswith(wanted), typed
        page.keyboard.press("Escape")
