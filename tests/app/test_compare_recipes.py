"""Compare recipes through the frame: what is recorded, what is refused, a race that is watched."""

import pytest

from core.train.recipes.choices import PRESETS, Comparison
from core.train.recipes.results import Result
from pages.train.compare_recipes import running

KEY = "train/compare_recipes"


@pytest.fixture(autouse=True)
def no_races():
    running.races.clear()
    yield
    running.races.clear()


@pytest.fixture
def raced(monkeypatch):
    """Let a race give one turn of each recipe at once, without a process."""

    def run(comparison):
        results = [Result() for _value in comparison.values]
        for place, result in enumerate(results):
            result.memory = {"weights": 10, "activations": 20, "peak": 40 + place}
            line = {"losses": [3.0] * 20, "seconds": 2.0, "tensor": ""}
            result.add({**line, "validation": 2.0 + place, "lost": 0.1 * place})
            yield results

    monkeypatch.setattr(running, "run_race", run)
    monkeypatch.setattr(running, "refuse_if_busy", lambda *_device, **_by: None)


@pytest.mark.parametrize("preset", PRESETS)
def test_every_preset_opens_with_its_recorded_curves_and_bytes(open_page, preset):
    app = open_page(KEY, recipes_preset=preset)
    assert not app.exception
    curves, held = app.get("plotly_chart")
    assert "Validation loss of recipes" in curves.proto.alt
    assert "bytes" in held.proto.alt
    assert any("Recorded on another machine" in each.value for each in app.caption)


def test_a_race_shows_what_it_found_and_the_numbers_are_its_own(open_page, raced):
    app = open_page(KEY, recipes_preset="own", recipes_axis="schedule")
    assert "not trained on this machine yet" in app.session_state["headline"]
    app.button(key="recipes_train").click().run()
    running.races().pool.finish("wait", lambda: None)
    app.run()
    assert (
        "loss 1.000 higher, 1 B more at the peak, 1.00 × the time"
        in (app.session_state["headline"])
    )


def test_one_recipe_is_refused_in_a_sentence(open_page):
    app = open_page(KEY, recipes_preset="own", recipes_of_clipping="off")
    assert [each.value for each in app.error] == [
        "1 recipes are chosen; choose two to four, each once."
    ]


def test_a_reader_has_one_comparison_under_way_and_the_same_press_joins_it():
    races = running.Races()
    asked, other = (
        Comparison(axis="clipping", values=values) for values in (("1", "off"), ("1", "0.1"))
    )
    races.going[asked] = running.Race(asked_by="ann")
    races.start(asked, "bob")
    with pytest.raises(ValueError, match="under way"):
        races.start(other, "ann")
    races.pool.close()


def test_a_race_that_is_stopped_before_its_turn_leaves_nothing(raced):
    races = running.Races()
    asked = Comparison(axis="clipping", values=("1", "off"))
    race = running.Race(asked_by="ann", is_stopped=True)
    races.going[asked] = race
    races._train(asked, race)
    assert not races.going
    assert not races.kept
    races.pool.close()


def test_the_code_of_mixed_precision_runs_in_plain_torch(open_page, run_code):
    printed = run_code(open_page(KEY, recipes_preset="half"))
    assert "bf16: torch.float32 torch.float32" in printed
    kept = [int(line.split()[-2].replace(",", "")) for line in printed.splitlines()[-2:]]
    assert kept[1] < kept[0]


def test_at_70b_every_preset_is_computed_and_its_code_prints_the_same(open_page, run_code):
    app = open_page(KEY, recipes_tab="scale", recipes_size="70B", recipes_preset="half")
    assert "46.7 GiB" in app.session_state["headline"]
    assert "46.7 GiB, 24.20 s" in run_code(app)


def test_the_question_is_answered_by_what_was_recorded(open_page):
    for preset in PRESETS:
        app = open_page(KEY, recipes_preset=preset, recipes_predict="true")
        assert not app.exception, preset
        assert (
            app.session_state["headline"].startswith("“")
            or "Validation" in (app.session_state["headline"])
        )
