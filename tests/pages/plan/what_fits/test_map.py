"""Words of the page What fits: verdicts, what would be enough, short names, rulings, a device."""

from dataclasses import replace

import pytest

from core.budget.catalogue.devices import DEVICES
from core.budget.catalogue.models import MODELS
from core.budget.cluster import Cluster
from core.budget.fits.jobs import serving_ways
from core.budget.fits.matrix import Cell, row
from core.budget.fits.plane import models_devices
from core.budget.fits.solve import Answer, min_devices
from core.budget.planning.plan import Plan
from core.budget.recipe import TrainingRecipe
from core.budget.serving.plan import ServingPlan
from core.figures.picture import Look
from pages.plan.what_fits.detail import rows_of
from pages.plan.what_fits.inputs import Case, what
from pages.plan.what_fits.map import (
    COLORS,
    LETTERS,
    Labels,
    count_sentence,
    device_name,
    devices_of,
    enough,
    hover_text,
    letter,
    map_picture,
    models_of,
    others_note,
    shade,
    signs,
    square_text,
    verdict,
    way_out,
)
from pages.shared.plan.choices import ChosenDevice, ChosenModel
from pages.shared.plan.plan import Chosen
from tests.core.budget.usable import usable


def case_of(model="llama-2-70b", device="l4", **plan):
    """Serving in bf16 on one device, unless the plan is another one."""
    spec, found = MODELS[model], DEVICES[device]
    served = {"work": "serve", "serving": ServingPlan(prompt_len=3584)} | plan
    chosen = Chosen(
        plan=Plan(spec=spec, cluster=Cluster(device=found), **served),
        model=ChosenModel(key=model, spec=spec, code=""),
        device=ChosenDevice(key=device, device=found, code=""),
        asked_len=4096,
    )
    return Case(chosen=chosen, all_in_picture=True)


@pytest.fixture
def case():
    return case_of()


def answer(amount, reason=""):
    return Answer(amount=amount, need=None, capacity=1, reason=reason)


def test_the_verdict_names_need_capacity_reason_and_a_way_out(case):
    (cell,) = row(case.plan.spec, case.job, [case.chosen.device.device])
    fewest = min_devices(case.plan.spec, case.job, case.chosen.device.device)

    said = verdict(case, cell, fewest)

    assert said.startswith("Serving Llama-2 70B in bf16 on one L4 does not fit: 130 GiB")
    assert said.endswith("first to fail: **weights**. 8 devices are enough.")


def test_what_cannot_be_split_says_why(case):
    cell = Cell(need=None, capacity=1, verdict="too_big", sentence="3 ranks cannot share 32 heads")

    assert verdict(case, cell, answer(0)) == "3 ranks cannot share 32 heads"


def test_within_the_band_it_may_fit(case):
    (cell,) = row(MODELS["gpt2"], case.job, [case.chosen.device.device])
    close = Cell(need=cell.need, capacity=cell.capacity, verdict="close")

    assert "may fit" in verdict(case, close, answer(1))


def test_what_fails_only_at_the_middle_of_its_band_may_not_fit(case):
    """Serving Llama-3.1 8B in bf16 on a TPU v5e: its lower end would have room."""
    tight = case_of("llama-3.1-8b", "tpu-v5e")
    (cell,) = row(tight.plan.spec, tight.job, [tight.chosen.device.device])

    said = verdict(tight, cell, answer(2))

    assert cell.verdict == "close"
    assert "may not fit: about 15.8 GiB needed, 15.8 GiB usable; first to fail" in said
    assert said.endswith("**workspace**. 2 devices are enough.")


def trained(checkpointing):
    return case_of(work="train", recipe=TrainingRecipe(checkpointing=checkpointing))


def test_what_no_number_of_devices_mends_has_another_way_out(case):
    assert enough(answer(1)) == "1 device is enough."
    assert "what fails then: **weights**" in enough(answer(0, "weights"))
    assert way_out(case, "weights") == ""
    assert "fewer tokens do" in way_out(case, "KV cache")
    assert "recompute them" in way_out(trained("none"), "activations")


def test_nobody_is_told_to_recompute_what_is_recomputed(case):
    for reason in ("activations", "logits and loss"):
        said = way_out(trained("full"), reason)
        assert "fewer or shorter ones do" in said, reason
        assert "recompute" not in said, reason


def test_tokens_beyond_a_context_are_told_of_the_models_beside_it(case):
    models = models_of(case).values()

    assert case_of(serving=ServingPlan(prompt_len=130_560)).read_tokens == 4096
    assert others_note(models, 131_072, "models_devices") == "every model up to its own context"
    assert others_note(models, 131_072, "ways_devices") == ""
    assert others_note(models, 256, "models_ways") == ""


def test_names_are_short_and_have_the_memory(case):
    names = {key: device_name(device) for key, device in devices_of(case).items()}

    assert names["a100-80gb"] == "A100 SXM, 80 GiB"
    assert names["a100-40gb"] == "A100 SXM, 40 GiB"
    assert names["v100-32gb"] == "V100 SXM2, 32 GiB"
    assert names["mi250x"] == "MI250X, 64 GiB"
    assert names["m2-max"] == "M2 Max, 96 GiB"
    assert len(set(names.values())) == len(names)


