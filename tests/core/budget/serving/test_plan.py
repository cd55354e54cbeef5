"""Ways to serve: what is refused, and how a context is shared out."""

from core.budget.serving.plan import ServingPlan, with_context
from tests.core.budget.refusals import refused


def test_a_context_is_shared_out_to_prompt_and_answer():
    plan = ServingPlan(prompt_len=100, output_len=50)
    for context in (1, 2, 50, 51, 52, 1000):
        assert with_context(plan, context).context == context
    assert with_context(plan, 1000).output_len == 50
    assert with_context(plan, 10).prompt_len == 1


def test_a_serving_plan_that_cannot_be_is_refused():
    refused("prompt_len is 0", ServingPlan, prompt_len=0)
    refused("output_len is -1", ServingPlan, output_len=-1)
    refused("concurrency is 0", ServingPlan, concurrency=0)
    refused("tensor is 0", ServingPlan, tensor=0)
    refused("mfu is 0.0; it must lie between 0.001 and 1", ServingPlan, mfu=0.0)
    refused("mbu is 2.0", ServingPlan, mbu=2.0)
