import pytest

from core.train.start.loader_speed import NUM_STEPS, measure_loader


@pytest.mark.slow
@pytest.mark.parametrize("num_workers", [0, 1])
def test_every_step_has_a_time_to_wait_and_one_to_compute(num_workers):
    timing = measure_loader(num_workers, 2, 16)
    assert (timing.num_workers, timing.prefetch_factor) == (num_workers, 2)
    assert len(timing.wait_seconds) == len(timing.step_seconds) == NUM_STEPS
    assert min(timing.wait_seconds + timing.step_seconds) > 0
    assert timing.total_seconds == pytest.approx(
        sum(timing.wait_seconds) + sum(timing.step_seconds)
    )
    assert 0 < timing.waited < 1


@pytest.mark.slow
def test_a_process_that_fails_says_why():
    with pytest.raises(ValueError, match=r"not measured: .*prefetch"):
        measure_loader(1, -1, 1)
