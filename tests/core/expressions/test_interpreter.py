"""What texts come to: the same as in Python, and a sentence where there is nothing."""

import einops
import pytest
import torch
from torch.nn import functional as F  # noqa: N812

from core.expressions import ExpressionError, Limits
from core.expressions.grammar import parse
from core.expressions.interpreter import evaluate
from core.expressions.names import MUTATION
from tests.core.expressions.warm import place, run

X = torch.arange(24.0).view(4, 6)


@pytest.mark.parametrize(
    "text",
    [
        "x.t()",
        "x.T",
        "x[1:3, ::2]",
        "x[..., None, -1]",
        "x[[0, 1]]",
        "x[x > 3]",
        "x[True]",
        "x[torch.tensor([True, False, True, True]), 0]",
        "x[:, torch.tensor(1)]",
        "x[()]",
        "-x + 2 * x - x / 3 // 1",
        "(x % 5) ** 2",
        "x @ x.t()",
        "(x > 3) & ~(x == 7) | (x <= 1)",
        "x.view(2, 12 // 3, -1).sum((0, 1))",
        "torch.cat([x, x[:1]], dim=0)",
        "torch.arange(4)",
        "torch.arange(1, 10, 2, dtype=torch.float16)",
        "torch.full((2, 2), 3)",
        "torch.full((2,), 1 - 2 * torch.inf)",
        "torch.where(x > 3, x, -torch.inf)",
        "torch.tensor([[1, 2], [3, 4]])",
        "torch.nn.functional.softmax(x, -1)",
        "F.softmax(x, dim=0)",
        "einops.rearrange(x, '(a b) c -> b (a c)', a=2)",
        "einops.einsum(x, x, 'a b, c b -> a c')",
        "x.chunk(3, -1)[1]",
        "x.split([1, 3])[-1]",
        "x.view(x.shape[1], x.size(0))",
        "x.as_strided((3, 3), x.stride())",
        "x.masked_fill(x > 3, 0.5)",
        "x.sort(1)[0]",
    ],
)
def test_an_expression_gives_what_python_gives(text):
    names = {"torch": torch, "F": F, "einops": einops, "x": X}
    wanted = eval(text, names)  # noqa: S307  the oracle; our own texts
    got = run(text)
    assert torch.equal(got, wanted)
    assert (got.stride(), got.storage_offset()) == (wanted.stride(), wanted.storage_offset())


@pytest.mark.parametrize(
    ("text", "guilty", "word"),
    [
        ("x.t().viwe(6)", "viwe", "Did you mean view"),
        ("x.t().grad", "grad", "not supported"),
        ("y", "y", "not defined. Defined: x"),
        ("torch.tensor([0.0, inf])", "inf", "Write torch.inf"),
        ("torch.matmull(x, x)", "torch.matmull", "Did you mean torch.matmul"),
        ("torch.expand(x, 4)", "torch.expand", "Write x.expand"),
        ("x.squeeze_()", "squeeze_", "Write x = x.squeeze"),
        ("x.sqrt_()", "sqrt_", "in place"),
        ("x.view(*3)", "*3", "unpacked with *, not an integer"),
        ("x.shape + [1]", "x.shape + [1]", "to a list of 2 and a list of 1"),
        ("x.shape < None", "x.shape < None", "to a list of 2 and None"),
        ("(x, 1) == (x, 1)", "(x, 1) == (x, 1)", "to a list of 2 and a list of 2"),
        ("x + torch", "torch", "is not a value"),
        ("x.t", "t", "call it: t()"),
        ("arange(4)", "arange", "Write torch.arange"),
        ("torch.float99", "torch.float99", "torch.float99"),
        ("torch.nope(x)", "torch.nope", "not supported"),
        ("x()", "x", "not supported"),
        ("x.t()()", "x.t()", "cannot be called"),
        ("(1, 2).t()", "t", "Only a tensor has t; this is a list"),
        ("x.shape.t()", "t", "Only a tensor"),
        ("x[1.5]", "1.5", "index cannot be a number"),
        ("x['a']", "'a'", "index cannot be a string"),
        ("x[x]", "x", "index cannot be a tensor"),
        ("x['a':]", "'a'", "slice takes integers"),
        ("x.shape[9]", "x.shape[9]", "9 is out of range: the list has 2"),
        ("x.shape['a']", "'a'", "index cannot be a string"),
        ("x + 'a'", "x + 'a'", "to a tensor and a string"),
        ("'a' + 'b'", "'a' + 'b'", "to a string and a string"),
        ("~1", "~1", "~ cannot be applied to an integer"),
        ("x.view(1 // 0)", "1 // 0", "divides by zero"),
        ("x.view(2 & 3)", "2 & 3", "Between numbers, only"),
        ("a, b = x", "a", "2 names on the left, but a tensor"),
        ("a, b = x.chunk(4)", "a", "but a list of 4 on the right"),
        ("F = x", "F", "choose another name"),
        ("rearrange = x", "rearrange", "choose another name"),
        ("x[0] = 1", "x[0]", "cannot be assigned"),
        ("x.shape", "x.shape", "must give a tensor"),
        ("y = [x, x]", "y = [x, x]", "a list of 2"),
    ],
)
def test_what_means_nothing_is_pointed_at_with_a_sentence(text, guilty, word):
    with pytest.raises(ExpressionError, match=r"\w") as caught:
        run(text)
    assert place(text, caught.value) == guilty
    assert word in caught.value.message


