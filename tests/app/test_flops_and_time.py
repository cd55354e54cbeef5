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
        {"flops_context": "256", "flops_model": "gpt2"},
        {"flops_context": "1048576", "flops_model": "deepseek-v3", "flops_causal": "true"},
        {"flops_model": "mixtral-8x22b", "flops_checkpointing": "full"},
    ],
    "rule": [{"flops_context": "256"}, {"flops_context": "1048576", "flops_model": "gpt2"}],
    "mfu": [{"flops_speed": "1"}, {"flops_speed": "10000000", "flops_device": "t4"}],
    "roofline": [
        {"flops_kind": "decode", "flops_batch": "4096", "flops_model": "deepseek-v3"},
        {"flops_kind": "prefill", "flops_context": "256", "flops_device": "m4-max"},
        {"flops_kind": "examples", "flops_size": "64", "flops_dtype": "fp8"},
        {"flops_kind": "examples", "flops_size": "16384", "flops_device": "tpu-v6e"},
    ],
    "time": [
        {"flops_params": "0.001", "flops_tokens": "0.000001", "flops_devices": "1000000"},
        {"flops_params": "100000", "flops_tokens": "10000", "flops_devices": "1"},
        {"flops_mfu": "0.01", "flops_price": "0"},
    ],
    "lines": [
        {"flops_cluster": "1", "flops_model": "gpt2", "flops_step": "65536"},
        {"flops_cluster": "16384", "flops_tensor": "8", "flops_pipeline": "16"},
        {"flops_overlap": "1", "flops_zero": "0", "flops_checkpointing": "full"},
    ],
    "budget": [
        {"flops_rented": "1", "flops_days": "1", "flops_reached": "0.01", "flops_device": "t4"},
        {"flops_rented": "1000000", "flops_days": "10000"},
    ],
    "why": [
        {"flops_rows": "1", "flops_width": "1", "flops_outputs": "1"},
        {"flops_rows": "65536", "flops_width": "65536", "flops_outputs": "65536"},
        {"flops_needed": "true"},
    ],
    "matmul": [{"flops_matmul": "256"}, {"flops_matmul": "8192", "flops_timed": "bfloat16"}],
    "transfer": [{"flops_model": "gpt2", "flops_device": "mi355x"}, {"flops_device": "tpu-v5e"}],
}
"""View -> settings at the ends of its inputs."""
VIEWS = {
    "lines": {"flops_tab": "time", "flops_from": "model"},
    "why": {"flops_tab": "rule", "flops_of": "layers"},
    "matmul": {"flops_tab": "mfu", "flops_measured": "matmul"},
    "transfer": {"flops_tab": "roofline", "flops_kind": "copies"},
}
"""Those that are a choice within a tab -> what their link says; others are tabs."""


def view(name):
    return VIEWS.get(name, {"flops_tab": name})


@pytest.mark.slow
def test_every_tab_has_a_picture_in_both_languages_and_on_a_projector(open_page):
    for tab in ENDS:
        for more in ({}, {"lang": "zh"}, {"present": "1"}):
            app = open_page(PAGE, **view(tab) | more)
            assert headline(app), (tab, more)
            assert len(alt(app)) > 40, (tab, more)


def test_the_code_of_every_tab_runs_and_prints_its_number(open_page, run_code):
    printed = {
        "components": "step FLOPs",
        "why": "201,326,592",
        "rule": "57,255 tokens",
        "mfu": "33.7%",
        "roofline": "295.3 FLOP/byte",
        "time": "143.9 days",
        "lines": "MFU",
        "budget": "9.574e+21 FLOPs",
        "transfer": "4.79 ms",
    }
    for tab, text in printed.items():
        assert text in run_code(open_page(PAGE, **view(tab)), view(tab)["flops_tab"]), tab


def test_the_code_of_a_matmul_times_it_with_plain_torch(open_page, run_code):
    printed = run_code(
        open_page(PAGE, flops_tab="mfu", flops_measured="matmul", flops_matmul="256"), "mfu"
    )
    assert "33,554,432 FLOPs" in printed
    assert printed.count("at least") == 7
    assert "not waiting" in printed


def test_numbers_of_the_lecture_and_of_the_reference_stand_in_the_headlines(open_page):
    wanted = {
        "components": ({"flops_model": "llama-2-7b", "flops_context": "4096"}, "1.166 ×"),
        "rule": ({"flops_model": "llama-2-7b", "flops_context": "4096"}, "1.060 × 6ND"),
        "mfu": ({"flops_checkpointing": "selective"}, "MFU 33.7 % with full attention, 30 %"),
        "roofline": ({"flops_kind": "examples"}, "295.3 FLOP/byte"),
        "time": ({}, "143.9 days on 1,024 × H100 SXM: 6.3e24 FLOPs"),
        "budget": ({}, "9.574e21 FLOPs"),
        "why": ({}, "1.2 × as much"),
        "matmul": ({}, "137 GFLOPs: not timed"),
        "transfer": ({}, "over the link to the host"),
    }
    for tab, (query, text) in wanted.items():
        assert text in headline(open_page(PAGE, **view(tab) | query)), tab


