"""The index finds what a beginner types or pastes; every error text is really raised by torch."""

import pytest

from pages.shared.start.torch_errors import load_torch_errors
from pages.start.home.search import (
    LONGEST_QUESTION,
    MAX_HITS,
    all_entries,
    find_all,
    load_synonyms,
    search,
    split_words,
)

ERRORS = load_torch_errors()
ENTRIES = [entry for entry in all_entries() if entry.kind == "error"]
TRACEBACK = """Traceback (most recent call last):
  File "train.py", line 31, in <module>
    logits = self.head(x)
RuntimeError: mat1 and mat2 shapes cannot be multiplied (32x784 and 512x10)"""


def best(query):
    return next((hit.target for hit in find_all(query) if hit.kind == "error"), None)


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


@pytest.mark.parametrize(
    ("query", "target"),
    [
        ("gradient checkpointing", "training-full-checkpointing"),
        ("Activation  recomputation", "training-full-checkpointing"),
        ("梯度检查点", "training-full-checkpointing"),
        ("backprop", "where-the-flops-go"),
        ("反向传播", "where-the-flops-go"),
        ("how much memory does 7B need", "budget/training_memory"),
        ("vram", "budget/training_memory"),
        ("显存不够", "out-of-memory"),
        ("训练要多久", "budget/flops_and_time"),
        ("inference", "budget/serving"),
        ("Inference tensors cannot be saved for backward", "inference-tensor"),
        ("量化", "dtypes/quantization"),
        ("what is the mantissa?", "dtypes/bit_layouts"),
        ("roofline", "five-intensities"),
    ],
)
def test_the_words_of_the_field_find_what_they_mean(query, target):
    assert find_all(query)[0].target == target


def test_every_synonym_leads_to_what_there_is():
    known = {entry.target for entry in all_entries()}
    for term, targets in load_synonyms().items():
        assert term == " ".join(term.lower().split())
        assert set(targets) <= known, term
        hits = [hit.target for hit in find_all(term)]
        assert hits[: len(targets)] == list(targets), term
        assert len(hits) <= MAX_HITS


def test_a_pasted_error_is_found_before_what_its_words_mean():
    for error in ERRORS:
        if len(error.text) > LONGEST_QUESTION:
            assert find_all(error.text)[0].target == error.slug


def test_a_term_is_a_word_of_its_own():
    hits = [hit.target for hit in find_all("the nonzero samples")]
    assert load_synonyms()["zero"][0] not in hits
