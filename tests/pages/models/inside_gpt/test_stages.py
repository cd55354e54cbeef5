import pytest

from core.figures.picture import Look
from core.models import GPTShape
from core.models.gpt import GPT
from core.models.walk import walk
from pages.models.inside_gpt.stages import MOST_COLUMNS, Seen, shown_columns, stage_picture
from tests.core.models.small_models import small_model, some_ids

PIECES = tuple("abcdefg")
SEEN = Seen(title="A stage", head=2, pieces=PIECES, vocabulary=[f"<{n}>" for n in range(31)])


@pytest.fixture(scope="module")
def stages():
    return {stage.name: stage for stage in walk(small_model("gpt"), some_ids(7))}


def test_every_stage_is_drawn_with_its_own_numbers(stages):
    for stage in stages.values():
        picture = stage_picture(stage, SEEN, Look())
        for trace, (name, tensor) in zip(picture.figure.data, stage.outputs.items(), strict=True):
            matrix = tensor[0, 2] if "H" in stage.axes[name] else tensor[0]
            shown = [[value if value is not None else float("-inf") for value in row]
                     for row in trace.z]  # fmt: skip
            for row, expected in zip(shown, matrix.tolist(), strict=True):
                assert row == pytest.approx(expected, rel=1e-3), stage.name
        assert stage.name in picture.alt
        assert len({len(column) for column in picture.table.values()}) == 1


def test_columns_bear_the_names_of_their_axis(stages):
    def names(stage):
        return [
            each[1]
            for each in stage_picture(stages[stage], SEEN, Look()).figure.data[0].customdata[0]
        ]

    assert names("blocks.0.attention.softmax") == list(PIECES)
    assert names("logits")[3] == "<3>"
    assert names("blocks.0.norm_1")[5] == "channel 5"


def test_a_wide_tensor_is_drawn_in_part_and_says_how_wide_it_is():
    shape = GPTShape(num_layers=1, hidden_dim=128, num_heads=4, vocab_size=31, seq_len=16)
    (up,) = [each for each in walk(GPT(shape), [1, 2]) if each.name.endswith("up")]
    assert shown_columns(up) == (MOST_COLUMNS, 512)
    seen = Seen(title="up", head=0, pieces="ab", vocabulary=())
    picture = stage_picture(up, seen, Look())
    assert len(picture.figure.data[0].z[0]) == MOST_COLUMNS
    assert list(picture.table) == ["token", "up: smallest", "up: mean", "up: largest"]
