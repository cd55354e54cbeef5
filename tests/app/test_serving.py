"""Serving: every tab at both ends of every slider, own speeds, what cannot be, no torch."""

import itertools
import re

import pytest

from core.budget.catalogue.devices import DEVICES
from core.budget.catalogue.models import MODELS
from core.budget.cluster import Cluster
from core.budget.planning.plan import WORKS
from core.budget.serving.memory import largest_concurrency, largest_context
from core.budget.serving.plan import ServingPlan
from core.units import format_bytes
from pages.plan.serving.inputs import SHARES
from pages.shared.plan.choices import SERVED_CONTEXTS, SERVED_SEQUENCES
from pages.shared.plan.plan import ANSWERS, KV_FORMATS, WEIGHT_FORMATS
from tests.app.shown import alt, captions, headline
from tests.core.budget.usable import usable

PAGE = "plan/serving"
TABS = ("memory", "heads", "speed")
ALONE = {"plan_work": "serve", "plan_device": "rtx-4090", "plan_devices": "1"}


@pytest.fixture
def serve(open_page):
    """Return serve(**query): the page on one RTX 4090, if the query says nothing else."""
    return lambda **query: open_page(PAGE, **ALONE | query)


def test_the_page_opens_on_8b_on_24_gb(serve):
    app = serve()

    for number in ("Up to 7 ", "8,192 ", usable("rtx-4090"), "with 4, each gets 39."):
        assert number in headline(app), number
    *memory, speed = [metric.value for metric in app.metric]
    assert memory == ["15.0 GiB", "4.00 GiB", "867 MiB"]
    assert f"each gets {speed}" in headline(app)
    assert "matrices + the_rest" in app.metric[0].help
    plan = ServingPlan(prompt_len=8192 - 512, output_len=512, concurrency=4)
    rtx = Cluster(device=DEVICES["rtx-4090"])
    assert f"full at {largest_concurrency(MODELS['llama-3.1-8b'], plan, rtx)}." in alt(app)
    full = largest_context(MODELS["llama-3.1-8b"], plan, rtx)
    assert f"full at {full:,}." in alt(serve(serving_axis="context"))


def test_a_plan_that_does_not_fit_is_told_without_a_speed(serve):
    said = headline(serve(plan_concurrency="64"))
    assert "Up to 7 " in said
    assert said.endswith("; 64 need 64.0 GiB of KV cache, 1.00 GiB each")


def test_a_time_or_speed_of_a_plan_that_does_not_fit_is_one_if_it_fitted(open_page):
    alone = {"plan_device": "t4", "plan_devices": "2", "plan_sharding": "0"}
    for page, query in (
        (PAGE, ALONE | {"plan_concurrency": "64"}),
        (PAGE, ALONE | {"plan_concurrency": "64", "serving_tab": "speed"}),
        *(("plan/parallelism", alone | {"parallel_tab": tab})
          for tab in ("stages", "links", "schedule")),
        ("plan/flops_and_time", {"plan_device": "t4", "plan_devices": "1"}),
    ):  # fmt: skip
        app = open_page(page, **query)
        timed = [
            each.label
            for each in app.metric
            if re.search(r"\d (tok|[nµm]?s|min|h|d)\b|/s", each.value)
        ]
        assert timed, query
        assert all(", if it fitted" in label for label in timed), (query, timed)
    for page, query in ((PAGE, ALONE), (PAGE, ALONE | {"serving_tab": "speed"})):
        assert not any("fitted" in each.label for each in open_page(page, **query).metric)


def test_what_a_page_says_of_its_own_job_does_not_follow_the_job_of_the_plan(open_page):
    pages = [
        *((PAGE, {"serving_tab": tab}) for tab in TABS),
        *(("plan/flops_and_time", {"flops_tab": tab}) for tab in ("time", "mfu", "roofline")),
        *(("plan/parallelism", {"parallel_tab": tab}) for tab in ("stages", "links", "schedule")),
        *(("plan/training_memory", {"memory_tab": tab}) for tab in ("bar", "recipes")),
    ]  # fmt: skip
    plans = (
        {"plan_concurrency": "2048"},  # it can be trained but not served
        {"plan_device": "t4", "plan_devices": "2", "plan_sharding": "0"},  # served but not trained
    )
    for (page, query), plan in itertools.product(pages, plans):
        apps = [open_page(page, **query | plan | {"plan_work": work}) for work in WORKS]
        said = [
            (
                headline(app),
                [each.label for each in app.metric],
                [each.label for each in app.button],
            )
            for app in apps
        ]
        assert said[0] == said[1], (page, query, plan)


