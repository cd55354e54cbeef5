from core.budget.catalogue.models import MODELS
from core.budget.compute.conventions import mfu_conventions
from core.budget.recipe import TrainingRecipe
from core.figures.budget.flops_and_time.mfu_bars import mfu_alt, mfu_bars, mfu_table

RECIPE = TrainingRecipe(seq_len=8192)


def shares(speed):
    return mfu_conventions(MODELS["llama-3.1-8b"], RECIPE, speed, 989e12)


def test_bars_are_shares_of_the_peak_and_what_cannot_be_is_crossed():
    for speed in (5762, 50_000):
        found = shares(speed)
        figure = mfu_bars(found, "light")
        assert list(figure.data[0].x) == [share.amount for share in found]
        crossed = [note.text.endswith("✗") for note in figure.layout.annotations]
        assert any(crossed) == (speed == 50_000)
        assert figure.layout.xaxis.range[1] > max(share.amount for share in found)


def test_words_and_table_name_every_convention():
    assert "full attention 33.7 %" in mfu_alt(shares(5762))
    table = mfu_table(shares(5762))
    assert table["convention"][0] == "6ND"
    assert {len(column) for column in table.values()} == {5}
