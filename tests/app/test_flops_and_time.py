"""FLOPs and time: every tab, its ends, its numbers, and the product timed on this machine."""

import json
from dataclasses import replace

import pytest

from core.machine import cached_probe, keep_probe
from core.machine.matmul_timing import MatmulCall, MatmulTiming
from pages.plan.flops_and_time import mfu
from tests.app.shown import OWN, alt, captions, headline

PAGE = "plan/flops_and_time"
ENDS = {
    "components": [
        {"plan_length": "128", "plan_model": "gpt2"},
        {"plan_length": "1048576", "plan_model": "deepseek-v3", "flops_causal": "true"},
    ],
    "rule": [{"plan_length": "128"}, {"plan_length": "1048576", "plan_model": "gpt2"}],
    "mfu": [{"flops_speed": "1"}, {"flops_speed": "10000000", "plan_device": "t4"}],
    "roofline": [
        {"plan_concurrency": "2048", "plan_model": "deepseek-v3"},
        {"flops_kind": "prefill", "plan_context_length": "256", "plan_device": "m4-max"},
        {"flops_kind": "examples", "flops_size": "64", "flops_dtype": "fp8"},
    ],
    "time": [
        {"plan_devices": "1", "plan_model": "gpt2", "plan_step": "1"},
        {"plan_devices": "16384", "plan_tensor": "8", "plan_stages": "16"},
        {"flops_overlap": "1", "plan_sharding": "0", "plan_tokens": "0.001"},
    ],
    "by_rule": [
        {"flops_billions": "0.001", "plan_tokens": "0.001", "plan_devices": "131072"},
        {"flops_billions": "100000", "plan_tokens": "1000000", "plan_devices": "1"},
    ],
    "budget": [
        {"plan_devices": "1", "flops_days": "1", "flops_reached": "0.01", "plan_device": "t4"},
        {"plan_devices": "131072", "flops_days": "10000"},
    ],
    "why": [
        {"flops_rows": "1", "flops_width": "1", "flops_outputs": "1"},
        {"flops_rows": "65536", "flops_width": "65536", "flops_outputs": "65536"},
    ],
    "matmul": [{"flops_matmul": "256"}, {"flops_matmul": "8192", "flops_timed": "bfloat16"}],
    "transfer": [{"plan_model": "gpt2", "plan_device": "mi355x"}, {"plan_device": "tpu-v5e"}],
}
"""View -> settings at the ends of its inputs."""
LLAMA = {"plan_model": "llama-2-7b", "plan_length": "4096"}
LECTURE = {
    "flops_from": "rule", "flops_billions": "70", "plan_tokens": "15000",
    "plan_devices": "1024", "plan_mfu": "0.5",
}  # fmt: skip
VIEWS = {
    "by_rule": LECTURE,
    "why": {"flops_tab": "rule", "flops_of": "layers"},
    "matmul": {"flops_tab": "mfu", "flops_measured": "matmul"},
    "transfer": {"flops_tab": "roofline", "flops_kind": "copies"},
}
"""Those that are a choice within a tab -> what their link says; others are tabs."""


def view(name):
    return VIEWS.get(name, {"flops_tab": name})


@pytest.mark.slow
def test_inputs_at_their_ends_give_a_picture(open_page):
    for tab, settings in ENDS.items():
        for query in ({"lang": "zh", "present": "1"}, *settings):
            app = open_page(PAGE, **view(tab) | query)
            assert headline(app), (tab, query)
            assert len(alt(app)) > 40, (tab, query)


def test_the_page_opens_on_the_plan_and_its_hours_are_those_of_what_fits(open_page):
    app = open_page(PAGE)
    assert headline(app).endswith("Llama-3.1 8B on 1 B tokens with 8 × H100 SXM; 74.8 % is compute")
    assert any(
        text.startswith("Training Llama-3.1 8B on **8** H100 SXM fits") for text in captions(app)
    )
    hours = headline(app).split(" at ")[0]
    assert hours in headline(open_page("plan/what_fits"))


def test_time_follows_an_mfu_that_is_pinned_and_one_that_cannot_be_is_refused(open_page):
    app = open_page(PAGE, plan_mfu="0.4")
    assert " at 40 % MFU" in headline(app)
    slow = open_page(PAGE, plan_mfu="0.6", plan_devices="1024", plan_network="1")
    assert headline(slow) == "No kernels reach an MFU of 60 % on 1,024 devices."