@pytest.mark.slow
def test_sliders_at_their_ends_give_a_picture(open_page):
    app = open_page(PAGE)
    (tabs,) = (each for each in app.button_group if each.key == "flops_tab_choice")
    assert len(tabs.options) == 6
    assert len(ENDS) == 10
    for tab, settings in ENDS.items():
        for query in settings:
            app = open_page(PAGE, **view(tab) | query)
            assert headline(app), (tab, query)
            assert len(alt(app)) > 40, (tab, query)


def test_a_replica_that_needs_more_devices_gets_them_and_the_page_says_so(open_page):
    app = open_page(PAGE, flops_tab="time", flops_from="model", flops_cluster="4", flops_tensor="8")
    assert "8 × H100" in headline(app)
    assert any("multiples of 8 devices" in each for each in captions(app))


def test_a_layout_that_cannot_be_is_a_sentence(open_page):
    app = open_page(
        PAGE,
        flops_tab="time",
        flops_from="model",
        flops_cluster="64",
        flops_tensor="16",
        flops_model="gpt2",
    )
    assert "16" in headline(app)


def test_a_dtype_that_a_device_does_not_have_is_told(open_page):
    app = open_page(PAGE, flops_tab="time", flops_device="t4", flops_dtype="bfloat16")
    assert "6.5e13" in app.session_state["snippets"]["time"]
    assert "T4 has no known speed in BF16; FP16 is used." in captions(app)


def test_a_device_whose_speeds_nobody_knows_is_n_a_and_never_an_invented_number(open_page, probed):
    probe = cached_probe()
    untimed = replace(probe.devices[0], speeds=())
    keep_probe(replace(probe, devices=(untimed,)))
    sentences = {
        "mfu": "A CPU has no known peak: MFU is n/a",
        "roofline": "A CPU has no known speeds: no roof",
        "time": "A CPU has no known peak: no time",
        "lines": "A CPU has no known peak for bfloat16; choose another device",
        "budget": "A CPU has no known peak: no budget",
        "transfer": "A CPU has no known bandwidth",
    }
    for tab, sentence in sentences.items():
        app = open_page(PAGE, **view(tab), flops_device="local")
        assert sentence in headline(app), tab
        assert (tab == "transfer") == bool(app.get("plotly_chart")), tab
        told = "There is no number to compute with these settings." in captions(app)
        assert (tab == "transfer") != told, tab


def test_numbers_open_their_formula(open_page):
    app = open_page(PAGE, flops_tab="time")
    first = app.metric[0]
    assert first.value == "143 d 23 h"
    assert "6 * num_params * num_tokens / (num_devices * flops_per_second * mfu)" in first.help
    assert "6 * 70,000,000,000 * 15,000,000,000,000 / (1,024" in first.help


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
        raise ValueError("The program core.machine.matmul_trial failed: no memory")

    monkeypatch.setattr(mfu, "time_matmul", refuse)
    app = open_page(PAGE, flops_tab="mfu", flops_measured="matmul")
    app.button(key="flops_time_it").click().run()
    assert any("no memory" in each.value for each in app.markdown)
    assert "not timed on this machine yet" in headline(app)


def test_a_context_beyond_the_models_is_told(open_page):
    app = open_page(PAGE, flops_tab="components", flops_context="32768", flops_model="llama-2-7b")
    assert any("Llama-2 7B was made for 4,096 tokens" in each for each in captions(app))


def test_the_longest_and_the_shortest_plan_are_told_in_units_that_show_them(open_page):
    longest = open_page(
        PAGE, flops_tab="time", flops_params="100000", flops_tokens="10000", flops_devices="1",
        flops_device="t4", flops_dtype="float32", flops_mfu="0.01",
    )  # fmt: skip
    shortest = open_page(
        PAGE, flops_tab="time", flops_params="0.001", flops_tokens="0.000001",
        flops_devices="1000000",
    )  # fmt: skip
    assert " days on " in headline(longest)
    assert "0.0 days" not in headline(shortest)
    assert "takes 12.1 ns on 1,000,000 × " in headline(shortest)


def test_one_of_a_thing_is_singular(open_page):
    app = open_page(PAGE, flops_tab="budget", flops_days="1")
    assert " in 1 day: " in headline(app)
    lines = open_page(PAGE, flops_tab="time", flops_from="model", flops_cluster="1")
    assert "1 device " in alt(lines)


