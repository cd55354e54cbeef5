import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from core.train.batches import batch_positions, validation_positions


@given(st.integers(0, 2**31 - 1), st.integers(1, 10**7), st.integers(9, 10**6))
def test_every_sequence_and_its_target_lie_inside_the_text(seed, step, num_tokens):
    starts = batch_positions(seed, step, 32, num_tokens, 8)
    assert starts.min() >= 0
    assert starts.max() + 8 + 1 <= num_tokens


@given(st.integers(0, 2**31 - 1), st.integers(1, 10**7))
def test_a_batch_depends_on_seed_and_step_only(seed, step):
    once = batch_positions(seed, step, 16, 10**6, 64)
    np.random.default_rng().random(3)
    assert np.array_equal(once, batch_positions(seed, step, 16, 10**6, 64))
    assert not np.array_equal(once, batch_positions(seed, step + 1, 16, 10**6, 64))
    assert not np.array_equal(once, batch_positions(seed + 1, step, 16, 10**6, 64))


def test_steps_do_not_overlap_in_the_generators_sequence():
    starts = [tuple(batch_positions(1, step, 4, 2**40, 8)) for step in range(1, 2001)]
    assert len({number for row in starts for number in row}) == 8000


def test_all_places_are_equally_likely():
    starts = np.concatenate([batch_positions(3, step, 64, 1000 + 8, 8) for step in range(2000)])
    counts = np.bincount(starts, minlength=1000)
    chi_squared = ((counts - 128) ** 2 / 128).sum()
    assert 999 - 5 * np.sqrt(2 * 999) < chi_squared < 999 + 5 * np.sqrt(2 * 999)


@given(st.integers(1, 500), st.integers(10, 10**6))
def test_validation_looks_at_the_same_places_from_end_to_end(count, num_tokens):
    starts = validation_positions(count, num_tokens, 8)
    assert starts[0] == 0
    assert starts.max() + 8 + 1 <= num_tokens
    assert count == 1 or starts[-1] == num_tokens - 9
