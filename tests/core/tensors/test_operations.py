"""Every row of the table of operations: torch does it, and the trace says it."""

import math
import re

import pytest
import torch

from core.expressions.names import MUTATION
from core.tensors.trace import trace
from core.tensors.views import explain_view
from tests.core.tensors.operations import ROWS


def counted(digits, dtype=torch.float32):
    shape = [int(digit) for digit in digits]
    return torch.arange(float(math.prod(shape))).to(dtype).view(shape)


def tensors_of(text):
    """The tensors that a text names: "a234" has shape (2, 3, 4)."""
    made = {
        "t": counted("23").t(),
        "e": counted("31").expand(3, 4),
        "s": torch.zeros(()),
        "b": counted("2345").contiguous(memory_format=torch.channels_last),
    }
    for name in re.findall(r"\b[xyavc]\d+\b", text):
        made[name] = counted(name[1:], torch.complex64 if name[0] == "c" else torch.float32)
    return {name: x for name, x in made.items() if re.search(rf"\b{name}\b", text)}


def told(layout):
    parts = (layout.shape, layout.stride, (layout.offset,))
    return " / ".join(" ".join(map(str, part)) for part in parts)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.text} [{row.output}]")
def test_the_operation_does_what_the_table_says(row):
    run = trace(row.text, tensors_of(row.text), profile=MUTATION)
    if row.kind == "error":
        assert re.search(row.refusal, run.error.torch_message), run.error.torch_message
        return
    assert run.error is None
    step = run.steps[-1]
    made = step.outputs[row.output].layout
    assert (step.kind, told(made)) == (row.kind, row.layout)
    assert row.kind not in {"copy", "new"} or made.storage_bytes == row.num_bytes


@pytest.mark.filterwarnings("ignore")  # torch.meshgrid's, of a default to come
@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.text} [{row.output}]")
def test_python_itself_gives_the_same_layout(row):
    names = {"torch": torch, "F": torch.nn.functional, **tensors_of(row.text)}
    if row.kind == "error":
        with pytest.raises((RuntimeError, ValueError), match=row.refusal):
            eval(row.text, names)  # noqa: S307  our own table
        return
    result = eval(row.text, names)  # noqa: S307  our own table
    x = result if isinstance(result, torch.Tensor) else result[row.output]
    parts = (x.shape, x.stride(), (x.storage_offset(),))
    assert " / ".join(" ".join(map(str, part)) for part in parts) == row.layout


def test_a_view_that_the_table_refuses_is_refused_by_the_rule_too():
    num_refused = 0
    for row in ROWS:
        run = trace(row.text, tensors_of(row.text), profile=MUTATION)
        if row.kind == "error" and run.refused_shape:
            before = run.tensors[-1].layout
            verdict = explain_view(before.shape, before.stride, run.refused_shape)
            assert verdict.kind == "break", row
            num_refused += 1
    assert num_refused == 2


def test_the_table_has_every_row_of_the_list_that_it_was_made_from():
    assert len(ROWS) == 164  # 161, one of them in four spellings
