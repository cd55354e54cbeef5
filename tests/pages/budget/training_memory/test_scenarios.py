"""Several scenarios as a table."""

from core.budget import Formula
from core.budget.budget import Budget
from core.budget.item import item
from core.budget.training.scenario import named_scenario
from pages.budget.training_memory.scenarios import scenario_table


def budget(amount):
    whole = item("x", Formula("amount"), {"amount": amount}, unit="bytes", kind="exact", source="")
    return Budget(name="x", item=whole, stages=(), capacity=1 << 30)


def test_the_table_begins_with_the_verdict_and_leaves_out_what_all_share():
    budgets = {"A": budget(1 << 29), "B": budget(1 << 31)}
    parts = {"A": {"weights": 1 << 29}, "B": {"weights": 1 << 30, "gradients": 1 << 30}}
    table = scenario_table(dict.fromkeys("AB", named_scenario("gpt2", "t4")), budgets, parts)
    assert table[""][:5] == ["peak", "capacity", "verdict", "weights", "gradients"]
    assert table[""][5:] == ["model", "device"]
    assert table["A"][:5] == ["**512 MiB**", "1.00 GiB", "✓ fits", "512 MiB", "–"]
    assert table["B"][2] == "✗ too big"