@pytest.mark.parametrize(
    ("model", "device"),
    [("llama-3.1-8b", "rtx-4090"), ("deepseek-v3", "b200"), ("gemma-2-9b", "t4")],
)
def test_the_code_needs_no_core_and_prints_the_numbers_of_the_headline(
    serve, run_code, model, device
):
    for tab in TABS:
        app = serve(serving_tab=tab, plan_model=model, plan_device=device,
            plan_weights="int4_group128", plan_kv="int8_group128",
        )  # fmt: skip
        assert "core" not in app.session_state["snippets"]["serve"]
        printed, said = run_code(app), headline(app)
        if tab == "memory":
            (most,) = re.findall(r"([\d,]+) concurrent sequences fit", printed)
            assert (f"{most} concurrent users" in said) == (int(most.replace(",", "")) > 1)
        elif tab == "heads":
            for mebibytes in re.findall(r"one sequence: ([\d,]+) MiB", printed):
                amount = int(mebibytes.replace(",", "")) << 20
                assert format_bytes(amount)[:3] in said
        else:
            for number in re.findall(r"([\d.]+) tokens/s", printed):
                assert f"{float(number):,.4g}" in said


@pytest.mark.parametrize("tab", TABS)
def test_every_tab_has_a_picture_at_both_ends_of_every_slider(serve, tab):
    for end, language in ((0, "en"), (-1, "zh")):
        app = serve(
            serving_tab=tab,
            lang=language,
            present=str(-end),
            plan_context_length=str(SERVED_CONTEXTS[end]),
            plan_concurrency=str(SERVED_SEQUENCES[end]),
            plan_output=str(ANSWERS[end]),
            serving_mfu=str((0.05, 1)[end]),
            serving_mbu=SHARES[end],
        )
        assert headline(app)
        assert len(alt(app).encode()) > 40
        assert [each.value for each in app.error] == []


def test_every_kind_of_model_and_every_format_is_served(serve):
    models = ("gpt2", "gpt-3-175b", "mistral-7b-v0.1", "gemma-2-9b", "mixtral-8x7b", "deepseek-v3")
    for number, model in enumerate(models):
        app = serve(
            plan_model=model,
            plan_device="t4",
            serving_tab=TABS[number % 3],
            plan_weights=WEIGHT_FORMATS[number],
            plan_kv=KV_FORMATS[number],
        )
        assert headline(app), model


def test_several_devices_share_and_what_cannot_be_shared_is_told(serve):
    pair = serve(plan_model="llama-2-70b", plan_device="a100-80gb",
                     plan_devices="2")  # fmt: skip
    odd = serve(plan_model="gpt2-xl", plan_devices="8")

    assert pair.metric[0].value == "64.2 GiB"
    assert f"{usable('a100-80gb')} on each of 2 devices" in headline(pair)
    assert odd.error[0].value.startswith(
        "8 tensor-parallel ranks cannot share the 25 attention heads"
    )
    assert odd.metric[0].value == "2.90 GiB"


def test_what_does_not_fit_is_said_and_drawn(serve):
    app = serve(plan_model="llama-3.1-405b")
    fast = serve(plan_model="llama-3.1-405b", serving_tab="speed")

    assert headline(app).startswith("Not one user with 8,192 tokens fits in " + usable("rtx-4090"))
    assert headline(app).endswith(f"the weights take {app.metric[0].value}")
    assert "nothing fits in the" in alt(app)
    assert headline(fast).endswith("but not one sequence fits")


def test_key_heads_change_weights_and_cache(serve):
    app = serve(serving_heads="mha")

    assert headline(app).startswith("Only 1 user with 8,192 tokens fits in ")
    assert app.metric[0].value == "16.5 GiB"
    assert "4 need 16.0 GiB" in headline(app)
    assert "num_kv_heads = 32" in app.session_state["snippets"]["serve"]
    latent, none = (serve(plan_model="deepseek-v3", serving_heads=kind) for kind in ("mha", "made"))
    assert headline(latent) == headline(none)


