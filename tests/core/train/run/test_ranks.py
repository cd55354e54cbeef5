from core.train.run.fields import is_event
from core.train.run.ranks import RankRow, newest_rows

BYTES = ("weights", "gradients", "optimizer", "activations", "other", "peak")
SECONDS = ("step_seconds", "communication_seconds")
ROW = {"kind": "rank", "attempt": 1, "count": 2, "sharding": "ddp"}
ROW |= dict.fromkeys((*BYTES, *SECONDS), 10)


def event(seq, step, rank, **changes):
    return {**ROW, "seq": seq, "step": step, "rank": rank, **changes}


def test_the_newest_step_whose_ranks_have_all_told_is_shown_in_their_order():
    told = [event(0, 2, 0), event(1, 2, 1), event(2, 11, 1), event(3, 11, 0), event(4, 21, 0)]
    assert [(row.step, row.rank) for row in newest_rows(told)] == [(11, 0), (11, 1)]
    assert newest_rows([{"kind": "eval", "step": 3}, event(0, 2, 0)]) == ()


def test_a_run_that_goes_on_with_three_ranks_shows_three():
    three = [event(2 + rank, 2, rank, count=3, attempt=2) for rank in range(3)]
    assert [row.count for row in newest_rows([event(0, 2, 0), event(1, 2, 1), *three])] == [3] * 3


def test_a_row_is_what_a_line_must_be():
    assert is_event(event(0, 2, 0))
    assert not is_event(event(0, 2, -1))
    assert not is_event({**event(0, 2, 0), "communication_seconds": "long"})
    assert RankRow.of(event(0, 2, 1, step_seconds=0.5)).step_seconds == 0.5
