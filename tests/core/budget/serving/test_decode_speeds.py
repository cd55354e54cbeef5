"""The rule that decoding follows, against the published speeds that it had not seen."""

import statistics
from dataclasses import replace

import pytest

from core.budget.serving.decode_speeds import (
    code_width,
    decode_band,
    far_band,
    fit,
    measured_device,
    measured_fit,
    measured_mbu,
    near_band,
    published_speeds,
    with_measured_mbu,
)
from core.budget.serving.plan import ServingPlan

# The two rows of the table that fit no rule: Llama-2 70B on 2 devices is a third faster than
# Llama-3.1 70B, and 405B is the only one whose feed-forward width is 53,248.
STRANGERS = {("llama-3.1-70b", 16, 2), ("llama-3.1-405b", 8, 8)}


def test_each_published_speed_is_predicted_from_the_others():
    rows = published_speeds()
    errors = {}
    for number, row in enumerate(rows):
        others = rows[:number] + rows[number + 1 :]
        seconds = fit(others).seconds(row)
        errors[row.model, row.bits, row.tensor] = abs(seconds * row.tokens_per_second - 1)

    assert len(errors) == 31
    assert {row for row, error in errors.items() if error > 0.15} == STRANGERS
    assert max(errors.values()) < 0.3
    assert statistics.median(errors.values()) < 0.04


def most(errors):
    """Return what nine of ten errors stay below, between two rows by their distance."""
    place = 0.9 * (len(errors) - 1)
    ranked = sorted(map(abs, errors))
    low = ranked[int(place)]
    return low + (place - int(place)) * (ranked[int(place) + 1] - low)


def test_the_near_band_is_the_error_of_rows_that_the_rule_has_not_seen():
    rows = published_speeds()
    errors = []
    for number, row in enumerate(rows):
        others = rows[:number] + rows[number + 1 :]
        errors.append(fit(others).seconds(row) * row.tokens_per_second - 1)

    assert near_band().below == near_band().above == pytest.approx(most(errors))
    assert near_band().above == pytest.approx(0.125, abs=0.0005)
    within = [1 / (1 + error) for error in errors if abs(1 / (1 + error) - 1) <= near_band().above]
    assert len(within) >= 0.9 * len(rows)


def test_the_far_band_is_the_error_of_one_device_predicted_from_several_and_the_reverse():
    one = [row for row in published_speeds() if row.tensor == 1]
    several = [row for row in published_speeds() if row.tensor > 1]
    errors = []
    for known, asked in ((one, several), (several, one)):
        rule = fit(known)
        errors += [rule.seconds(row) * row.tokens_per_second - 1 for row in asked]

    assert (len(one), len(several)) == (9, 22)
    assert far_band().below == pytest.approx(most(errors))
    assert far_band().below == pytest.approx(0.215, abs=0.0005)
    assert far_band().above == pytest.approx(0.274, abs=0.0005)
    assert (1 + far_band().above) * (1 - far_band().below) == pytest.approx(1)


def test_only_one_sequence_on_the_measured_device_has_the_near_band():
    plan = with_measured_mbu(ServingPlan())
    a100 = measured_device()
    assert a100.name == "A100 SXM 80 GB"
    assert decode_band(plan, a100) == near_band()
    assert decode_band(plan, replace(a100, name="mine")) == far_band()
    assert decode_band(replace(plan, concurrency=2), a100) == far_band()
    assert decode_band(replace(plan, mbu=0.9), a100) == far_band()
    assert near_band().source != far_band().source


def test_the_share_of_the_bandwidth_is_the_one_that_the_source_reports():
    # gpt-fast prints GB/s beside tokens/s, its own KV cache and tables included
    reported = {
        ("llama-2-7b", 16, 1): 1397.31,
        ("llama-2-7b", 8, 1): 1069.20,
        ("llama-2-7b", 5, 1): 862.69,
        ("llama-2-70b", 16, 8): 1135.29,
        ("llama-2-70b", 16, 2): 1481.87,
        ("llama-3.1-8b", 16, 1): 1410.76,
    }
    for row in published_speeds():
        key = (row.model, row.bits, row.tensor)
        if key in reported:
            assert row.mbu * 2039 == pytest.approx(reported.pop(key), rel=0.065), key
    assert not reported


def test_a_format_is_read_like_the_width_of_its_codes():
    shares = measured_fit().shares
    for name, width in (
        ("float32", 16),
        ("bfloat16", 16),
        ("int8_channel", 8),
        ("fp8_block128", 8),
        ("mxfp6_e2m3", 8),
        ("nf4", 4),
        ("int4_group128", 4),
    ):
        assert measured_mbu(name) == shares[width], name
    assert code_width(6.25) == 8