def test_the_code_of_every_tab_runs_and_prints_its_number(open_page, run_code):
    printed = {
        "components": "step FLOPs",
        "why": "201,326,592",
        "rule": "57,255 tokens",
        "mfu": "33.7%",
        "roofline": "295.3 FLOP/byte",
        "by_rule": "143.9 days",
        "time": "MFU",
        "budget": "9.574e+21 FLOPs",
        "transfer": "4.79 ms",
    }
    for tab, text in printed.items():
        assert text in run_code(open_page(PAGE, **view(tab)), view(tab).get("flops_tab", "time")), (
            tab
        )


def test_the_code_of_a_matmul_times_it_with_plain_torch(open_page, run_code):
    printed = run_code(
        open_page(PAGE, flops_tab="mfu", flops_measured="matmul", flops_matmul="256"), "mfu"
    )
    assert "33,554,432 FLOPs" in printed
    assert printed.count("at least") == 7
    assert "not waiting" in printed


def test_numbers_of_the_lecture_and_of_the_reference_stand_in_the_headlines(open_page):
    wanted = {
        "components": ({**LLAMA, "plan_checkpointing": "none"}, "1.166 ×"),
        "rule": (LLAMA, "1.060 × 6ND"),
        "mfu": ({"plan_checkpointing": "selective"}, "MFU 33.7 % with full attention, 30 %"),
        "roofline": ({"flops_kind": "examples"}, "295.3 FLOP/byte"),
        "by_rule": ({}, "143.9 days on 1,024 × H100 SXM: 6.3e24 FLOPs"),
        "budget": ({}, "9.574e21 FLOPs"),
        "why": ({}, "1.2 × as much"),
        "matmul": ({}, "137 GFLOPs: not timed"),
        "transfer": ({}, "over the link to the host"),
    }
    for tab, (query, text) in wanted.items():
        assert text in headline(open_page(PAGE, **view(tab) | query)), tab


def test_a_dtype_that_a_device_does_not_have_is_told(open_page):
    app = open_page(PAGE, **LECTURE | {"plan_device": "t4"})
    assert "6.5e13" in app.session_state["snippets"]["time"]
    assert "T4 has no known speed in BF16; FP16 is used." in captions(app)


def test_a_device_whose_speeds_nobody_knows_is_n_a_and_never_an_invented_number(open_page, probed):
    probe = cached_probe()
    untimed = replace(probe.devices[0], speeds=())
    keep_probe(replace(probe, devices=(untimed,)))
    sentences = {
        "mfu": "A CPU has no known peak",
        "roofline": "A CPU has no known peak",
        "by_rule": "A CPU has no known peak",
        "time": "A CPU has no known peak for bfloat16; choose another device",
        "budget": "A CPU has no known peak",
        "transfer": "A CPU has no known bandwidth",
    }
    for tab, sentence in sentences.items():
        app = open_page(PAGE, **view(tab), plan_device="local")
        assert sentence in headline(app), tab
        assert (tab == "transfer") == bool(app.get("plotly_chart")), tab
        told = "There is no number to compute with these settings." in captions(app)
        assert (tab == "transfer") != told, tab


@pytest.fixture
def timed(monkeypatch):
    """Pretend that a product was timed: the child process is replaced."""
    mfu.shared.clear()

    def pretend(size, dtype, on_call):
        times = {"first": [9.0], "not waiting": [1e-5] * 3, "waiting": [2.0, 1.0, 4.0]}
        calls = [
            MatmulCall(kind=kind, seconds=each, device="NVIDIA H100")
            for kind, seconds in times.items()
            for each in seconds
        ]
        for call in calls:
            on_call(call)
        return MatmulTiming(size=size, dtype=dtype, calls=tuple(calls))

    monkeypatch.setattr(mfu, "time_matmul", pretend)
    yield
    mfu.shared.clear()


def test_a_timed_product_shows_that_not_waiting_is_absurd(open_page, timed):
    app = open_page(PAGE, flops_tab="mfu", flops_measured="matmul", flops_matmul="1024")
    app.button(key="flops_time_it").click().run()
    assert "2.00 s here (1.00 s to 4.00 s), 1.07 GFLOP/s" in headline(app)
    assert "here: NVIDIA H100 2.00 s" in alt(app)

    app.toggle(key="flops_waits").set_value(False).run()
    assert "10.0 µs here" in headline(app)
    assert "215 TFLOP/s" in headline(app)


def test_a_product_that_cannot_be_timed_is_told(open_page, timed, monkeypatch):
    def refuse(size, dtype, on_call):
        raise ValueError("The program core.machine.matmul_timing failed: no memory")

    monkeypatch.setattr(mfu, "time_matmul", refuse)
    app = open_page(PAGE, flops_tab="mfu", flops_measured="matmul")
    app.button(key="flops_time_it").click().run()
    assert any("no memory" in each.value for each in app.markdown)
    assert "not timed on this machine yet" in headline(app)


