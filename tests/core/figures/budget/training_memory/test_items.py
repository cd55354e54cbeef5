"""The icicle by its data: what lies below a line is as wide as the line."""

from dataclasses import replace

from core.budget.budget import at_peak
from core.budget.catalogue.devices import DEVICES
from core.budget.catalogue.models import MODELS
from core.budget.cluster import Cluster
from core.budget.recipe import TrainingRecipe
from core.budget.training.memory import training_budget
from core.figures.budget.training_memory.items import boxes, counted, items_picture
from core.figures.picture import Look

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
