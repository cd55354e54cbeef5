import math

import numpy as np
import pytest

from core.train.entropy import text_entropy


def entropy_of(text):
    characters = sorted(set(text))
    tokens = np.array([characters.index(c) for c in text], dtype=np.uint16)
    return text_entropy(tokens, len(characters))


def test_a_text_without_pattern_costs_ln_v_whatever_is_counted():
    tokens = np.random.default_rng(0).integers(0, 16, 400_000).astype(np.uint16)
    entropy = text_entropy(tokens, 16)
    assert entropy.uniform == pytest.approx(math.log(16))
    assert entropy.unigram == pytest.approx(math.log(16), abs=1e-3)
    assert entropy.bigram == pytest.approx(math.log(16), abs=1e-3)


def test_in_an_alternating_text_the_neighbour_tells_everything():
    entropy = entropy_of("ab" * 500)
    assert entropy.unigram == pytest.approx(math.log(2))
    assert entropy.bigram == pytest.approx(0, abs=1e-5)


def test_a_markov_source_has_the_entropy_rate_of_its_transitions():
    chance = np.random.default_rng(1)
    stays = chance.random(400_000) < 0.9
    tokens = (np.cumsum(~stays) % 2).astype(np.uint16)
    rate = -(0.9 * math.log(0.9) + 0.1 * math.log(0.1))
    assert text_entropy(tokens, 2).bigram == pytest.approx(rate, abs=2e-3)


def test_counting_more_never_costs_more():
    entropy = entropy_of("the quick brown fox jumps over the lazy dog " * 9)
    assert entropy.bigram < entropy.unigram < entropy.uniform
