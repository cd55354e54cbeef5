"""The schedule by its data: bars begin and end where the passes do."""

from core.budget.parallel.pipeline import schedule
from core.figures.budget.parallelism.schedule_chart import (
    idle_share,
    schedule_alt,
    schedule_end,
    schedule_figure,
    schedule_table,
)
from core.figures.theme import MODES

SLOTS = schedule(4, 8)


def test_every_pass_is_a_bar():
    for mode in MODES:
        forward, backward = schedule_figure(SLOTS, mode, present=True).data
        for trace, direction in ((forward, "forward"), (backward, "backward")):
            passes = [slot for row in SLOTS for slot in row if slot.direction == direction]
            assert list(trace.base) == [slot.start for slot in passes]
            assert list(trace.text) == [str(slot.microbatch) for slot in passes]
        assert forward.marker.pattern.shape != backward.marker.pattern.shape


def test_stages_wait_as_long_as_the_bubble_formula_says():
    for stages, batches in ((1, 4), (4, 8), (8, 8)):
        idle = (stages - 1) / (batches + stages - 1)
        assert abs(idle_share(schedule(stages, batches)) - idle) < 1e-12


def test_many_passes_are_not_numbered():
    assert set(schedule_figure(schedule(16, 32), "light").data[0].text) == {""}


def test_the_sentence_and_the_table_say_the_same():
    alt = schedule_alt(SLOTS)
    assert "each stage waits 27.3 % of the time" in alt
    assert "Stage 0 holds activations of 4 micro-batches at most." in alt
    table = schedule_table(SLOTS)
    assert table["micro-batches held at most"] == [4, 3, 2, 1]
    assert max(table["last pass ends"]) == schedule_end(SLOTS) == 33
