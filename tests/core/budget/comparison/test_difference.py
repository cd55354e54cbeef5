"""Differences of item trees: what adds up, what moves, and which input did it."""

from hypothesis import given
from hypothesis import strategies as st

from core.budget import Formula, Item
from core.budget.comparison.difference import Input, difference, one_by_one, peak_difference
from core.budget.item import item, total
from core.budget.recipe import TrainingRecipe
from core.budget.training.scenario import named_scenario
from tests.core.budget.refusals import refused

BYTES = Formula("num_params * bytes_each")


def part(name, num_params=1, bytes_each=1, unit="bytes"):
    values = {"num_params": num_params, "bytes_each": bytes_each}
    return item(name, BYTES, values, unit=unit, kind="exact", source="a test")


def whole(*parts, combine="sum", name="all"):
    return total(name, parts, source="a test", combine=combine)


@st.composite
def trees(draw, depth=3):
    name = draw(st.sampled_from("abcd"))
    if depth == 0 or draw(st.booleans()):
        return part(name, draw(st.integers(0, 10**15)), draw(st.integers(1, 16)))
    parts = draw(st.lists(trees(depth=depth - 1), min_size=1, max_size=4))
    return whole(*parts, combine=draw(st.sampled_from(["sum", "max"])), name=name)


@given(trees(), trees(), st.integers(1, 4))
def test_the_changes_of_the_steps_add_up_to_the_change_of_the_whole(before, after, depth):
    found = difference(before, after, depth)
    assert sum(step.change for step in found.steps) == found.change
    assert found.change == after.amount - before.amount


@given(trees())
def test_nothing_changes_between_a_budget_and_itself(tree):
    found = difference(tree, tree)
    assert (found.changed, found.moves, found.change) == ((), (), 0)


@given(trees(), trees())
def test_the_way_back_undoes_every_step(before, after):
    before, after = whole(before), whole(after)
    there, back = difference(before, after), difference(after, before)
    forward = sorted((step.path, step.change) for step in there.changed)
    assert forward == sorted((step.path, -step.change) for step in back.changed)


def test_a_new_part_and_one_that_is_gone_are_steps_of_their_own():
    before = whole(part("weights", 10), part("gradients", 10))
    after = whole(part("weights", 10), part("adapters", 3))
    steps = {step.path: step.change for step in difference(before, after).changed}
    assert steps == {("gradients",): -10, ("adapters",): 3}


def test_a_step_names_the_inputs_that_changed_and_whether_the_rule_did():
    before = whole(part("weights", 10, 4), part("other"))
    after = whole(part("weights", 10, 2), part("other"))
    (step,) = difference(before, after).changed
    assert step.inputs == (Input("bytes_each", 4, 2),)
    assert not step.other_rule
    shorter = item(
        "weights", Formula("num_params"), {"num_params": 9}, unit="bytes", kind="exact", source=""
    )
    (step,) = difference(before, whole(shorter, part("other"))).changed
    assert step.other_rule
    assert set(step.inputs) == {Input("num_params", 10, 9), Input("bytes_each", 4, None)}
    new = difference(whole(part("other")), before).changed[0]
    assert new.inputs == ()


def test_a_name_with_two_values_below_one_step_explains_nothing():
    before = whole(whole(part("a", 1, 4), part("b", 2, 4), name="states"))
    after = whole(whole(part("a", 1, 2), part("b", 3, 2), name="states"))
    (step,) = difference(before, after, depth=1).changed
    assert step.inputs == (Input("bytes_each", 4, 2),)


def test_a_peak_that_moves_is_named_and_compared_by_what_is_held():
    def peak(activations, gradients):
        forward = whole(part("weights", 10), part("activations", activations), name="forward")
        step = whole(part("weights", 10), part("gradients", gradients), name="optimizer step")
        return whole(forward, step, combine="max", name="peak")

    found = difference(peak(30, 12), peak(2, 12))
    assert [(move.before, move.after) for move in found.moves] == [("forward", "optimizer step")]
    steps = {step.path: step.change for step in found.changed}
    assert steps == {("activations",): -30, ("gradients",): 12}


def test_two_parts_of_one_name_are_paired_in_their_order():
    before = whole(part("stage", 1), part("stage", 2))
    after = whole(part("stage", 1), part("stage", 5), part("stage", 7))
    assert [step.change for step in difference(before, after).steps] == [0, 3, 7]


