"""The index finds what a beginner types or pastes; every error text is really raised by torch."""

import platform
import re

import pytest
import torch

from core.autograd.errors import explain_error
from core.autograd.forward import Limits
from core.autograd.leaves import leaves_in, written_leaves
from core.autograd.presets import PRESETS
from core.autograd.program import capture_program
from pages.shared.start.torch_errors import FAMILIES, load_torch_errors
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
each_error = pytest.mark.parametrize("error", ERRORS, ids=[error.slug for error in ERRORS])
ON_A_GRAPH = [error for error in ERRORS if error.page == "autograd/computation_graph"]
SHOWN_ON_A_GRAPH = {
    "exp_in_place",
    "update_too_early",
    "square_twice",
    "not_scalar",
    "leaf_in_place",
    "inference_mode",
    "numpy",
    "no_graph",
}
TRACEBACK = """Traceback (most recent call last):
  File "train.py", line 31, in <module>
    logits = self.head(x)
RuntimeError: mat1 and mat2 shapes cannot be multiplied (32x784 and 512x10)"""


def best(query):
    return next((hit.target for hit in find_all(query) if hit.kind == "error"), None)


@each_error
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


@each_error
@pytest.mark.filterwarnings("ignore")
def test_the_code_raises_exactly_this_text(error):
    if error.system and error.system != platform.system():
        pytest.skip(f"{error.system} words this differently")
    if error.slug == "no-cuda-build" and torch.cuda.is_available():
        pytest.skip("this torch has CUDA")

    with pytest.raises(Exception) as caught:  # noqa: PT011  the type is compared below
        exec(error.code, {"torch": torch})  # noqa: S102  our own file

    assert type(caught.value).__name__ == error.type
    assert str(caught.value).split("\n")[0] == error.text


@pytest.mark.parametrize("key", sorted(SHOWN_ON_A_GRAPH))
def test_what_torch_says_of_a_failing_graph_leads_to_that_graph(key):
    preset = PRESETS[key]
    with pytest.raises(RuntimeError) as caught:
        exec(preset.source, {"torch": torch, **preset.tensors()})  # noqa: S102  our own table
    (found,) = [error for error in ON_A_GRAPH if error.slug == best(str(caught.value))]
    leaves = written_leaves(preset.tensors())
    assert found.query == {"graph_code": preset.source, "graph_leaves": leaves}


@pytest.mark.parametrize("error", ON_A_GRAPH, ids=lambda error: error.slug)
def test_the_graph_that_an_error_leads_to_fails_with_its_words(error):
    source, leaves = error.query["graph_code"], leaves_in(error.query["graph_leaves"])
    explained = explain_error(capture_program(source, leaves, Limits(seconds=60)), source)
    assert explained.kind != "other"
    sizes = re.compile(r"\[\d+\]")  # of the tensor in the message
    said, known = (sizes.sub("[]", text) for text in (explained.torch_message, error.text))
    assert said.split("\n")[0] == known


def test_every_text_is_explained_and_remedied_in_both_languages():
    for error in ERRORS:
        for part in (error.why, error.fix):
            assert set(part) == {"en", "zh"}, error.slug
            assert all(part.values()), error.slug


def test_slugs_are_unique():
    assert len({error.slug for error in ERRORS}) == len(ERRORS) >= 25


def test_the_strides_that_the_view_error_names_are_torchs():
    turned = torch.zeros(2, 3).t()
    (error,) = [each for each in ERRORS if each.slug == "view-not-compatible"]
    assert f"shape {tuple(turned.shape)} and stride {turned.stride()}" in error.why["en"]
    needed = turned.stride(1) * turned.shape[1]
    assert f"3 × 2 = {needed}, and it is {turned.stride(0)}" in error.why["en"]
    copied = turned.contiguous()
    assert f"stride {copied.stride()}" in error.fix["en"]
    assert copied.data_ptr() != turned.data_ptr()


def test_every_family_of_errors_is_named_and_has_several():
    for family in {each.family for each in ERRORS if each.family}:
        assert family in FAMILIES
        assert sum(each.family == family for each in ERRORS) > 1


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