def test_a_device_without_sparse_rates_is_not_given_one(open_page):
    for query in ({"flops_device": "tpu-v5e"}, {"flops_dtype": "float32"}):
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
    app = open_page(PAGE, flops_tab="rule", flops_model="mistral-7b-v0.1")
    assert "with its sliding window" in headline(app)


def test_a_memory_that_is_the_host_s_own_needs_no_transfer(open_page):
    app = open_page(PAGE, flops_tab="roofline", flops_kind="copies", flops_device="m4-max")
    assert "shares its memory with the host" in headline(app)


def test_a_step_that_cannot_stay_the_same_is_told(open_page):
    app = open_page(PAGE, flops_tab="time", flops_from="model")
    assert any("Beyond 1,024 devices even one sequence of 4,096" in each for each in captions(app))
    small = open_page(PAGE, flops_tab="time", flops_from="model", flops_cluster="1")
    assert not any("Beyond" in each for each in captions(small))


def test_a_model_of_one_layer_has_no_stages_to_share(open_page):
    one_layer = json.dumps(OWN | {"num_hidden_layers": 1})
    query = {"flops_model": "own", "flops_config": one_layer}
    for tab in ENDS:
        assert headline(open_page(PAGE, **view(tab) | query)), tab
    app = open_page(PAGE, flops_tab="time", flops_from="model", flops_pipeline="4", **query)
    assert "4 pipeline stages" in headline(app)


def test_a_plan_that_does_not_fit_in_memory_is_told_beside_its_time(open_page):
    query = {"flops_tab": "time", "flops_from": "model", "flops_cluster": "1", "flops_device": "t4"}
    big = open_page(PAGE, flops_model="llama-3.1-405b", **query)
    assert any(each.startswith("It does not fit: even with one sequence") for each in captions(big))
    small = open_page(PAGE, flops_model="gpt2", **query)
    assert not any(each.startswith("It does not fit") for each in captions(small))
    assert "seq_len=1024" in small.session_state["snippets"]["time"]


def test_few_tokens_are_written_without_an_exponent(open_page):
    app = open_page(PAGE, flops_tab="time", flops_from="model", flops_seen="0.000001")
    assert "on 0.000001 T tokens" in headline(app)


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
        assert kinds_shown(open_page(PAGE, flops_tab="roofline", flops_device=device)) == kinds
    assert (
        kinds_shown(
            open_page(PAGE, flops_tab="roofline", flops_kind="copies", flops_device="gb200")
        )[0]
        == "claimed"
    )


def test_the_lowest_points_of_both_laws_are_told_with_why_they_differ(open_page):
    """Hoffmann's printed constants: 62.3 tokens a parameter at 9.574e21 FLOPs; the refit: 20.4."""
    app = open_page(PAGE, flops_tab="budget")

    assert "Hoffmann 2022: lowest at 5.06 B, 62.3 tokens each." in alt(app)
    assert any("62.3" in text and "20.4" in text for text in captions(app))


def dragged(app, name):
    (slider,) = (each for each in app.select_slider if each.key == f"flops_{name}_dragged")
    return slider


def test_a_slider_and_its_field_are_one_number(open_page):
    app = open_page(PAGE)
    dragged(app, "params").set_value(7.0).run()
    assert "Training 7 B parameters on 15 T tokens takes 14.4 days" in headline(app)
    assert app.number_input(key="flops_params").value == 7.0
    assert float(app.query_params["flops_params"]) == 7
    assert not dragged(app, "params").proto.set_value, "no order back to a hand that moved it on"

    app.number_input(key="flops_params").set_value(8.03).run()
    assert "8.03 B parameters" in headline(app)
    assert dragged(app, "params").value == 8.03


def test_any_number_of_a_link_is_a_stop_of_its_slider(open_page):
    sizes = {"params": "671.5", "tokens": "14.8", "devices": "2788000"}
    app = open_page(PAGE, **{f"flops_{name}": text for name, text in sizes.items()})
    assert "671.5 B parameters on 14.8 T tokens" in headline(app)
    assert dragged(app, "params").value == 671.5
    assert dragged(app, "devices").value == 1024, "beyond the field's range: refused"
    beyond = open_page(PAGE, flops_params="50000")
    assert dragged(beyond, "params").options[-1] == "50,000 B"


def test_a_locked_slider_cannot_be_dragged_and_a_hidden_one_is_gone(open_page):
    app = open_page(PAGE, lock="1", hide="tokens")
    keys = [each.key for each in app.select_slider]
    assert dragged(app, "params").disabled
    assert "flops_tokens_dragged" not in keys