def test_a_part_that_got_parts_of_its_own_is_one_step():
    before = whole(part("weights", 16))
    after = whole(whole(part("codes", 4), part("scales", 1), name="weights"))
    (step,) = difference(before, after).steps
    assert (step.path, step.change, step.other_rule) == (("weights",), -11, True)


def test_two_single_numbers_are_one_step_with_their_name():
    (step,) = difference(part("a", 1), part("a", 3)).steps
    assert (step.path, step.change) == (("a",), 2)


def test_bytes_are_not_compared_with_seconds():
    refused("bytes cannot be compared with s", difference, part("a"), part("a", unit="s"))
    refused("depth is 0; it must be at least 1", difference, part("a"), part("a"), depth=0)


def test_a_measured_number_without_a_rule_can_be_compared():
    measured = Item(name="a", amount=3, unit="bytes", low=3, high=3, source="", kind="measured")
    assert difference(part("a", 5), measured).change == -2


def test_peaks_are_compared_by_what_is_held_under_one_name_each():
    def device(activations, gradients, name="device"):
        forward = whole(part("activations", activations), name="forward")
        step = whole(part("gradients", gradients), name="optimizer step")
        peak = whole(forward, step, combine="max", name="step peak")
        return whole(whole(part("master", 4), part("copy", 2), name="weights"), peak, name=name)

    found = peak_difference(device(30, 12), device(2, 12))
    steps = {step.path: step.change for step in found.changed}
    assert steps == {("activations",): -30, ("gradients",): 12}
    assert [move.before for move in found.moves] == ["forward"]
    stages = whole(device(1, 1, "stage 0"), device(50, 1, "stage 1"), combine="max", name="all")
    found = peak_difference(device(30, 12), stages)
    assert sum(step.change for step in found.steps) == found.change == 20
    assert [move.after for move in found.moves] == ["stage 1"]


TOKENS = Formula("num_layers * num_tokens / tensor")


def measure(scenario):
    if scenario.cluster.tensor > scenario.spec.num_heads:
        raise ValueError("more tensor ranks than heads")
    values = {
        "num_layers": scenario.spec.num_layers,
        "num_tokens": scenario.recipe.num_tokens,
        "tensor": scenario.cluster.tensor,
    }
    return item("tokens", TOKENS, values, unit="tokens", kind="exact", source="a test")


@st.composite
def scenarios(draw):
    recipe = TrainingRecipe(
        batch_size=draw(st.integers(1, 8)), seq_len=draw(st.sampled_from([1024, 4096]))
    )
    tensor = draw(st.sampled_from([1, 2, 4]))
    model = draw(st.sampled_from(["gpt2", "llama-2-7b"]))
    return named_scenario(model, "t4", recipe, {"num_devices": tensor, "tensor": tensor})


@given(scenarios(), scenarios())
def test_the_steps_lead_from_the_first_to_the_last_without_a_gap(first, last):
    steps = one_by_one(first, last, measure)
    amounts = [measure(first).amount, *(step.after.amount for step in steps)]
    assert [step.before.amount for step in steps] == amounts[:-1]
    assert amounts[-1] == measure(last).amount
    changed = [name for name, value in first.choices.items() if last.choices[name] != value]
    assert [name for step in steps for name in step.names] == changed


def test_a_choice_that_needs_another_makes_one_step_with_it():
    whole = named_scenario("llama-2-7b", "t4", None, {"num_devices": 8, "tensor": 8})
    small = named_scenario("llama-2-7b", "t4", None, {"num_devices": 2, "tensor": 2})
    apart = [step.names for step in one_by_one(small, whole, measure)]
    assert apart == [("num_devices",), ("tensor",)]
    assert [step.names for step in one_by_one(whole, small, measure)] == [("num_devices", "tensor")]


def test_equal_scenarios_are_no_step_apart():
    scenario = named_scenario("gpt2", "t4")
    assert one_by_one(scenario, scenario, measure) == ()


def test_a_scenario_without_a_budget_is_refused():
    good = named_scenario("gpt2", "t4")
    bad = named_scenario("gpt2", "t4", None, {"num_devices": 16, "tensor": 16})
    refused("more tensor ranks than heads", one_by_one, good, bad, measure)
