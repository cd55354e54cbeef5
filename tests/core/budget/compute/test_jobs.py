"""Serving as a job: spread, sized, in every format."""

from core.budget.catalogue.models import MODELS
from core.budget.compute.jobs import SERVING_FORMATS, Serving, serving_ways
from core.budget.serving.serving_memory import serving_memory
from core.budget.serving.serving_plan import ServingPlan

SPEC = MODELS["llama-2-7b"]
PLAN = ServingPlan(prompt_len=1000, output_len=24)


def test_a_need_is_what_serving_keeps_on_a_device():
    assert Serving(PLAN).need(SPEC) == serving_memory(SPEC, PLAN)


def test_devices_share_and_sequences_add():
    one, two = Serving(PLAN).need(SPEC), Serving(PLAN).on(2).need(SPEC)
    more = Serving(PLAN).sized("sequences", 3).need(SPEC)

    assert two.child("KV cache").amount * 2 == one.child("KV cache").amount
    assert more.child("KV cache").amount == 3 * one.child("KV cache").amount
    assert more.child("weights") == one.child("weights")


def test_the_length_is_that_of_prompt_and_answer():
    job = Serving(PLAN).sized("tokens", 2048)

    assert job.plan.context == 2048
    assert job.plan.output_len == 24


def test_every_format_is_a_plan_of_its_own():
    ways = serving_ways(PLAN)

    assert {way: job.plan.weight_format for way, job in ways.items()} == dict(SERVING_FORMATS)
    assert all(job.plan.prompt_len == 1000 for job in ways.values())
