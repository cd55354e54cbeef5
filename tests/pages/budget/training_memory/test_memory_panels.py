"""The memory page's parts by themselves: snippet, lines, labels, stages of very many."""

from dataclasses import replace

import pytest
import streamlit as st

from core.budget.budget import at_peak
from core.budget.catalogue.devices import DEVICES
from core.budget.catalogue.models import MODELS
from core.budget.cluster import Cluster
from core.budget.recipe import LoRA, TrainingRecipe
from core.budget.training.memory import training_budget
from core.budget.training.scenario import Scenario
from core.figures.budget.training_memory.item_tree import boxes
from core.figures.budget.training_memory.training_bar import MOST_BARS
from pages.budget.training_memory import items as memory_items
from pages.budget.training_memory.bar import device_bars, peak_moment, stage_label
from pages.budget.training_memory.code import memory_code
from pages.budget.training_memory.inputs import Chosen
from pages.budget.training_memory.lora import BASES
from pages.budget.training_memory.words import optimizer_label, precision_label, targets_label
from pages.shared.budget.choices import ChosenDevice, ChosenModel

SPEC = MODELS["llama-2-70b"]
H100 = DEVICES["h100-sxm"]


def budget_of(**layout):
    recipe = TrainingRecipe(accumulation=8)
    return training_budget(SPEC, recipe, Cluster(device=H100, **layout))


def test_the_snippet_names_only_what_was_chosen():
    recipe = TrainingRecipe(batch_size=2, lora=LoRA(rank=4))
    cluster = Cluster(device=H100, num_devices=8, zero_stage=3)
    chosen = Chosen(
        model=ChosenModel(key="llama-2-70b", spec=SPEC, code='MODELS["llama-2-70b"]'),
        device=ChosenDevice(key="h100-sxm", device=H100, code='DEVICES["h100-sxm"]'),
        case=Scenario(spec=SPEC, recipe=recipe, cluster=cluster),
    )
    code = memory_code(chosen)
    assert "TrainingRecipe(batch_size=2, lora=LoRA(rank=4, targets=('q', 'v')" in code
    assert 'Cluster(device=DEVICES["h100-sxm"], num_devices=8, zero_stage=3)' in code


def test_a_line_is_found_by_its_path_or_the_one_above_it():
    stage = budget_of().largest
    root = replace(stage, children=at_peak(stage))
    assert memory_items.find(root, "weights/master weights")[1].name == "master weights"
    assert memory_items.find(root, "weights/adapters")[0] == "weights"
    assert memory_items.find(root, "cached copies") == ("", root)
    assert memory_items.path_label("weights/adapters") == "weights › adapters"
    assert memory_items.path_label("") == "one device"


def test_every_line_of_qlora_can_be_chosen():
    for base in BASES:
        recipe = TrainingRecipe(lora=LoRA(base_format=base))
        stage = training_budget(SPEC, recipe, Cluster(device=H100)).largest
        root = replace(stage, children=at_peak(stage))
        assert {box.path for box in boxes(root)} <= set(memory_items.PATHS), base


@pytest.mark.parametrize(("path", "kept"), [("optimizer", "optimizer"), ("no line", "data")])
def test_a_click_takes_over_a_line_that_exists(monkeypatch, path, kept):
    state = {
        "memory_items": {"selection": {"points": [{"customdata": [path]}]}},
        "memory_item": "data",
    }
    monkeypatch.setattr(st, "session_state", state)
    memory_items._take_over()
    assert state["memory_item"] == kept


def test_a_click_beside_everything_changes_nothing(monkeypatch):
    state = {"memory_items": {"selection": {"points": []}}, "memory_item": "data"}
    monkeypatch.setattr(st, "session_state", state)
    memory_items._take_over()
    assert state["memory_item"] == "data"


def test_every_line_of_every_model_can_be_chosen():
    for spec in MODELS.values():
        recipe = TrainingRecipe(seq_len=512, checkpointing="selective", precision="autocast_bf16")
        stage = training_budget(spec, recipe, Cluster(device=H100)).largest
        root = replace(stage, children=at_peak(stage))
        for box in memory_items.boxes(root):
            assert box.path in memory_items.PATHS, (spec.name, box.path)


def test_very_many_stages_give_way_to_the_first_and_the_last():
    budget = budget_of(num_devices=32, pipeline=32)
    bars = device_bars(budget)
    assert len(bars) == MOST_BARS
    assert [bars[0].label, bars[-1].label] == ["stage 1", "stage 32"]


def test_one_device_has_no_number():
    stage = budget_of().largest
    assert stage_label(stage) == "device"
    assert peak_moment(stage).amount == stage.child("step peak").amount


def test_labels_say_the_bytes_and_the_names():
    assert precision_label("megatron") == "18 B · Megatron: fp32 gradients and master copy"
    assert optimizer_label("adam8bit") == "8-bit Adam"
    assert targets_label("qv") == "queries and values"
