"""Break it: predicted first, then run in a separate process; what was found, what mends it."""

import pytest

from core.train.mistakes.findings import find
from core.train.mistakes.pair import recorded_pairs
from core.train.mistakes.switches import OUTCOMES, SWITCHES
from pages.train.break_it import curves
from tests.app.shown import alt, captions, commit, headline, page_links

PAGE = "train/break_it"


@pytest.fixture(autouse=True)
def nothing_kept():
    curves.kept.clear()
    yield
    curves.kept.clear()


def codes(app):
    return [each.value for each in app.code]


def test_nothing_of_the_answer_is_there_before_the_prediction(open_page, run_code):
    app = open_page(PAGE, break_switch="normal_init")
    assert "Healthy, the loss goes from 4.6" in headline(app)
    assert "with the mistake" not in alt(app)
    assert "27.77" not in str([*captions(app), headline(app), alt(app)])
    assert codes(app) == []
    assert run_code(app).startswith("100 steps, loss 4.62 to 3.")


def test_a_prediction_runs_both_sides_and_shows_this_runs_own_numbers(open_page, monkeypatch):
    asked = []

    def run(key, seed, tell):
        asked.append((key, seed))
        tell("broken", 0.5)
        return recorded_pairs().pairs[key]

    monkeypatch.setattr(curves, "run_pair", run)
    app = open_page(PAGE, break_switch="normal_init", break_seed="7")
    assert "Not run yet with seed 7" in headline(app)
    app = commit(app, "break_answer_normal_init", 1)
    assert asked == [("normal_init", 7)]
    assert headline(app).startswith("The first loss is 27.77")
    assert "with the mistake goes from 27.77" in alt(app)
    assert not any("Recorded on" in each for each in captions(app))
    assert codes(app)[:2] == [SWITCHES["normal_init"].wrong.strip(),
                              SWITCHES["normal_init"].right.strip()]  # fmt: skip
    app.run()
    assert asked == [("normal_init", 7)]


def test_a_run_that_fails_is_a_sentence_and_can_be_asked_for_again(open_page, monkeypatch):
    def fail(_key, _seed, _tell):
        raise ValueError("The process had no memory.")

    monkeypatch.setattr(curves, "run_pair", fail)
    app = open_page(PAGE, break_switch="no_eval", break_seed="3")
    app = commit(app, "break_answer_no_eval", 0)
    assert not app.exception
    assert any("had no memory" in each.value for each in app.markdown)
    monkeypatch.setattr(curves, "run_pair", lambda key, _s, _t: recorded_pairs().pairs[key])
    app.run()
    app.button(key="break_run").click().run()
    assert "two validation losses" in headline(app)


@pytest.mark.slow
@pytest.mark.parametrize("lang", ["en", "zh"])
def test_each_mistake_shows_what_its_finding_found(open_page, lang):
    for key in SWITCHES:
        app = open_page(PAGE, break_switch=key, break_shown="true", lang=lang)
        (finding,) = find(recorded_pairs().pairs[key]["broken"])
        numbers = [each for each in finding.numbers.values() if each in finding.headline]
        assert all(each.replace(" %", "%") in headline(app).replace(" %", "%") for each in numbers)
        assert any(finding.numbers["step"] in each for each in captions(app)), key
        assert len(codes(app)) == 2


@pytest.mark.slow
def test_each_question_offers_its_outcomes_and_explains_the_wrong_ones(open_page):
    for key, switch in SWITCHES.items():
        app = open_page(PAGE, break_switch=key, break_seed="5", lock="1")
        (radio,) = app.radio
        assert set(radio.options) == {OUTCOMES[each] for each in (switch.outcome, *switch.others)}
        wrong = next(iter(switch.others))
        place = radio.options.index(OUTCOMES[wrong])
        app = commit(app, f"break_answer_{key}", place)
        assert any(switch.others[wrong] in each.value for each in app.markdown), key


def test_cards_of_spot_the_bug_are_linked(open_page):
    links = [str(each) for each in page_links(open_page(PAGE))]
    assert {"leaf-in-no-grad", "mixed-devices", "saving-on-every-rank"} < set(curves.CARDS)
    for key in curves.CARDS:
        assert sum(f"bug_card={key}" in each for each in links) == 1, key
