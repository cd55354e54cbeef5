"""What is refused before memory is allocated, and what a dry run knows."""

import re
from random import Random

import psutil
import pytest
import torch

from core.expressions import MATERIALIZED, ON_META, ExpressionError
from core.expressions.execution import read_by, shadow, with_coordinates
from core.expressions.names import MUTATION
from tests.core.expressions.warm import place, run

NOTHING = torch.empty(10**9, 10**9, dtype=torch.uint8, device="meta")  # 10**18 bytes


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("torch.zeros(1000000000)", "3.73 GiB"),
        ("x.expand(1000000000, 4, 6)", "24,000,000,000 elements"),
        ("x.repeat(10000, 10000)", "GiB up to this step"),
        ("torch.ones(262144).view(512, 512).matmul(torch.ones(512, 512))", "FLOPs"),
        ("torch.ones(512, 512)[torch.ones(512) > 0, torch.zeros((20000, 1)).long()]", "MiB"),
        ("x[[True, True, True, True], torch.zeros((99999, 1)).long()]", "elements"),
        ("x.view(2, 2, 6)[torch.tensor(1), torch.zeros((99999, 1)).long()]", "elements"),
        ("x.masked_select(torch.ones(65536, 1, 1) > 0)", "1,572,864 elements"),
        ("x.view(4, 6, 1, 1, 1, 1, 1, 1, 1)", "9 dimensions"),
        ("x[None, None, None, None, None, None, None]", "9 dimensions"),
        ("x.nonzero()[None, None, None, None, None, None, None]", "9 dimensions"),
        ("torch.zeros(262144).unbind()", "262,144 tensors"),
        ("torch.zeros(262144).split(1)", "262,144 tensors"),
        ("torch.zeros(100).chunk(100)", "100 tensors"),
        ("x.tensor_split(1000000000000)", "1,000,000,000,000 tensors"),
        ("torch.einsum('ab,cd,ef->abcdef', x, x, x.repeat(3, 30))", "elements"),
    ],
)
def test_a_request_that_is_too_large_is_refused_before_it_is_made(text, word):
    run("x + 1")  # what torch loads once is no part of the text
    before = psutil.Process().memory_info().rss
    with pytest.raises(ExpressionError, match=word):
        run(text)
    assert psutil.Process().memory_info().rss - before < 20e6


def test_no_more_elements_are_written_than_may_be_read():
    x, text = torch.zeros(512, 512), "x[x[0] == 0, torch.zeros((20000, 1)).long()] = 1.0"
    with pytest.raises(ExpressionError, match=r"would allocate|elements"):
        run(text, profile=MUTATION, x=x)
    assert x.sum() == 0


def test_bytes_of_all_steps_count_hidden_copies_too():
    limit = MATERIALIZED.num_bytes // (4 * 262_144)
    lines = [f"y{number} = torch.zeros(262144)" for number in range(limit)]
    assert run("\n".join(lines)).numel() == 262_144
    with pytest.raises(ExpressionError, match="would allocate"):
        run("\n".join([*lines, "torch.zeros(262144)"]))


def test_the_last_of_too_large_steps_is_pointed_at():
    text = "y = x.t()\nz = y.repeat(9999, 9999)"
    with pytest.raises(ExpressionError, match="GiB") as caught:
        run(text)
    assert place(text, caught.value) == "repeat(9999, 9999)"


@pytest.mark.parametrize(
    ("text", "shape"),
    [
        ("x.t()", (10**9, 10**9)),
        ("x[:, 0]", (10**9,)),
        ("x[5].view(10, -1)", (10, 10**8)),
        ("x.expand(3, -1, -1).sum((1, 2))", (3,)),
        ("x[:2].t().reshape(-1)", (2 * 10**9,)),
        ("torch.zeros(1000000000, 1000)", (10**9, 1000)),
        ("torch.rand(1000000000, 4)", (10**9, 4)),
        ("x[torch.tensor([0, 1])]", (2, 10**9)),
    ],
)
def test_ten_to_the_18_bytes_without_data_cost_nothing(text, shape):
    result = run(text, ON_META, x=NOTHING)
    assert result.is_meta
    assert result.shape == shape


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("x[x > 0]", "depends on the values"),
        ("x.nonzero()", "depends on the values"),
        ("x.unbind(0)", "1,000,000,000 tensors"),
        ("x.split(1)", "1,000,000,000 tensors"),
        ("x.tensor_split(1000000000)", "1,000,000,000 tensors"),
        ("x.repeat(10, 1)", "is refused"),
    ],
)
def test_what_cannot_be_known_or_counted_without_data_is_said(text, word):
    with pytest.raises(ExpressionError, match=word):
        run(text, ON_META, x=NOTHING)


