"""The five statements of a step in any order."""

import pytest

from core.train.optimizers.loop import ORDERS, STATEMENTS, USUAL, run_loop

SAME = (
    ("zero_grad", "forward", "loss", "backward", "step"),
    ("forward", "zero_grad", "loss", "backward", "step"),
    ("forward", "loss", "backward", "step", "zero_grad"),
)


def by_hand(num_steps, rate):
    """Gradient descent on y = 2x + 1 in plain Python."""
    w = b = 0.0
    for _ in range(num_steps):
        errors = [(w * x + b - (2 * x + 1), x) for x in (1, 2, 3, 4)]
        w, b = (
            w - rate * sum(2 * error * x for error, x in errors) / 4,
            b - rate * sum(2 * error for error, _x in errors) / 4,
        )
    return w, b


def test_100_steps_learn_2_07x_plus_0_79_and_3000_the_line():
    learned = run_loop(USUAL, 100, 0.01).weights[-1]
    assert [f"{each:.2f}" for each in learned] == ["2.07", "0.79"]
    assert learned == pytest.approx(by_hand(100, 0.01), rel=1e-4)
    assert run_loop(USUAL, 3000, 0.01).weights[-1] == pytest.approx((2, 1), abs=1e-3)


@pytest.mark.parametrize("order", SAME)
def test_zero_grad_may_stand_anywhere_outside_backward_and_step(order):
    assert run_loop(order, 50, 0.01).weights == run_loop(USUAL, 50, 0.01).weights


def test_zero_grad_between_backward_and_step_learns_nothing():
    learned = run_loop(("forward", "loss", "backward", "zero_grad", "step"), 50, 0.01)
    assert not learned.has_moved
    assert set(learned.losses) == {41.0}


def test_without_zero_grad_the_gradients_add_up():
    learned = run_loop(("forward", "loss", "backward", "step"), 50, 0.01)
    usual = run_loop(USUAL, 50, 0.01)
    assert learned.weights[1] == usual.weights[1]
    (w0, _b0), (w1, _b1), (w2, _b2) = learned.weights[:3]
    gain = usual.weights[2][0] - usual.weights[1][0]
    assert w2 - w1 == pytest.approx(gain + (w1 - w0), rel=1e-5)


@pytest.mark.parametrize(("gone", "name"), [("forward", "prediction"), ("loss", "loss")])
def test_what_is_missing_is_said_in_pythons_words(gone, name):
    learned = run_loop([each for each in USUAL if each != gone], 5, 0.01)
    assert learned.error == f"NameError: name '{name}' is not defined"


def test_a_graph_that_is_used_twice_is_refused_in_torchs_words():
    learned = run_loop(("forward", "backward", "loss", "step", "zero_grad"), 5, 0.01)
    assert "NameError" in learned.error


def test_every_order_ends():
    assert len(ORDERS) == len(set(ORDERS)) == 125
    for order in ORDERS:
        assert set(order) <= set(STATEMENTS)
        learned = run_loop(order, 3, 0.01)
        assert learned.error or len(learned.losses) == 3, order


def test_16_weights_are_learned_faster_at_a_tenth_than_at_a_hundredth_and_diverge_at_2():
    slow, fast = (run_loop(USUAL, 100, rate, "sixteen") for rate in (0.01, 0.1))
    assert fast.losses[-1] < 0.01
    assert slow.losses[-1] > 10
    assert fast.weights[-1] == pytest.approx(range(16), abs=0.1)
    assert len(run_loop(USUAL, 500, 2.0, "sixteen").losses) < 500
