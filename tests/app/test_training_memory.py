"""Training memory: every tab, extreme settings, what is refused, and the state in the link."""

import pytest

from core.budget.catalogue.devices import DEVICES
from core.budget.catalogue.optimizers import OPTIMIZERS
from core.budget.catalogue.precisions import PRECISIONS
from core.budget.catalogue.profiles import PROFILES
from core.budget.recipe import CHECKPOINTING
from core.budget.simulation.step import simulate_step
from core.budget.simulation.timeline import report_of
from core.budget.training.allocator_stories import STORIES
from core.units import format_count
from pages.plan.training_memory import step_timeline
from tests.app.shown import alt, headline, parameters, said, texts

PAGE = "plan/training_memory"
# As a model of 7 B on one device, which the numbers below are about.
PLAIN = {
    "plan_model": "llama-2-7b", "plan_devices": "1", "plan_length": "4096",
    "plan_checkpointing": "none",
}  # fmt: skip
TABS = ("bar", "items", "recipes", "timeline", "allocator")


@pytest.fixture
def open_page(open_page):
    """Open the memory page on the plain plan, unless the test says otherwise."""
    return lambda page, **query: open_page(page, **(PLAIN if page == PAGE else {}) | query)


@pytest.mark.parametrize("tab", TABS)
def test_every_tab_has_a_headline_and_a_picture(open_page, tab):
    app = open_page(PAGE, memory_tab=tab)
    assert len(headline(app)) > 20
    assert len(alt(app)) > 40


def test_both_ends_of_every_slider_have_a_picture(open_page):
    for settings in (
        {"plan_batch": "4096", "plan_length": "1048576"},
        {"plan_length": "128", "plan_every": "32", "plan_checkpointing": "every_k"},
        {"plan_chunks": "128", "plan_step": "1024"},
        {"plan_devices": "131072", "plan_sharding": "3", "plan_tensor": "32"},
        {"plan_stages": "32", "plan_devices": "256", "plan_tensor": "8"},
        {"plan_lora": "bfloat16", "plan_rank": "256", "plan_targets": "all"},
    ):
        assert "Llama-2 7B" in headline(open_page(PAGE, **settings)), settings


def test_what_a_sold_device_keeps_for_itself_is_told_and_of_another_nothing(open_page):
    app = open_page(PAGE)
    said = "Of the nominal 80.0 GiB the driver and 512 MiB of CUDA context leave 78.6 GiB for"
    assert any(said in each for each in texts(app))
    app = open_page(PAGE, plan_device="mi300x")
    assert any("Of the nominal 192 GiB a process gets 192 GiB." in each for each in texts(app))
    app = open_page(PAGE, plan_device="own")
    assert not any("nominal" in each for each in texts(app))


def test_options_say_their_bytes_and_their_names(open_page):
    app = open_page(PAGE)
    for name, option in (
        ("precision", "18 B · Megatron: fp32 gradients and master copy"),
        ("optimizer", "8-bit Adam"),
    ):
        assert option in app.selectbox(key=f"plan_{name}_choice").options
    (targets,) = [each for each in app.get("button_group") if each.key == "plan_targets_choice"]
    assert "queries and values" in targets.options


@pytest.mark.slow
def test_every_choice_of_every_list_has_a_picture(open_page):
    lists = {"precision": PRECISIONS, "optimizer": OPTIMIZERS, "profile": PROFILES}
    for name, options in {**lists, "checkpointing": CHECKPOINTING}.items():
        for key in options:
            app = open_page(PAGE, **{f"plan_{name}": key})
            assert "Training Llama-2 7B needs" in headline(app), (name, key)


@pytest.mark.parametrize(
    ("settings", "why"),
    [
        ({"plan_model": "gpt2", "plan_tensor": "8", "plan_devices": "8"}, "share the 12 attention"),
        ({"plan_model": "gpt2", "plan_stages": "32", "plan_devices": "32"}, "12 layers of GPT-2"),
        ({"plan_devices": "64", "plan_expert": "64"}, "has no experts"),
        ({"plan_devices": "8", "plan_tensor": "3"}, "take a multiple of 3"),
    ],
)
def test_a_layout_that_cannot_be_is_a_sentence_and_stays_as_it_was_asked(open_page, settings, why):
    app = open_page(PAGE, **settings)
    assert headline(app) == "This setting cannot be trained."
    assert why in app.error[0].value
    assert parameters(app).items() >= settings.items()


def test_what_cannot_be_is_a_sentence(open_page):
    for tab in ("bar", "items", "timeline"):
        app = open_page(PAGE, memory_tab=tab, plan_lora="bfloat16", plan_model="deepseek-v3")
        assert headline(app) == "This setting cannot be trained."
        assert "DeepSeek-V3 has no matrix that LoRA's targets q, v name" in app.error[0].value
        assert "read_config" in app.session_state["snippets"]["memory"]


