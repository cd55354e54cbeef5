import pytest

from core.budget.compute.cost import cost


def test_a_price_is_devices_times_hours_times_what_the_reader_pays():
    item = cost(8, 3600 * 24 * 14, 2.5)
    assert item.amount == 8 * 24 * 14 * 2.5
    assert item.substituted == "8 * 1,209,600 / 3600 * 2.5"


def test_deepseek_v3_cost_5_3_million_at_2_dollars():
    # DeepSeek-V3 Technical Report, table 1: 2.664 M H800 hours at 2 USD are 5.328 M USD.
    assert cost(2048, 2_664_000 * 3600 / 2048, 2.0).amount == pytest.approx(5.328e6)


def test_negative_prices_and_no_devices_are_refused():
    with pytest.raises(ValueError, match="price_per_hour is -1; it must lie between 0 and"):
        cost(1, 1, -1)
    with pytest.raises(ValueError, match="num_devices is 0"):
        cost(0, 1, 1)


def test_a_cost_is_as_uncertain_as_the_time_behind_it_and_may_be_absurdly_large():
    item = cost(1, 7.4e19, 1000.0)  # 100,000 B parameters on 10,000 T tokens with one T4
    assert item.kind == "estimated"
    assert item.low < item.amount < item.high