@pytest.mark.parametrize(
    ("text", "guilty"),
    [
        ("x.t().view(24).t()", "view(24)"),
        ("(x + x)[9]", "[9]"),
        ("x.t()[0][0, 0]", "[0, 0]"),
        ("x + x.t()", "x + x.t()"),
        ("y = x\nz = y @ x", "y @ x"),
        ("torch.cat([x, x.t()])", "cat([x, x.t()])"),
        ("rearrange(x, 'a b c -> a b c')", "rearrange(x, 'a b c -> a b c')"),
        ("x.view(\n  5\n)", "view"),
    ],
)
def test_what_torch_refuses_is_told_in_its_words_at_the_last_link_of_the_chain(text, guilty):
    with pytest.raises(ExpressionError, match="is refused") as caught:
        run(text)
    told = place(text, caught.value)
    assert told in {guilty, f"torch.{guilty}"}
    with pytest.raises((RuntimeError, IndexError, einops.EinopsError)) as own:
        eval(text.split("= ")[-1], {"torch": torch, "x": X, "y": X, **vars(einops)})  # noqa: S307
    assert caught.value.torch_message == str(own.value)


def test_names_unpacked_and_assigned_are_known_afterwards():
    ended = evaluate(parse("a, b = x.chunk(2)\nc = 3\nb.view(c, -1)"), {"x": X})
    assert ended.variables.keys() == {"x", "a", "b", "c"}
    assert torch.equal(ended.result, X[2:].reshape(3, -1))


def test_a_program_that_writes_changes_its_tensor_and_what_shares_its_storage():
    x = X.clone()
    assert run("y = x[1]\ny[x[0] > 3] = -1.0\ny.mul_(2)", profile=MUTATION, x=x)[-1] == -2
    assert x[1].tolist() == [12, 14, 16, 18, -2, -2]


def test_the_same_text_gives_the_same_random_numbers():
    assert torch.equal(run("torch.randn(3, 3)"), run("torch.randn(3, 3)"))


def test_steps_and_seconds_end_a_program():
    few = Limits(num_elements=99, num_bytes=10**6, flops=10**6, num_steps=3)
    with pytest.raises(ExpressionError, match="More than 3 steps"):
        run("x.t().t().t().t()", few)
    late = Limits(num_elements=99, num_bytes=10**6, flops=10**6, seconds=-1.0)
    with pytest.raises(ExpressionError, match="longer than"):
        run("x.t()", late)