def test_a_model_with_a_position_table_reads_no_more_than_it_has(open_page):
    app = open_page(PAGE, plan_model="gpt2")
    assert "Training GPT-2 needs" in headline(app)
    assert any("GPT-2 has a table of 1,024 positions" in text for text in texts(app))


def test_lora_names_what_is_trained(open_page):
    app = open_page(PAGE, plan_lora="bfloat16", plan_precision="pure_bf16")
    assert headline(app).startswith("4,194,304 parameters of Llama-2 7B are trained (0.0622 %)")


def test_a_line_shows_its_formula_and_its_tensors(open_page):
    app = open_page(PAGE, memory_tab="items", memory_item="activations/feed-forward")
    assert headline(app).startswith("activations › feed-forward: 9.06 GiB")
    assert any("Liger" in text or "traced" in text for text in texts(app))
    assert any("| gate | silu |" in text for text in texts(app))


def test_a_line_that_the_setting_has_not_gives_way_to_the_one_above(open_page):
    app = open_page(PAGE, memory_tab="items", plan_checkpointing="full")
    assert headline(app).startswith("activations: ")
    assert any("This setting has no part “activations › attention”" in text for text in texts(app))


def test_recipes_compare_number_formats_and_optimizers(open_page):
    app = open_page(PAGE, memory_tab="recipes", memory_by="optimizers", plan_optimizer="sgd")
    assert headline(app).startswith("SGD, bf16 with an fp32 master copy: 8 bytes")
    assert any("4 times its weights in 16 bits (12.6 GiB)" in text for text in texts(app))


def test_a_pipeline_has_a_bar_a_stage_and_the_first_is_the_fullest(open_page):
    app = open_page(
        PAGE, plan_stages="4", plan_model="llama-2-70b", plan_tensor="8", plan_devices="32"
    )
    assert "on each of 32 devices" in headline(app)
    assert "The most loaded device, stage 1," in alt(app)


def test_very_many_stages_are_shown_by_their_ends(open_page):
    app = open_page(PAGE, plan_stages="32", plan_model="llama-2-70b", plan_devices="32")
    assert "on each of 32 devices" in headline(app)


def test_autocast_says_that_it_is_emulated(open_page):
    assert any(
        "emulated" in text for text in texts(open_page(PAGE, plan_precision="autocast_bf16"))
    )
    assert not any("emulated" in text for text in texts(open_page(PAGE)))


def test_a_sequence_beyond_the_models_context_is_told(open_page):
    said = "Llama-2 7B was made for 4,096 tokens"
    assert not any(said in each for each in texts(open_page(PAGE, plan_length="4096")))
    assert any(said in each for each in texts(open_page(PAGE, plan_length="8192")))


def test_the_snippet_is_of_the_setting_where_a_tab_shows_it(open_page):
    for tab in TABS:
        app = open_page(PAGE, memory_tab=tab, plan_batch="3")
        code = app.session_state["snippets"]["memory"]
        is_of_setting = tab in {"bar", "items", "timeline"}
        assert ("TrainingRecipe(batch_size=3" in code) == is_of_setting, tab
        assert ("core" in code) == (tab != "recipes"), tab


def test_plain_python_gives_the_largest_model_and_the_rungs_and_lines_come_from_core(
    open_page, run_code
):
    recipes = run_code(open_page(PAGE, memory_tab="recipes", plan_devices="8"))
    assert recipes == "16 bytes for each parameter; at most 42.2 B parameters\n"
    lines = run_code(open_page(PAGE, memory_tab="allocator", memory_story="two")).splitlines()
    assert lines[-1].strip() == "bytes: 8,192 allocated, 2,097,152 reserved, peak 8,192"


@pytest.fixture
def no_reports():
    """Forget what other tests have simulated, and what this one simulates."""
    step_timeline.shared.clear()
    yield
    step_timeline.shared.clear()


def open_timeline(open_page, **query):
    """Return the tab, of a step that is small enough to be simulated here."""
    small = {"plan_model": "gpt2", "plan_length": "128", "plan_kind": "foreach"}
    return open_page(PAGE, memory_tab="timeline", **small, **query)


@pytest.mark.slow
@pytest.mark.usefixtures("no_reports")
def test_the_button_simulates_the_step_and_compares_it_with_the_closed_form(open_page, monkeypatch):
    def run_here(spec, recipe, on_progress):
        """A child would load torch again."""
        return report_of(simulate_step(spec, recipe, on_progress), 0.5)

    monkeypatch.setattr(step_timeline, "run_simulation", run_here)
    app = open_timeline(open_page)
    assert headline(app).startswith("Closed form: peak ")
    assert "“optimizer step”" in headline(app)
    assert "end of forward" in alt(app)
    app.button(key="memory_simulate").click().run(timeout=60)
    assert headline(app).startswith("Simulated peak ")
    assert float(headline(app).rsplit(": ", 1)[1].split("%")[0]) < 1
    assert "tensors" in said(app)