@pytest.mark.parametrize(
    "x",
    [
        torch.zeros(()),
        torch.zeros(0, 3),
        torch.zeros(3, 0).t(),
        torch.zeros(9).as_strided((1, 3), (99, 2), 1),
        torch.zeros(3, 1).expand(3, 4),
        torch.zeros(2, 3, dtype=torch.float16)[:, 1:],
    ],
    ids=["scalar", "empty", "empty, transposed", "odd stride", "expanded", "sliced"],
)
def test_a_shadow_has_everything_but_data(x):
    (made,) = shadow([x])
    assert made.is_meta
    told = (made.shape, made.stride(), made.storage_offset(), made.dtype)
    assert told == (x.shape, x.stride(), x.storage_offset(), x.dtype)
    assert made.untyped_storage().nbytes() == x.untyped_storage().nbytes()


@pytest.mark.parametrize(
    ("shape", "texts"),
    [
        (
            (),
            ["x.view(1, 1)", "x.t()", "x[None]", "x[...]", "x.expand(3)", "x.sum()", "x.flatten()"],
        ),
        ((0, 3), ["x.t()", "x.view(3, 0)", "x[5:]", "x.sum(0)", "x.reshape(0)", "x.repeat(2, 2)"]),
        ((1, 3), ["x.t()", "x.expand(4, 3)", "x.t().view(3)", "x.squeeze()", "x.unbind()"]),
    ],
)
def test_odd_shapes_are_tensors_like_others(shape, texts):
    x = torch.zeros(shape)
    for text in texts:
        wanted = eval(text, {"x": x})  # noqa: S307  the oracle
        got = run(text, x=x)
        pairs = zip(got, wanted, strict=True) if isinstance(got, tuple) else [(got, wanted)]
        assert all(a.stride() == b.stride() and a.shape == b.shape for a, b in pairs), text


@pytest.mark.parametrize(
    ("shape", "text", "word"),
    [
        ((), "x[0]", "0-dim"),
        ((), "x.select(0, 0)", "0-dim|scalar"),
        ((0, 3), "x[0]", "out of bounds|out of range"),
        ((0, 3), "x.view(-1, 0)", "ambiguous"),
        ((0, 3), "x.amax(0)", "reduc"),
        ((1, 3), "x.expand(2, 4)", "existing size"),
        ((4, 6), "rearrange(x, 'a (b c) -> a b c', b=4)", "divide"),
        ((4, 6), "rearrange(x, 'a b -> a c')", "Identifiers only on one side"),
        ((4, 6), "rearrange(x, 'a a -> a')", "duplicate"),
        ((4, 6), "reduce(x, 'a b -> a', 'median')", "Unknown reduction"),
    ],
)
def test_torch_and_einops_say_why_not(shape, text, word):
    with pytest.raises(ExpressionError, match="is refused") as caught:
        run(text, x=torch.zeros(shape))
    assert re.search(word, caught.value.torch_message), caught.value


INDICES = [
    torch.tensor([True, False, True, True]),
    (slice(None), torch.tensor([False] * 5 + [True])),
    torch.arange(24).view(4, 6) > 7,
    (None, torch.arange(24).view(4, 6) > 99, None),
    [True, False, False, True],
    ([True, True, False, False], torch.tensor([[0], [3]])),
    torch.tensor(True),
    (torch.tensor(False), 0),
    (torch.tensor(2), torch.tensor([1, 2])),
    (..., torch.tensor(-1)),
]


@pytest.mark.parametrize("index", INDICES, ids=str)
def test_coordinates_take_what_the_mask_takes(index):
    x = torch.arange(24.0).view(4, 6)
    assert torch.equal(x[with_coordinates(index)], x[index])
    assert read_by(index)


def test_random_masks_and_integers_beside_them_take_the_same():
    rng = Random(5)  # noqa: S311  a seeded test
    x = torch.arange(120.0).view(2, 3, 4, 5)
    for _ in range(300):
        dim = rng.randrange(4)
        mask = torch.tensor([rng.random() < 0.5 for _ in range(x.shape[dim])])
        whole = [slice(None), 0, torch.tensor([[0], [1]]), torch.tensor(1)]
        index = tuple(mask if each == dim else rng.choice(whole) for each in range(4))
        assert torch.equal(x[with_coordinates(index)], x[index]), index


@pytest.mark.parametrize("index", [0, slice(None), None, ..., [0, 1], torch.tensor([0, 1]), (0, 1)])
def test_other_indices_are_left_as_they_are(index):
    assert read_by(index) == []
    assert with_coordinates(index) == (index if type(index) is tuple else (index,))
