"""What the moving bytes send to the browser: rules of turns, and every word."""

import re
from pathlib import Path

import pytest

from core.budget.item import Formula, item
from core.budget.parallel.collectives import Collective
from pages.components.moving_bytes import moving_bytes
from pages.components.moving_bytes.moving_bytes import WORDS, Device, Texts, moving_rows
from pages.components.part import translated
from tests.core.budget.parallel.held import PATTERNS

FOLDER = Path(moving_bytes.__file__).parent
SOURCE = "".join(path.read_text(encoding="utf-8") for path in sorted(FOLDER.glob("*.js")))
TEXTS = Texts(
    message="1 B", phases=[], sentences=[], legend=[("weights", "weights")], capacity="full",
    links=("inside", "between"),
)  # fmt: skip


def collective(pattern, num_ranks, num_runs=1):
    line = item("sent", Formula("num_bytes"), {"num_bytes": 1}, unit="bytes", source="made up",
                kind="exact")  # fmt: skip
    return Collective(
        axis="pipeline" if pattern in ("forward", "backward") else "data", item=line,
        pattern=pattern, carried="weights", num_ranks=num_ranks, num_bytes=1, times=1, stage=0,
        num_runs=num_runs,
    )  # fmt: skip


def rows_of(made):
    device = Device(label="0", size="1 B", said="", node=0, parts=[("weights", 0.5)])
    texts = Texts(
        message="1 B", phases=[""] * len(made.turns), sentences=[], legend=[], capacity="",
        links=("", ""),
    )  # fmt: skip
    return moving_rows(made, [device] * made.num_ranks, texts, 0.75)


@pytest.mark.parametrize("pattern", PATTERNS)
def test_a_collective_starts_as_python_says(pattern):
    rows = rows_of(collective(pattern, 4))
    start = {"all-reduce": "all", "reduce-scatter": "all", "forward": 0, "backward": 3}
    assert rows["start"] == start.get(pattern, "own")
    assert rows["num_chunks"] == (1 if pattern in ("forward", "backward") else 4)
    assert rows["whole"] == (4 if rows["start"] == "all" else 1)


def test_a_phase_is_needed_for_each_turn():
    made = collective("all-reduce", 3)
    with pytest.raises(ValueError, match="zip"):
        moving_rows(made, [], TEXTS, 1.0)
    assert len(rows_of(made)["turns"]) == 4


def test_every_word_that_the_browser_asks_for_is_there():
    words = translated(WORDS)
    asked = set(re.findall(r"words\.(\w+)", SOURCE))
    acts = set(
        re.findall(r"^  (\w+)[,:]", SOURCE.split("const ACTS")[1].split("};")[0], re.MULTILINE)
    )
    needed = asked | acts | {f"{name}_label" for name in acts}
    assert acts == {"back", "play", "next", "speed", "svg", "png"}
    assert needed == set(words)
