"""The lines of a budget: found by their paths, and each can be chosen."""

from dataclasses import replace

import pytest
import streamlit as st

from core.budget.budget import at_peak
from core.budget.catalogue.devices import DEVICES
from core.budget.catalogue.models import MODELS
from core.budget.cluster import Cluster
from core.budget.recipe import LoRA, TrainingRecipe
from core.budget.training.memory import training_budget
from core.figures.picture import Look
from pages.plan.training_memory.items import (
    PATHS,
    absence,
    boxes,
    counted,
    find,
    items_picture,
    path_label,
    point_at_line,
)
from pages.shared.plan.plan import BASES


def root_of(model="llama-2-70b", **recipe):
    cluster = Cluster(device=DEVICES["h100-sxm"])
    stage = training_budget(MODELS[model], TrainingRecipe(**recipe), cluster).largest
    return replace(stage, children=at_peak(stage))


def test_a_line_is_found_by_its_path_or_the_one_above_it():
    root = root_of(accumulation=8)
    assert find(root, "weights/master weights")[1].name == "master weights"
    assert find(root, "weights/adapters")[0] == "weights"
    assert find(root, "cached copies") == ("", root)
    assert path_label("weights/adapters") == "weights › adapters"
    assert path_label("") == "one device"


def test_every_line_of_qlora_can_be_chosen():
    for base in [*BASES][1:]:
        root = root_of(lora=LoRA(base_format=base))
        assert {box.path for box in boxes(root)} <= set(PATHS), base


def test_every_line_of_every_model_can_be_chosen():
    for model in MODELS:
        root = root_of(model, seq_len=512, checkpointing="selective", precision="autocast_bf16")
        assert {box.path for box in boxes(root)} <= set(PATHS), model


@pytest.mark.parametrize(("path", "kept"), [("optimizer", "optimizer"), ("no line", "data")])
def test_a_click_points_at_a_line_that_exists(monkeypatch, path, kept):
    monkeypatch.setattr(st, "session_state", {"memory_item": "data"})
    point_at_line([path])
    assert st.session_state["memory_item"] == kept


def test_activations_that_are_not_kept_are_found_where_they_are_computed_again():
    usual = {"model": "llama-2-7b", "seq_len": 4096, "accumulation": 8, "step_kind": "fused"}
    root = root_of(**usual, checkpointing="every_k", checkpoint_every=4)
    path, line = find(root, "activations/attention")
    assert path == "recomputed activations/attention"
    assert line.amount > 0
    assert "recomputes it, which" in absence("activations/attention", path)
    full = root_of(**usual, checkpointing="full")
    assert find(full, "activations/attention")[0] == "activations"
    assert "nothing of it is in memory" in absence("activations/attention", "activations")


CLUSTER = Cluster(device=DEVICES["h100-sxm"])
STAGE = training_budget(
    MODELS["llama-2-7b"], TrainingRecipe(checkpointing="selective"), CLUSTER
).largest
ROOT = replace(STAGE, children=at_peak(STAGE))


def test_boxes_fill_the_box_above_them_from_its_start():
    found = {box.path: box for box in boxes(ROOT)}
    assert found[""].item.amount == ROOT.amount
    for path, box in found.items():
        below = [
            each
            for each in found.values()
            if each.path and each.path.rpartition("/")[0] == path and each.level == box.level + 1
        ]
        if below:
            assert below[0].start == box.start, path
            assert sum(each.item.amount for each in below) == box.item.amount, path


def test_of_moments_only_the_peak_counts():
    peak = STAGE.child("step peak")
    (moment,) = counted(peak)
    assert moment.amount == peak.amount


def test_a_click_gives_the_path_and_the_chosen_line_has_the_thick_edge():
    figure = items_picture(ROOT, "weights", Look()).figure
    first_level = figure.data[1]
    paths = [each[0] for each in first_level.customdata]
    widths = dict(zip(paths, first_level.marker.line.width, strict=True))
    assert widths["weights"] == 3
    assert widths["optimizer"] == 1
    dark = items_picture(ROOT, "", Look(unit="GB", mode="dark", present=True)).figure
    assert dark.layout.height > figure.layout.height


def test_the_table_shows_every_line_with_its_formula():
    picture = items_picture(ROOT, "", Look())
    assert picture.table["item"][0] == "one device"
    assert "· weights" in picture.table["item"]
    assert "`2 * state_bytes * num_updated`" in picture.table["formula"]
    assert "taken apart into" in picture.alt
