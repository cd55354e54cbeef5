"""A message of torch's is told apart from what only looks like it, and torch really says it."""

import multiprocessing
import platform
import re
from mmap import ACCESS_READ, mmap
from pathlib import Path

import pytest
import torch

from core.autograd.errors import explain_error
from core.autograd.forward import Limits
from core.autograd.leaves import leaves_in
from core.autograd.program import capture_program
from pages.shared.start.torch_errors import FAMILIES, error_of, find_error, load_torch_errors

ERRORS = load_torch_errors()
STANDS_FOR = {"…": "x", "<float>": "Half", "<integer>": "Long", "<gpu>": "cuda:0"}
PYTHON = Path(multiprocessing.__file__).parents[1]
TORCH = Path(torch.__file__).parent
CHANGELOG = Path(__file__).parents[3] / "CHANGELOG.md"
ON_A_GRAPH = [error for error in ERRORS if error.page == "autograd/computation_graph"]


def slug_of(message):
    error = error_of(message)
    return error.slug if error else ""


def test_every_text_and_every_part_that_it_is_known_by_is_its_own():
    for error in ERRORS:
        for part in (error.text, *error.known_by):
            assert len(part) >= 12, part
            said = re.sub("…|<[a-z]+>", lambda sign: STANDS_FOR.get(sign[0], sign[0]), part)
            assert slug_of(said) == error.slug, part


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("error", ERRORS, ids=[error.slug for error in ERRORS])
def test_the_code_raises_exactly_this_text(error):
    if error.source:
        assert not error.code
        return
    if error.system and error.system != platform.system():
        pytest.skip(f"{error.system} words this differently")
    if error.slug == "no-cuda-build" and torch.cuda.is_available():
        pytest.skip("this torch has CUDA")

    with pytest.raises(Exception) as caught:  # noqa: PT011  the type is compared below
        exec(error.code, {"torch": torch})  # noqa: S102  our own file

    assert type(caught.value).__name__ == error.type
    lines = [line.strip() for line in str(caught.value).split("\n")]
    assert error.text.strip() in lines


def is_said_in(written, text):
    """Whether words of a text stand there in one piece; numbers and names are put in later."""
    pieces = re.split("[^A-Za-z ]+|torch|cpu|Long", text)
    return any(written.find(each.strip().encode()) >= 0 for each in pieces if len(each) > 9)


def test_what_an_installed_file_is_said_to_say_stands_in_it():
    found = 0
    for error in ERRORS:
        source, header = error.source, error.source.removeprefix("aten/src/")
        for file in (PYTHON / source, TORCH.parent / source, TORCH / "include" / header):
            if source and file.is_file():
                written = b" ".join(re.sub(rb'"\s*\\?\s*f?"', b"", file.read_bytes()).split())
                assert is_said_in(written, error.text), error.slug
                found += 1
    assert found >= 12


def test_what_the_compiled_torch_is_said_to_say_stands_in_it():
    libraries = [*TORCH.glob("lib/*torch_cpu.*"), *TORCH.glob("lib/*torch_python.*")]
    left = [
        error
        for error in ERRORS
        if error.source.endswith(".cpp") and not re.search("cuda|cudnn|NCCL", error.source)
    ]
    assert len(left) > len(libraries) == 2
    for library in libraries:
        with library.open("rb") as file, mmap(file.fileno(), 0, access=ACCESS_READ) as written:
            left = [error for error in left if not is_said_in(written, error.text)]
    assert not left


def test_every_text_is_explained_and_remedied_in_both_languages_and_has_a_slug_of_its_own():
    assert len({error.slug for error in ERRORS}) == len(ERRORS)
    for error in ERRORS:
        for part in (error.why, error.fix):
            assert set(part) == {"en", "zh"}, error.slug
            assert all(part.values()), error.slug


def test_the_changelog_names_how_many_there_are():
    said = re.search(r"(\d+) error messages of PyTorch", CHANGELOG.read_text(encoding="utf-8"))
    assert said is not None
    assert int(said[1]) == len(ERRORS)


def test_every_family_of_errors_is_named_and_has_several():
    for family in {each.family for each in ERRORS if each.family}:
        assert family in FAMILIES
        assert sum(each.family == family for each in ERRORS) > 1


def test_the_strides_that_the_view_error_names_are_torchs():
    turned = torch.zeros(2, 3).t()
    error = find_error("view-not-compatible")
    assert f"shape {tuple(turned.shape)} and stride {turned.stride()}" in error.why["en"]
    needed = turned.stride(1) * turned.shape[1]
    assert f"3 × 2 = {needed}, and it is {turned.stride(0)}" in error.why["en"]
    copied = turned.contiguous()
    assert f"stride {copied.stride()}" in error.fix["en"]
    assert copied.data_ptr() != turned.data_ptr()


@pytest.mark.parametrize("error", ON_A_GRAPH, ids=lambda error: error.slug)
def test_the_graph_that_an_error_leads_to_fails_with_its_words(error):
    source, leaves = error.query["graph_code"], leaves_in(error.query["graph_leaves"])
    explained = explain_error(capture_program(source, leaves, Limits(seconds=60)), source)
    assert explained.kind != "other"
    sizes = re.compile(r"\[\d+\]")  # of the tensor in the message
    said, known = (sizes.sub("[]", text) for text in (explained.torch_message, error.text))
    assert said.split("\n")[0] == known


def test_what_torch_refuses_on_a_graph_for_other_reasons_is_explained_there():
    leaves = leaves_in("w = [[1.0, 2.0], [3.0, 4.0]]; x = [1.0, 2.0]; k = [1, 2] (data); s = 2.0")
    for code, slug in {
        "F.embedding(torch.tensor([0, 2]), w)": "embedding-range",
        "x.half() @ w": "matmul-dtypes",
        "s @ s": "matmul-scalars",
        "w @ torch.ones(3)": "matrix-vector",
        "w @ torch.ones(3, 2)": "matmul-shapes",
        "w + torch.ones(3)": "broadcast",
        "y = x * 1\ny += w": "in-place-broadcast",
        "k += 0.5": "in-place-dtype",
        "x[0, 0]": "too-many-indices",
        "x[2]": "index-out-of-bounds",
        "x.view(5)": "shape-invalid",
        "w.t().view(4)": "view-not-compatible",
        "w.sum(dim=2)": "dimension-range",
        "F.cross_entropy(w, x)": "target-dtype",
        "F.cross_entropy(w, k)": "target-range",
        "k.mean()": "mean-of-integers",
        "y = x.expand(2, 2)\nz = y * 1\ntorch.ones(2).expand(2, 2).add_(1)": "write-into-expanded",
    }.items():
        failure = capture_program(code, leaves).error
        assert failure.kind != "ExpressionError", code
        found = error_of(failure.message)
        assert (found and found.slug) == slug, (code, failure.message)
