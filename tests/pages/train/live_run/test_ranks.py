import pytest

from core.train.config import TrainConfig
from core.train.run.ranks import RankRow, predicted_sent
from core.train.run.shelf import RunSummary
from pages.train.live_run.ranks import ranks_table, ranks_text
from pages.train.live_run.shown_run import ShownRun

BYTES = {"weights": 2048.0, "gradients": 2048.0, "optimizer": 4096.0, "activations": 1e6}
BYTES |= {"other": 0.0, "peak": 2e6}


def rows(sharding, count=2):
    seconds = {"step_seconds": 0.2, "communication_seconds": 0.05}
    told = {"step": 26, "count": count, "sharding": sharding, **BYTES, **seconds}
    return tuple(RankRow(rank=rank, **told) for rank in range(count))


@pytest.fixture
def shown(run_summary):
    return ShownRun(run=run_summary, config=TrainConfig(accumulation_steps=3))


@pytest.fixture
def run_summary(monkeypatch):
    info = {"resolved": {"device": "cpu", "precision": "fp32"}}
    info["prediction"] = {"num_params": 1000}
    summary = object.__new__(RunSummary)
    object.__setattr__(summary, "info", info)
    return summary


def test_every_rank_is_a_row_with_its_share_of_talking():
    table = ranks_table(rows("ddp", count=3))
    assert table["rank"] == ["0", "1", "2"]
    assert table["communication"] == ["50.0 ms (25 %)"] * 3
    assert {len(column) for column in table.values()} == {3}


def test_ddp_sends_the_gradients_twice_around_the_ring_and_fsdp_the_weights_too():
    ddp = predicted_sent(1000, 4, count=4, sharding="ddp", passes=3)
    assert ddp.amount == 2 * 3 * 1000
    fsdp = predicted_sent(1000, 4, count=4, sharding="fsdp2", passes=3)
    assert fsdp.amount == 3 * 1000 + 2 * 3 * 3 * 1000


def test_what_parallelism_predicts_stands_below(shown):
    assert "3.91 KiB of weights" in ranks_text(shown, rows("ddp"))
    told = ranks_text(shown, rows("fsdp2"))
    assert "1.95 KiB of weights" in told
    assert "Gloo makes an all-reduce" in told