def test_a_context_beyond_the_models_is_told(open_page):
    app = open_page(PAGE, flops_tab="components", plan_length="32768", plan_model="llama-2-7b")
    assert any("Llama-2 7B was made for 4,096 tokens" in each for each in captions(app))


def test_the_longest_and_the_shortest_plan_are_told_in_units_that_show_them(open_page):
    longest, shortest = (open_page(PAGE, **LECTURE | query) for query in ENDS["by_rule"][::-1])
    assert " days on 1 × " in headline(longest)
    assert "takes 92.5 ns on 131,072 × " in headline(shortest)


def test_one_of_a_thing_is_singular(open_page):
    app = open_page(PAGE, flops_tab="budget", flops_days="1")
    assert " in 1 day: " in headline(app)
    lines = open_page(PAGE, plan_devices="1")
    assert "1 device " in alt(lines)


def test_a_device_without_sparse_rates_is_not_given_one(open_page):
    for query in ({"plan_device": "tpu-v5e"}, {"flops_dtype": "float32"}):
        app = open_page(PAGE, flops_tab="mfu", **query)
        assert "sparse" not in headline(app), query


def test_more_than_all_of_the_peak_is_told_to_be_impossible(open_page):
    app = open_page(PAGE, flops_tab="mfu", flops_speed="10000000")
    assert any(each.startswith("More than 100 % cannot be") for each in captions(app))


def test_the_dtype_makes_the_bytes_of_the_roofline(open_page):
    app = open_page(PAGE, flops_tab="roofline", flops_kind="examples", flops_dtype="float32")
    assert "In FP32 every number in memory is taken to be 4 bytes." in captions(app)
    assert "2147483648, 12582912)" in app.session_state["snippets"]["roofline"]


def test_windows_that_hold_the_scores_down_are_told(open_page):
    app = open_page(PAGE, flops_tab="rule", plan_model="mistral-7b-v0.1")
    assert "with its sliding window" in headline(app)


def test_a_memory_that_is_the_host_s_own_needs_no_transfer(open_page):
    app = open_page(PAGE, flops_tab="roofline", flops_kind="copies", plan_device="m4-max")
    assert "shares its memory with the host" in headline(app)


def test_a_step_that_cannot_stay_the_same_is_told(open_page):
    app = open_page(PAGE)
    assert any("Beyond 192 devices even one sequence of 8,192" in each for each in captions(app))
    small = open_page(PAGE, plan_devices="1")
    assert not any("Beyond" in each for each in captions(small))


def test_a_model_of_one_layer_has_no_stages_to_share(open_page):
    one_layer = json.dumps(OWN | {"num_hidden_layers": 1})
    query = {"plan_model": "own", "plan_config": one_layer}
    for tab in ENDS:
        assert headline(open_page(PAGE, **view(tab) | query)), tab
    app = open_page(PAGE, plan_stages="4", **query)
    assert "4 pipeline stages" in headline(app)


def kinds_shown(app):
    """Return the kinds beside the numbers, as the reader reads them."""
    return [metric.label.partition("· ")[2].rstrip("]") for metric in app.metric]


def test_how_a_number_is_known_stands_beside_it_in_both_languages(open_page):
    expected = {
        "mfu": (["claimed"] * 3, ["声称"] * 3),
        "transfer": (["bound"] * 3, ["界限"] * 3),
        "roofline": (["data sheet", "bound"], ["数据手册", "界限"]),
    }
    for tab, (english, chinese) in expected.items():
        assert kinds_shown(open_page(PAGE, **view(tab))) == english, tab
        assert kinds_shown(open_page(PAGE, **view(tab), lang="zh")) == chinese, tab
    for device, kinds in (("b200", ["measured", "bound"]), ("m4-max", ["claimed"] * 2)):
        assert kinds_shown(open_page(PAGE, flops_tab="roofline", plan_device=device)) == kinds
    assert (
        kinds_shown(
            open_page(PAGE, flops_tab="roofline", flops_kind="copies", plan_device="gb200")
        )[0]
        == "claimed"
    )


def test_the_lowest_points_of_both_laws_are_told_with_why_they_differ(open_page):
    """Hoffmann's printed constants: 62.3 tokens a parameter at 9.574e21 FLOPs; the refit: 20.4."""
    app = open_page(PAGE, flops_tab="budget")

    assert "Hoffmann 2022: lowest at 5.06 B, 62.3 tokens each." in alt(app)
    assert any("62.3" in text and "20.4" in text for text in captions(app))