def test_models_and_devices_of_the_picture_run_from_small_to_large(case):
    models = list(models_of(case))
    assert (models[0], models[-1]) == ("gpt2", "kimi-k2")
    memory = [device.memory_usable for device in devices_of(case).values()]
    assert memory == sorted(memory)


def test_training_is_spoken_of_as_training(case):
    assert what(case) == "Serving Llama-2 70B in bf16"


def test_the_table_of_a_device_has_every_peak_and_both_memories():
    for device in DEVICES.values():
        names, values = rows_of(device).values()
        assert len(names) == len(values) == len(device.peak) + 6, device.name
    names, values = rows_of(DEVICES["h100-sxm"]).values()
    told = dict(zip(names, values, strict=True))
    assert told["dense bfloat16 peak"] == "989 TFLOP/s"
    assert told["dense int8 peak"] == "1.98 POP/s"
    assert told["link to the other devices, one direction"] == "450 GB/s"
    assert (told["nominal memory"], told["usable memory"]) == (
        "80.0 GiB",
        "78.6 GiB",
    )


ROWS = {"gpt2-xl": "GPT-2 XL", "llama-2-70b": "Llama-2 70B"}
COLUMNS = {"t4": "T4", "h200-sxm": "H200"}


@pytest.fixture
def plane():
    models = {key: MODELS[key] for key in ROWS}
    devices = {key: DEVICES[key] for key in COLUMNS}
    return models_devices(models, serving_ways(ServingPlan())["bf16"], devices)


@pytest.fixture
def labels():
    return Labels(rows=ROWS, columns=COLUMNS, chosen=("llama-2-70b", "t4"))


def cell(verdict, reason="", sentence=""):
    return Cell(need=None, capacity=1, verdict=verdict, reason=reason, sentence=sentence)


def test_a_square_says_whether_and_else_why_and_how_many():
    assert square_text(cell("fits"), 1) == "✓"
    assert square_text(cell("close"), 1) == "≈"
    assert square_text(cell("too_big", "weights"), 16) == "16× W"
    assert square_text(cell("too_big", "KV cache"), 1024) == "1k× K"
    assert square_text(cell("too_big", "activations"), 0) == "A"
    assert square_text(cell("too_big", sentence="cannot be split"), 0) == "–"


def test_with_fifty_columns_names_stand_upright_and_a_square_has_one_letter():
    devices = {f"{key} {copy}": DEVICES[key] for key in ("t4", "h200-sxm") for copy in range(25)}
    models = {key: MODELS[key] for key in ROWS}
    wide = models_devices(models, serving_ways(ServingPlan())["bf16"], devices)
    labels = Labels(rows=ROWS, columns={key: f"{key}, 80 GiB" for key in devices})
    picture = map_picture(wide, labels, Look())
    figure = picture.figure
    assert figure.layout.xaxis.tickangle == -90
    assert max(map(len, figure.data[1].text)) == 1
    # 800 px of squares: the names are no higher than a column is wide
    assert figure.layout.xaxis.tickfont.size <= 800 / 50
    assert figure.layout.margin.t >= 6 * max(map(len, labels.columns.values()))
    assert "enough stands in the table" in count_sentence(wide, labels, Look())
    assert picture.table["t4 0, 80 GiB"] == ["✓", "16× W"]


def test_on_a_projector_twelve_names_stand_upright_in_the_size_of_all_text():
    keys = tuple(DEVICES)[:12]
    devices = {key: DEVICES[key] for key in keys}
    models = {key: MODELS[key] for key in ROWS}
    plane = models_devices(models, serving_ways(ServingPlan())["bf16"], devices)
    labels = Labels(rows=ROWS, columns={key: key for key in keys})
    for present, angle in ((True, -90), (False, -40)):
        look = Look(present=present)
        axis = map_picture(plane, labels, look).figure.layout.xaxis
        assert axis.tickangle == angle
        if present:
            assert axis.tickfont.size == look.layout()["font"]["size"] >= 22


def test_no_two_items_have_the_same_letter():
    assert len(set(LETTERS.values())) == len(LETTERS)
    assert letter("something new") == "S"


def test_squares_and_words_stand_where_the_plane_says(plane, labels):
    figure = map_picture(plane, labels, Look()).figure
    squares, words = figure.data

    assert [list(line) for line in squares.z] == [[0, 0], [2, 0]]
    assert list(words.text) == ["✓", "✓", "16× W", "✓"]
    assert list(zip(words.x, words.y, strict=True)) == [(0, 0), (1, 0), (0, 1), (1, 1)]
    assert list(words.customdata[2][:2]) == ["llama-2-70b", "t4"]
    assert list(figure.layout.yaxis.ticktext) == list(ROWS.values())
    (mark,) = figure.layout.shapes
    assert (mark.x0, mark.x1, mark.y0, mark.y1) == (-0.5, 0.5, 0.5, 1.5)