def test_native_products_are_faster_and_what_cannot_be_is_told(serve):
    prompt = {}
    for compute in ("weight-only", "native"):
        app = serve(serving_tab="speed", plan_device="b200", plan_weights="nvfp4",
            serving_compute=compute,
        )  # fmt: skip
        prompt[compute] = float(re.findall(r"[\d.]+", app.metric[0].value)[0])
        assert [each.value for each in app.error] == []
    assert prompt["native"] < 0.5 * prompt["weight-only"]

    refused = serve(plan_weights="int4_group128", serving_compute="native")
    assert "RTX 4090 neither) multiplies int4_group128" in refused.error[0].value


def test_a_context_beyond_the_models_is_drawn_with_a_sentence(serve):
    app = serve(plan_model="llama-2-7b")

    assert any("Llama-2 7B was made for 4,096 tokens" in text for text in captions(app))


def test_a_speed_of_my_own_calibrates_and_an_impossible_one_is_refused(serve):
    mine = serve(serving_tab="speed", serving_own_speed="45")
    impossible = serve(serving_tab="speed", serving_own_speed="4500")

    assert any("Calibrated with your 45 tokens/s" in text for text in captions(mine))
    assert headline(mine).startswith("45 tokens/s for one user")
    assert impossible.error[0].value.startswith("4,500 tokens/s cannot be: RTX 4090 needs")
    assert headline(impossible).startswith("46.47 tokens/s for one user")


def test_the_band_is_told_and_wider_where_nothing_is_published(serve):
    """Of 31 rows on an A100, each left out: 12.5 %; one device from several: -21.5 to +27.4 %."""
    for device, near in (("a100-80gb", True), ("h100-sxm", False)):
        app = serve(serving_tab="speed", plan_device=device, plan_concurrency="1",
            plan_model="llama-2-7b",
        )  # fmt: skip
        (said,) = [text for text in captions(app) if text.startswith("Each token takes")]
        low, high = (float(each) for each in re.findall(r"([\d.]+) ms", said))
        assert high / low == pytest.approx(1.125 / 0.875 if near else 1.274 / 0.785, rel=0.01)
        assert ("wider band" in said) == (not near)


def test_a_device_without_speeds_is_told_in_a_sentence(serve, probed):
    app = serve(plan_device="local", serving_tab="speed")
    assert [each.value for each in app.exception] == []
    assert app.error[0].value.startswith("A CPU has no known bandwidth; type one in")
    memory = serve(plan_device="local", plan_model="gpt2")
    assert "in 4.00 GiB; 4 need" in headline(memory)


def test_an_answer_longer_than_its_context_is_told(serve):
    app = serve(plan_context_length="256", plan_output="8192")
    assert "An output of 8,192 tokens does not fit in 256: it is cut to 255." in captions(app)


@pytest.mark.slow
def test_devices_of_tiny_and_huge_numbers_and_a_dtype_that_is_not_there(serve):
    for memory, tera, giga in (
        ("1", "1", "1"),
        ("1024", "100000", "100000"),
        ("24", "1", "100000"),
    ):
        for tab in TABS:
            app = serve(serving_tab=tab, plan_device="own", plan_device_gib=memory,
                plan_device_tflops=tera, plan_device_gbs=giga,
            )  # fmt: skip
            assert headline(app), (tab, memory)
    typed = serve(serving_tab="speed", plan_device="own", plan_weights="float32")
    assert "custom device has no known peak for float32" in typed.error[0].value


def test_weights_are_at_first_as_the_makers_publish_them_and_windows_show_what_is_reserved(
    serve,
):
    app = serve(plan_model="gpt-oss-120b", plan_device="h100-sxm")
    assert "concurrent users" in headline(app)
    assert app.metric[0].value == "60.7 GiB"
    wide = serve(plan_model="gpt-oss-120b", plan_weights="bfloat16")
    assert "the weights take 218 GiB" in headline(wide)
    heads = serve(plan_model="gpt-oss-120b", serving_tab="heads")
    assert [metric.value for metric in heads.metric][:2] == ["292 MiB", "576 MiB"]


def test_a_block_leaves_at_most_all_but_one_of_its_tokens_empty(serve):
    """Llama-3.1 8B keeps 2 x 32 layers x 8 heads x 128 x 2 bytes = 128 KiB of a token."""
    for block, size, empty in (("16", "2.00 MiB", "1.88 MiB"), ("128", "16.0 MiB", "15.9 MiB")):
        app = serve(serving_tab="heads", serving_block=block)
        assert [metric.value for metric in app.metric] == [size, empty, "64.0 MiB"]
