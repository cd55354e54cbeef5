"""Texts taken apart: each in a time in proportion to its length, and nothing after its end."""

import tomllib

import pytest

from core.budget.diagnosis.brought.read import read_brought
from core.budget.diagnosis.brought.tensors import read_state_dict
from core.budget.diagnosis.brought.texts import _calls, _command, _toml

MUCH = 1 << 20


@pytest.mark.parametrize(
    "unit",
    ["\n", "1", "(", "[", " ", "\t", "a.", "\\\"", "LLM(# ", "LLM(", "LLM('", "LLM(a=1)\n", "A=b "],
)  # fmt: skip
@pytest.mark.parametrize("end", ["", "\n", "\\\n"])
def test_a_long_text_of_one_mark_is_read_to_its_end(unit, end):
    """A search that starts over at each mark would take hours of a megabyte."""
    text = "x\n" + unit * (MUCH // len(unit)) + end
    assert _calls("LLM(" + text).keys() <= {"a", "served_by_vllm"}
    assert _calls(text).keys() <= {"a", "served_by_vllm"}
    assert _command(text) == {}
    assert read_state_dict(text) is None


def test_the_slowest_texts_of_the_longest_recipe_are_read_to_their_end():
    assert _toml("a." * 32_000 + "a = 1") == {}
    assert _toml("a.b.c = 1") == tomllib.loads("a.b.c = 1")
    many = read_brought(b"vllm serve m --a " + b"b " * 30_000)
    assert many.ignored == ("a",)


@pytest.mark.parametrize(
    "command",
    [
        "vllm serve m --tensor-parallel-size 2 2>&1 | tee log.txt",
        "vllm serve m -tp=2 > log.txt",
        "pip install vllm && vllm serve m -tp 2; echo 3",
        "nohup vllm serve m --tensor-parallel-size=2 & sleep 5",
        "vllm serve m -d x --tensor-parallel-size 2 -v 3",
        "It's run so:\n```bash\nvllm serve m \\\n  -tp 2\n```\nThen it answers.",
        "vllm serve m --tensor-parallel-size 2\n\nThen it's there.",
        "vllm serve m -tp 2  # it's 2 | 3",
    ],
)
def test_a_command_ends_where_the_shell_ends_it(command):
    assert _command(command) == {"served_by_vllm": True, "model": "m", "tensor_parallel_size": "2"}


def test_what_is_quoted_ends_no_command():
    found = _command("vllm serve m --chat-template 'a | b; c > d' -dp 2 --port 8000")
    assert found["chat_template"] == "a | b; c > d"
    assert (found["data_parallel_size"], found["port"]) == ("2", "8000")
