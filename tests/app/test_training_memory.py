"""Training memory: every tab, extreme settings, what is refused, and the state in the link."""

import pytest

from core.budget.catalogue.optimizers import OPTIMIZERS
from core.budget.catalogue.precisions import PRECISIONS
from core.budget.catalogue.profiles import PROFILES
from core.budget.recipe import CHECKPOINTING
from pages.budget.training_memory.tabs import TABS

PAGE = "budget/training_memory"


def headline(app):
    assert [each.value for each in app.exception] == []
    return app.session_state["headline"]


def alt(app):
    return app.get("plotly_chart")[0].proto.alt


def texts(app):
    return [each.value for kind in ("markdown", "caption") for each in app.get(kind)]


@pytest.mark.parametrize("tab", TABS)
def test_every_tab_has_a_headline_and_a_picture(open_page, tab):
    app = open_page(PAGE, memory_tab=tab)
    assert len(headline(app)) > 20
    assert len(alt(app)) > 40


def test_both_ends_of_every_slider_have_a_picture(open_page):
    for settings in (
        {"memory_batch": "256", "memory_seq": "1048576"},
        {"memory_seq": "128", "memory_every": "32", "memory_checkpointing": "every_k"},
        {"memory_chunks": "128", "memory_accumulation": "1024"},
        {"memory_replicas": "4096", "memory_zero": "3", "memory_tensor": "32"},
        {"memory_stages": "32", "memory_sequence": "true", "memory_tensor": "8"},
        {"memory_lora": "true", "memory_rank": "256", "memory_targets": "all"},
    ):
        assert "Llama-2 7B" in headline(open_page(PAGE, **settings)), settings


def test_what_a_sold_device_keeps_for_itself_is_told_and_of_another_nothing(open_page):
    app = open_page(PAGE)
    assert any("Of the 80.0 GiB on the box a process gets 79.1 GiB." in each for each in texts(app))
    app = open_page(PAGE, memory_device="own")
    assert not any("on the box" in each for each in texts(app))


def test_every_choice_of_every_list_has_a_picture(open_page):
    lists = {"precision": PRECISIONS, "optimizer": OPTIMIZERS, "profile": PROFILES}
    for name, options in {**lists, "checkpointing": CHECKPOINTING}.items():
        for key in options:
            app = open_page(PAGE, **{f"memory_{name}": key})
            assert "Training Llama-2 7B needs" in headline(app), (name, key)


def test_what_cannot_be_is_a_sentence(open_page):
    app = open_page(PAGE, memory_expert="64")
    assert "64 expert ranks cannot be taken from 1 data ranks" in app.error[0].value
    app = open_page(PAGE, memory_tensor="32", memory_model="mistral-7b-v0.1", memory_stages="16")
    assert headline(app)
    app = open_page(PAGE, memory_stages="32", memory_model="gpt2")
    assert headline(app) == "This setting cannot be trained."
    assert "32 pipeline stages are more than the 12 layers of GPT-2" in app.error[0].value
    app = open_page(PAGE, memory_lora="true", memory_model="deepseek-v3")
    assert "DeepSeek-V3 has no matrix that LoRA's targets q, v name" in app.error[0].value


def test_a_model_with_a_position_table_reads_no_more_than_it_has(open_page):
    app = open_page(PAGE, memory_model="gpt2")
    assert "Training GPT-2 needs" in headline(app)
    assert any("GPT-2 has a table of 1,024 positions" in text for text in texts(app))


def test_lora_names_what_is_trained(open_page):
    app = open_page(PAGE, memory_lora="true", memory_precision="pure_bf16")
    assert headline(app).startswith("4,194,304 parameters of Llama-2 7B are trained (0.0622 %)")


def test_a_line_shows_its_formula_and_its_tensors(open_page):
    app = open_page(PAGE, memory_tab="items", memory_item="activations/feed-forward")
    assert headline(app).startswith("activations › feed-forward: 9.06 GiB")
    assert any("Liger" in text or "traced" in text for text in texts(app))
    assert any("| gate | silu |" in text for text in texts(app))


def test_a_line_that_the_setting_has_not_gives_way_to_the_one_above(open_page):
    app = open_page(PAGE, memory_tab="items", memory_checkpointing="full")
    assert headline(app).startswith("activations: ")
    assert any("This setting has no line “activations › attention”" in text for text in texts(app))


def test_recipes_compare_number_formats_and_optimizers(open_page):
    app = open_page(PAGE, memory_tab="recipes", memory_by="optimizers", memory_optimizer="sgd")
    assert headline(app).startswith("SGD, bf16 with an fp32 master copy: 8 bytes")
    assert any("4 times its weights in 16 bits (12.6 GiB)" in text for text in texts(app))


def test_a_pipeline_has_a_bar_a_stage_and_the_first_is_the_fullest(open_page):
    app = open_page(PAGE, memory_stages="4", memory_model="llama-2-70b", memory_tensor="8")
    assert "on each of 32 devices" in headline(app)
    assert "The most loaded device, stage 1," in alt(app)


def test_very_many_stages_are_shown_by_their_ends(open_page):
    app = open_page(PAGE, memory_stages="32", memory_model="llama-2-70b")
    assert "on each of 32 devices" in headline(app)


def test_the_question_is_answered_by_two_budgets(open_page):
    app = open_page(PAGE)
    (radio,) = [each for each in app.radio if each.key == "memory_moment"]
    radio.set_value(1)
    app.run()
    app.button("memory_moment_reveal").click().run()
    assert any("12.9" in text or "13.0" in text for text in texts(app))


def test_autocast_says_that_it_is_emulated(open_page):
    assert any(
        "emulated" in text for text in texts(open_page(PAGE, memory_precision="autocast_bf16"))
    )
    assert not any("emulated" in text for text in texts(open_page(PAGE)))


def test_a_sequence_beyond_the_models_context_is_told(open_page):
    said = "Llama-2 7B was made for 4,096 tokens"
    assert not any(said in each for each in texts(open_page(PAGE, memory_seq="4096")))
    assert any(said in each for each in texts(open_page(PAGE, memory_seq="8192")))