@pytest.mark.usefixtures("no_reports")
def test_a_failing_child_is_a_sentence(open_page, monkeypatch):
    def fail(*_):
        raise ValueError("the child failed")

    monkeypatch.setattr(step_timeline, "run_simulation", fail)
    app = open_timeline(open_page)
    app.button(key="memory_simulate").click().run(timeout=60)
    assert "the child failed" in said(app)


def test_the_readers_measurement_corrects_the_estimate_and_is_called_so(open_page):
    (metric,) = open_timeline(open_page, memory_measured="2.5").metric
    assert "measured" in metric.label
    assert metric.value == "2.50 GiB"
    far = open_timeline(open_page, memory_measured="9999")
    assert "measured is" in far.error[0].value


def test_what_plays_no_part_in_the_simulation_is_said(open_page):
    app = open_timeline(open_page, plan_devices="8")
    assert any("without the layout over 8" in each for each in texts(app))


def test_every_program_has_its_picture_and_its_sentence(open_page):
    for story, lines in STORIES.items():
        app = open_page(PAGE, memory_tab="allocator", memory_story=story, memory_line="2")
        assert headline(app).startswith("After line 2: "), story
        assert any(lines[1].note in text for text in texts(app)), story
        assert f"→ {lines[1].code}" in app.code[0].value


def test_every_stop_of_a_program_is_a_line_of_it(open_page):
    app = open_page(PAGE, memory_tab="allocator", memory_story="two")
    slider = app.slider(key="memory_line")
    assert (slider.min, slider.max) == (1, 2)
    assert headline(app) == (
        "After line 2: 8.00 KiB allocated, 2.00 MiB reserved, 1.99 MiB of it idle; peak 8.00 KiB"
    )


def test_out_of_memory_is_told_as_torch_tells_it(open_page):
    app = open_page(PAGE, memory_tab="allocator", memory_story="holes", memory_line="7")
    assert "CUDA out of memory: tried to allocate 50.0 MiB" in app.error[0].value


def test_the_lectures_model_and_what_torch_keeps(open_page, run_code):
    app = open_page(PAGE, memory_tab="recipes", memory_by="hand")
    assert headline(app) == (
        "36 parameters, 496 B, 432 FLOPs by the formulas; autograd keeps 28 values, not 16"
    )
    assert run_code(app) == "36 parameters, 28 values kept\n"


def test_the_ends_of_the_tiny_models_sliders_have_a_picture(open_page):
    for size in ("1", "512"):
        app = open_page(
            PAGE,
            memory_tab="recipes",
            memory_by="hand",
            memory_tiny_width=size,
            memory_tiny_batch=size,
        )
        assert headline(app)
        assert len(app.get("plotly_chart")) == 1


def test_pages_agree_on_the_largest_model_of_sixteen_bytes(open_page):
    """8 H100 leave 8 x 78.65 GiB for tensors: 42.2 billion parameters, on whichever page."""
    h100 = DEVICES["h100-sxm"]
    largest = format_count(8 * h100.memory_usable / 16)
    memory = open_page(PAGE, memory_tab="recipes", plan_devices="8")
    compute = open_page("plan/flops_and_time", flops_tab="budget")

    assert headline(memory).endswith(f"8 × H100 SXM hold at most {largest} parameters")
    assert largest in [metric.value for metric in memory.metric]
    assert largest in [metric.value for metric in compute.metric]
    typed = open_page(PAGE, memory_tab="recipes", memory_states_gb="640")
    assert headline(typed).endswith("640 GB hold at most 40.0 B parameters")


def test_under_runs_of_layers_a_line_that_is_not_kept_is_the_one_computed_again(open_page):
    app = open_page(PAGE, memory_tab="items", plan_checkpointing="every_k")
    assert headline(app).startswith("recomputed activations › attention: 642 MiB")
    assert "This setting has no part “activations › attention”" in said(app)
    assert "which is the part “recomputed activations › attention”" in said(app)
    assert "no part" not in said(open_page(PAGE, memory_tab="items"))


def test_device_and_step_timeline_each_say_the_others_number_and_why(open_page):
    device = open_page(PAGE)
    assert "needs 124 GiB" in headline(device)
    assert "Tensors alone take 118 GiB" in said(device)
    assert "reserves 5.90 GiB beyond them" in said(device)
    timeline = open_page(PAGE, memory_tab="timeline")
    assert "peak 118 GiB" in headline(timeline)
    assert "“Device” says 124 GiB: the allocator reserves 5.90 GiB" in said(timeline)


def test_of_several_devices_both_tabs_say_whose_number_it_is(open_page):
    device = open_page(PAGE, plan_devices="8", plan_sharding="3")
    assert "the whole model on one device: 118 GiB" in said(device)
    timeline = open_page(PAGE, memory_tab="timeline", plan_devices="8", plan_sharding="3")
    amount = headline(device).split("needs ")[1].split(" (")[0]
    assert f"“Device” says {amount} for the fullest of 8" in said(timeline)
