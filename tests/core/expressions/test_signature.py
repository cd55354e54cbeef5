"""What calls take."""

import inspect

import einops
import pytest
import torch

from core.expressions import ExpressionError
from core.expressions.functions import EINOPS, FUNCTIONS
from core.expressions.methods import METHODS, PROPERTIES, WRITES
from core.expressions.signature import KINDS, table_of
from tests.core.expressions.warm import place, run

X = torch.arange(24.0).view(4, 6)  # what `run` calls x


@pytest.mark.parametrize(
    ("text", "guilty", "word"),
    [
        ("x.view('a')", "'a'", "integers"),
        ("x.t().transpose(0, 1.5)", "1.5", "dim1 must be an integer"),
        ("x.transpose(0)", "transpose(0)", "dim1 is missing"),
        ("x.t(1)", "t(1)", "too many arguments"),
        ("x.sum(0, keepdimz=True)", "keepdimz=True", "no argument keepdimz"),
        ("x.sum(0, axis=1)", "axis=1", "given twice"),
        ("x.add(1, 2)", "add(1, 2)", "too many arguments"),
        ("x.sum(0, dim=1)", "dim=1", "given twice"),
        (
            "x.sum(0, keepdim=1)",
            "keepdim=1",
            "sum(dim=None, keepdim=False, dtype=None): keepdim must be True or",
        ),
        ("x.narrow(0, length=1, start='a')", "start='a'", "an integer"),
        ("rearrange(x, 'a b -> b a', a=1.5)", "a=1.5", "size a must be an integer"),
        ("rearrange(x, 5)", "5", "pattern must be a string"),
        ("rearrange(x, '(tensor a) b -> a b', tensor=2)", "tensor=2", "tensor is given twice"),
        (
            "rearrange(x, '(reduction a) b -> a b', reduction=2)",
            "reduction=2",
            "length of reduction",
        ),
        ("repeat(x, 'a b -> a b reduction', reduction=2)", "reduction=2", "length of reduction"),
        ("x.to(torch.channels_last)", "torch.channels_last", "a dtype"),
        ("x.view(True)", "True", "integers"),
        ("torch.cat(x)", "x", "a list of tensors"),
    ],
)
def test_a_wrong_argument_is_pointed_at_and_the_signature_is_shown(text, guilty, word):
    with pytest.raises(ExpressionError, match=r"\w") as caught:
        run(text)
    assert place(text, caught.value) == guilty
    assert word in caught.value.message


@pytest.mark.parametrize(
    "text",
    ["x.view(6, 4)", "x.view((6, 4))", "x.view([6, 4])", "x.view(shape=(6, 4))", "x.view(6, -1)"],
)
def test_sizes_may_be_given_one_by_one_or_together(text):
    assert run(text).shape == (6, 4)


def test_every_row_names_kinds_that_exist_and_defaults_of_these_kinds():
    for call in [*METHODS.values(), *PROPERTIES.values(), *WRITES.values(), *FUNCTIONS.values()]:
        for parameter in call.parameters:
            assert set(parameter.kinds) <= KINDS.keys(), call.name


def test_methods_and_functions_bear_pytorchs_own_names():
    assert [
        name for name in [*METHODS, *WRITES, *PROPERTIES] if name not in dir(torch.Tensor)
    ] == []
    for name in FUNCTIONS:
        if name.startswith("torch."):
            assert hasattr(torch, name.removeprefix("torch.")), name
        if name.startswith("F."):
            assert hasattr(torch.nn.functional, name.removeprefix("F.")), name


def test_a_line_that_is_no_signature_is_our_own_mistake():
    with pytest.raises(ValueError, match="no signature"):
        table_of({"view": lambda x: x})


@pytest.mark.parametrize(
    "name", ["x", "operation", "pattern", "reduction", "tensor", "self", "sizes"]
)
@pytest.mark.parametrize("operation", ["rearrange", "reduce", "repeat"])
def test_an_axis_may_have_every_name_that_einops_can_be_told(operation, name):
    pattern, more = {
        "rearrange": (f"({name} a) b -> b {name} a", ()),
        "reduce": (f"({name} a) b -> a b", ("sum",)),
        "repeat": (f"a b -> a ({name} b)", ()),
    }[operation]
    text = f"{operation}({', '.join(['x', repr(pattern), *map(repr, more)])}, {name}=2)"
    try:
        wanted = getattr(einops, operation)(X, pattern, *more, **{name: 2})
    except TypeError:
        with pytest.raises(ExpressionError, match=rf"\b{name}\b") as caught:
            run(text)
        assert not caught.value.torch_message
        return
    assert torch.equal(run(text), wanted)


def test_einops_arguments_have_the_names_that_einops_gives_them():
    for call in EINOPS.values():
        own = [*inspect.signature(getattr(einops, call.name)).parameters]
        assert [*(each.name for each in call.parameters), "axes_lengths"] == own
