import json

import pytest

from core.train.control.commands import Command
from core.train.control.orders import Orders, acknowledge, multiplier_changes, standing_orders
from core.train.run.store import RunStore

RATE, LIMIT = "set_learning_rate_multiplier", "set_max_steps_per_second"


def ack(store, number, op, value, step, error=""):
    acknowledge(store, Command(number=number, op=op, value=value, error=error), step)


def test_what_was_acknowledged_is_known_with_the_step_it_counts_from(run_directory):
    with RunStore(run_directory) as store:
        ack(store, 1, RATE, 0.5, step=14)
        ack(store, 2, LIMIT, 20.0, step=16)
        ack(store, 3, "pause", None, step=17)
        ack(store, 4, RATE, 500.0, step=18, error="out of range")
    orders = standing_orders(run_directory, Orders())
    assert orders == Orders(
        last_command=4, multiplier_changes=((15, 0.5),), max_steps_per_second=20.0
    )


def test_a_change_made_after_a_rewind_replaces_what_was_planned_from_there_on(run_directory):
    with RunStore(run_directory) as store:
        ack(store, 1, RATE, 0.5, step=9)
        ack(store, 2, RATE, 0.25, step=29)
    with RunStore(run_directory, attempt=2) as store:
        ack(store, 3, RATE, 2.0, step=19)
    changes = standing_orders(run_directory, Orders()).multiplier_changes
    assert changes == ((10, 0.5), (20, 2.0))


def test_an_order_to_go_at_full_speed_is_an_order_too(run_directory):
    with RunStore(run_directory) as store:
        ack(store, 1, LIMIT, None, step=3)
    saved = Orders(max_steps_per_second=5.0)
    assert standing_orders(run_directory, saved).max_steps_per_second is None
    assert standing_orders(run_directory.parent, saved).max_steps_per_second == 5.0


def test_where_the_events_are_lost_the_checkpoint_knows(run_directory):
    saved = Orders(last_command=7, multiplier_changes=((40, 2.0),), max_steps_per_second=3.0)
    assert standing_orders(run_directory, saved) == saved
    assert Orders.from_json(json.loads(json.dumps(saved.to_json()))) == saved


@pytest.mark.parametrize(
    "strange",
    [
        {"op": RATE, "value": "fast", "accepted": True, "command": 1, "step": 3},
        {"op": RATE, "value": None, "accepted": True, "command": 1, "step": 3},
        {"op": RATE, "value": 0.5, "accepted": True, "command": 1, "step": "x"},
        {"op": RATE, "value": 0.5, "accepted": True, "command": "x", "step": 3},
        {"op": LIMIT, "value": [], "accepted": True, "command": 1, "step": 3},
    ],
)
def test_an_event_that_makes_no_sense_changes_nothing(run_directory, strange):
    line = json.dumps({"seq": 0, "kind": "ack", "attempt": 1, **strange})
    (run_directory / "events.jsonl").write_text(line + "\n", encoding="utf-8")
    orders = standing_orders(run_directory, Orders(max_steps_per_second=5.0))
    assert (orders.multiplier_changes, orders.max_steps_per_second) == ((), 5.0)


def test_a_new_setting_counts_from_the_step_that_comes_and_a_pause_for_the_one_done(run_directory):
    with RunStore(run_directory) as store:
        ack(store, 1, RATE, 0.5, step=4)
        ack(store, 2, "pause", None, step=4)
    lines = (run_directory / "events.jsonl").read_text(encoding="utf-8").splitlines()
    assert [json.loads(line)["step"] for line in lines] == [5, 4]
    assert multiplier_changes([]) == ()
