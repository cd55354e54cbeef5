from pathlib import Path

import pytest

import core.models.gpt
from core.models.gpt import Block
from core.models.stages import source_line

LINES = Path(core.models.gpt.__file__).read_text(encoding="utf-8").splitlines()


def test_a_source_line_is_where_it_says():
    found = source_line(Block.forward, "self.norm_2(x)")
    assert found.file == "core/models/gpt.py"
    assert found.text == LINES[found.line - 1].strip()
    assert "self.norm_2(x)" in found.text


@pytest.mark.parametrize(("part", "num"), [("no such thing", 0), ("self.norm_", 2)])
def test_a_line_that_is_not_there_or_not_alone_is_refused(part, num):
    with pytest.raises(ValueError, match=f"{num} lines of Block.forward hold"):
        source_line(Block.forward, part)
