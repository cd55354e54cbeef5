"""What is refused, with a sentence, without a trace on disk or in memory."""

import psutil
import pytest
import torch

from core.expressions import ExpressionError
from core.expressions.grammar import parse
from core.expressions.interpreter import evaluate
from tests.core.expressions.refused import ESCAPES, REFUSED


def run(text):
    x = torch.arange(24.0).view(4, 6)
    return evaluate(parse(text), {"x": x})


@pytest.fixture(scope="module", autouse=True)
def warm():
    run("torch.einsum('ab,cb->ac', x, x) @ rearrange(x.clone(), 'a b -> a b')")
    with pytest.raises(ExpressionError):
        run("x.view(5)")


@pytest.mark.parametrize("text", REFUSED, ids=lambda text: text[:40])
def test_it_is_refused_with_a_sentence_and_a_place(text):
    with pytest.raises(ExpressionError, match=r"\w") as refused:
        run(text)
    error = refused.value
    lines = text.replace("\r\n", "\n").strip().split("\n")
    assert 1 <= error.line <= len(lines)
    assert 0 <= error.column <= error.end_column <= max(len(lines[error.line - 1]), 1)


def test_there_are_a_hundred_more_than_in_the_list_of_escapes():
    assert len(set(REFUSED)) == len(REFUSED) >= len(ESCAPES) + 100


def test_refusals_write_no_file_and_keep_no_memory(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    before = psutil.Process().memory_info().rss
    for text in REFUSED:
        with pytest.raises(ExpressionError, match=r"\w"):
            run(text)
    assert list(tmp_path.iterdir()) == []
    assert psutil.Process().memory_info().rss - before < 50e6