def test_what_is_not_in_the_plane_is_not_picked_out(plane):
    elsewhere = Labels(rows=ROWS, columns=COLUMNS, chosen=("gpt2", "t4"))

    look = Look(mode="dark", present=True)
    assert not map_picture(plane, elsewhere, look).figure.layout.shapes


def test_a_square_explains_itself(plane, labels):
    text = hover_text(plane, labels, ("llama-2-70b", "t4"), Look())

    assert f"130 GiB of {usable('t4')}" in text
    assert "the first that does not fit: weights" in text
    assert "16 devices are enough" in text
    assert "enough" not in hover_text(plane, labels, ("gpt2-xl", "t4"), Look())


def test_words_table_and_letters_say_the_same_as_the_picture(plane, labels):
    picture = map_picture(plane, labels, Look())

    assert picture.alt == "Of 4 squares 3 fit. By column: T4 1, H200 2."
    assert picture.table == {
        " ": ["GPT-2 XL", "Llama-2 70B"],
        "T4": ["✓", "16× W"],
        "H200": ["✓", "✓"],
    }
    assert [(sign.text, sign.name) for sign in signs(plane)] == [
        ("✓", "fits"),
        ("W", "weights too large"),
    ]
    assert count_sentence(plane, labels, Look()) == "2×: two devices are enough"


def test_what_does_not_fit_has_the_colour_of_its_cause():
    assert shade(cell("fits")) == "background"
    assert shade(cell("close")) == shade(cell("too_big", sentence="no")) == "surface"
    assert shade(cell("too_big", "KV cache")) == "kv_cache"
    assert shade(cell("too_big", "something new")) == "other"
    assert set(COLORS) <= set(LETTERS)


def test_every_colour_of_the_squares_has_its_place_on_the_scale(plane, labels):
    squares, _words = map_picture(plane, labels, Look()).figure.data
    scale, last = squares.colorscale, len(squares.colorscale) // 2
    look = Look()
    for level, line in zip(plane.rows, squares.z, strict=True):
        for column, state in zip(plane.columns, line, strict=True):
            share = (state - squares.zmin) / (squares.zmax - squares.zmin)
            low, high = scale[2 * state], scale[2 * state + 1]
            assert low[0] <= share <= high[0]
            assert low[1] == high[1] == look.color(shade(plane.cells[level, column]))
            assert state < last


def test_what_a_square_has_no_room_for_is_shortened_in_steps_and_never_in_some_squares_alone():
    models = {key: MODELS[key] for key in ("gpt2-xl", "deepseek-v3")}
    way = serving_ways(ServingPlan())["bf16"]
    seen = {}
    for num in range(1, 26):
        devices = dict(list(DEVICES.items())[:num])
        plane = models_devices(models, way, devices)
        labels = Labels(rows={key: key for key in models}, columns={key: key for key in devices})
        picture = map_picture(plane, labels, Look())
        words = picture.figure.data[1]
        assert num < 4 or any("128× W" in column for column in picture.table.values())
        said = count_sentence(plane, labels, Look())
        assert ("table" in said) == (not any(each[0].isdigit() for each in words.text)), num
        seen[num] = (max(words.text, key=len), words.textfont.size)
    sizes = [size for _text, size in seen.values()]
    assert sizes[0] == Look().layout()["font"]["size"]
    assert min(sizes) >= 12
    lengths = [len(text) for text, _size in seen.values()]
    assert (lengths[0], lengths[-1]) == (6, 1)
    assert lengths == sorted(lengths, reverse=True)


def test_a_guess_is_marked_in_every_square_and_has_its_count_there_or_in_the_table():
    guess = {"v3": replace(MODELS["deepseek-v3"], guessed=True)}
    for num, longest in ((2, len("≈128× W")), (26, len("≈W"))):
        devices = dict(list(DEVICES.items())[:num])
        plane = models_devices(guess, serving_ways(ServingPlan())["bf16"], devices)
        labels = Labels(rows={"v3": "V3"}, columns={key: key for key in devices})
        words = map_picture(plane, labels, Look()).figure.data[1].text
        assert {each[0] for each in words} == {"≈"}
        assert max(map(len, words)) <= longest, words
        assert ("table" in count_sentence(plane, labels, Look())) == (num == 26)


def test_all_devices_side_by_side_have_room_for_a_letter_and_names_that_stand_upright():
    """50 columns on a screen of 1366 pixels: 22 each, a letter and an upright line of text."""
    devices = {f"{key} {turn}": DEVICES[key] for turn in (1, 2) for key in list(DEVICES)[:25]}
    way = serving_ways(ServingPlan())["bf16"]
    wide = models_devices({"deepseek-v3": MODELS["deepseek-v3"]}, way, devices)
    labels = Labels(rows={"deepseek-v3": "V3"}, columns={key: key for key in devices})
    picture = map_picture(wide, labels, Look())
    written = picture.figure.data[1].text
    assert len(written) == 50
    assert {len(each) for each in written} == {1}
    assert "W" in written
    assert picture.figure.layout.xaxis.tickangle == -90
    assert any("128× W" in column for column in picture.table.values())
    assert "in the table and under the pointer" in count_sentence(wide, labels, Look())
