"""The index finds what a beginner types or pastes."""

import pytest

from pages.start.home.search import Entry, search, split_words
from pages.start.home.torch_errors import load_torch_errors

ENTRIES = [
    Entry(
        kind="error",
        target=error.slug,
        text=" ".join([error.text, error.words, *error.why.values()]),
    )
    for error in load_torch_errors()
]
TRACEBACK = """Traceback (most recent call last):
  File "train.py", line 31, in <module>
    logits = self.head(x)
RuntimeError: mat1 and mat2 shapes cannot be multiplied (32x784 and 512x10)"""


def best(query):
    found = search(query, ENTRIES)
    return found[0].target if found else None


@pytest.mark.parametrize("error", load_torch_errors(), ids=lambda error: error.slug)
def test_each_error_text_finds_itself_first(error):
    assert best(error.text) == error.slug


@pytest.mark.parametrize(
    ("query", "slug"),
    [
        (TRACEBACK, "matmul-shapes"),
        ("The size of tensor a (5) must match the size of tensor b (7)", "broadcast"),
        ("torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 20 MiB", "out-of-memory"),
        ("显存不足", "out-of-memory"),
        ("CONTIG", "view-not-compatible"),
    ],
)
def test_other_sizes_tracebacks_chinese_and_half_words_are_found(query, slug):
    assert best(query) == slug


@pytest.mark.parametrize("query", ["", "   ", "12345", "bananas", "<script>", "bananas <b>"])
def test_what_is_not_there_is_not_found(query):
    assert search(query, ENTRIES) == ()


def test_chinese_is_cut_into_pairs_and_numbers_are_dropped():
    assert split_words("显存不足 32x784 cuda") == ["显存", "存不", "不足", "cuda"]


def test_no_more_than_the_limit_is_returned():
    assert len(search("tensor", ENTRIES, limit=2)) == 2
