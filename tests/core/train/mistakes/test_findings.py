"""Each mistake is found by its own finding, in a real run; a healthy one has none."""

from dataclasses import replace

import pytest
import torch

from core.train.config import TrainConfig
from core.train.mistakes.findings import find, outcome_of
from core.train.mistakes.pair import pair_of, recorded_pairs, run_pair
from core.train.mistakes.switches import OUTCOMES, SIDES, SWITCHES, config_of
from core.train.mistakes.trial import run_trial
from core.train.text.dataset import build_dataset

SEED = 11
# Steps after which each is found: of fewer the suite has more.
STEPS = {
    "no_zero_grad": 50, "no_eval": 3, "rate_too_high": 30, "no_warmup": 30, "normal_init": 3,
    "fp16_unscaled": 20, "fp16_eps": 4, "unshifted_target": 60, "leaky_mask": 60, "unshuffled": 4,
    "bf16_updates": 6, "undivided": 3,
}  # fmt: skip


@pytest.fixture(scope="module")
def dataset():
    return build_dataset(TrainConfig())


@pytest.fixture(autouse=True)
def one_thread():
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.mark.slow
@pytest.mark.parametrize("key", list(SWITCHES))
def test_a_mistake_is_found_by_its_finding_and_its_healthy_twin_has_none(key, dataset):
    switch = SWITCHES[key]
    few = {"num_steps": STEPS[key], "eval_batches": 2}
    found = {
        side: find(run_trial(replace(config_of(switch, side, SEED), **few), dataset))
        for side in SIDES
    }
    assert found["healthy"] == ()
    (finding,) = found["broken"]
    assert finding.name == key
    assert 1 <= finding.step <= STEPS[key]
    assert finding.headline
    assert "{" not in finding.headline + finding.evidence


def test_the_recording_shows_each_finding_and_the_outcome_that_the_page_calls_right():
    recorded = recorded_pairs()
    assert list(recorded.pairs) == list(SWITCHES)
    for key, pair in recorded.pairs.items():
        assert [each.name for each in find(pair["broken"])] == [key], key
        assert find(pair["healthy"]) == (), key
        assert outcome_of(pair["healthy"], pair["broken"]) == SWITCHES[key].outcome, key
        assert pair["healthy"].losses != pair["broken"].losses or key == "no_eval"


def test_both_sides_read_the_same_text_in_the_same_order_unless_that_is_the_mistake():
    for key, pair in recorded_pairs().pairs.items():
        count = len(pair["broken"].starts)
        same = pair["healthy"].starts[:count] == pair["broken"].starts
        assert same == (key != "unshuffled"), key


def test_each_switch_offers_three_or_four_outcomes_of_which_one_is_right():
    for key, switch in SWITCHES.items():
        assert 3 <= len({switch.outcome, *switch.others}) <= 4, key
        assert {switch.outcome, *switch.others} <= set(OUTCOMES), key
        assert switch.outcome not in switch.others, key
        assert switch.wrong != switch.right, key


def test_a_pair_comes_from_a_process_of_its_own_and_says_how_far_it_is():
    told = []
    pair = run_pair("fp16_eps", SEED, lambda side, done: told.append((side, done)))
    assert [each.name for each in find(pair["broken"])] == ["fp16_eps"]
    assert ("healthy", 1.0) in told
    assert pair["broken"].bad_format == "float16"


@pytest.mark.parametrize(
    ("key", "seed", "said"),
    [("typo", 1, "There is no mistake 'typo'"), ("no_eval", 10_000, "choose a number from 0 to")],
)
def test_what_cannot_be_run_is_a_sentence(key, seed, said):
    with pytest.raises(ValueError, match=said):
        run_pair(key, seed, lambda _side, _done: None)


def test_a_pair_survives_being_written():
    pair = recorded_pairs().pairs["no_warmup"]
    plain = {
        side: {name: getattr(rows, name) for name in rows.__slots__} for side, rows in pair.items()
    }
    plain = {
        side: rows | {"probes": [{n: getattr(p, n) for n in p.__slots__} for p in rows["probes"]]}
        for side, rows in plain.items()
    }
    assert pair_of(plain) == pair
