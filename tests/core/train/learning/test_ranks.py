"""Two ranks are one process: the oracle is a trainer of the same run that is alone."""

import json
import subprocess
import sys

import pytest

from core.train.child import child_environment

pytestmark = pytest.mark.slow

NUM_STEPS = 50
SMALL = {
    "num_layers": 1,
    "hidden_dim": 16,
    "num_heads": 2,
    "seq_len": 16,
    "num_steps": NUM_STEPS,
} | {"precision": "fp32", "device": "cpu", "warmup_steps": 5, "grad_clip": 0.5, "eval_batches": 2}
CASES = [  # 5 sequences over two ranks: 2 and 3
    ["ddp", {"batch_size": 5, "accumulation_steps": 2}],
    ["ddp", {"batch_size": 4, "optimizer": "muon"}],
    ["fsdp2", {"batch_size": 5, "accumulation_steps": 2}],
    ["fsdp2", {"batch_size": 4, "optimizer": "momentum", "family": "llama"}],
]

# Each rank runs this. Rank 0 trains every case in float64 twice and once alone, and tells of it.
CHILD = """
import json, sys
import numpy as np
import torch
from core.train.config import TrainConfig
from core.train.learning.memory_watch import MemoryWatch
from core.train.learning.ranks import Line, RankTrainer, meet
from core.train.learning.trainer import Trainer

torch.set_num_threads(1)
meet(60.0)
line = Line()
tokens = np.random.default_rng(0).integers(0, 20, 2000).astype(np.uint16)

def trainer(kind, config, **more):
    made = kind(config, tokens, tokens[:500], 20, torch.device("cpu"), **more)
    made.model.double()
    return made

def lead(trainer, num_steps):
    losses = []
    for step in range(num_steps):
        due = isinstance(trainer, RankTrainer) and step in (1, 20)
        held = (trainer.training, trainer.validation)
        watch = MemoryWatch(trainer.model, trainer.optimizer, held) if due else None
        losses.append(trainer.train_step(watch).loss)
        rows.extend(trainer.rows)
        trainer.rows.clear()
    return losses

def told(trainer, losses):
    weights = torch.cat([weight.double().flatten() for weight in trainer.weights().values()])
    state = json.dumps(trainer.optimizer_state()["param_groups"]), trainer.validation_loss()
    return losses, weights, state

for sharding, changes in json.loads(sys.argv[2]):
    config = TrainConfig.from_json({**json.loads(sys.argv[1]), **changes})
    found, rows = [], []
    for num_steps in (config.num_steps, 10):
        several = trainer(RankTrainer, config).spread(line, sharding)
        if several.rank:
            several.follow()
            continue
        if found:  # back to the first step, as a run goes back to a checkpoint
            lead(several, 3)
            fresh = several.alone()
            fresh.start_again()
            several.take(fresh)
        found.append(told(several, lead(several, num_steps)))
        several.dismiss()
    if found:
        alone = trainer(Trainer, config)
        losses, weights, state = told(alone, lead(alone, config.num_steps))
        first, second = found
        off = max(abs(one / other - 1) for one, other in zip(first[0], losses))
        moved = (first[1] - weights).abs().max() / weights.abs().max()
        print(json.dumps({
            "losses_off": off, "weights_off": moved.item(), "rows": rows,
            "same_state": first[2][0] == state[0],
            "validation_off": abs(first[2][1] / state[1] - 1),
            "again": first[0][:10] == second[0],
            "numbers": sum(weight.numel() for weight in alone.model.parameters()),
        }), flush=True)
"""


@pytest.fixture(scope="module")
def found(root):
    """What rank 0 of two told of each case."""
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2"]
    program = root / "build" / "two_ranks.py"
    program.parent.mkdir(exist_ok=True)
    program.write_text(CHILD, encoding="utf-8")
    answer = subprocess.run(
        [*command, str(program), json.dumps(SMALL), json.dumps(CASES)],
        cwd=root,
        env={**child_environment(), "OMP_NUM_THREADS": "1", "KINETO_LOG_LEVEL": "6"},
        capture_output=True,
        timeout=240,
        text=True,
        check=False,
    )
    assert answer.returncode == 0, answer.stderr[-4000:]
    return [json.loads(line) for line in answer.stdout.splitlines() if line.startswith("{")]


def test_two_ranks_do_what_one_process_does_over_fifty_steps(found):
    assert len(found) == len(CASES)
    for case, told in zip(CASES, found, strict=True):
        # The losses are float32 at their end, the weights float64 throughout.
        assert told["losses_off"] < 1e-6, case
        assert told["weights_off"] < 1e-12, case
        assert told["validation_off"] < 1e-6, case
        assert told["same_state"], case


def test_the_same_number_of_ranks_does_the_same_bit_for_bit_also_after_going_back(found):
    assert [told["again"] for told in found] == [True] * len(CASES)


def test_every_rank_tells_its_bytes_and_how_long_it_spoke(found):
    for (sharding, changes), told in zip(CASES, found, strict=True):
        rows = told["rows"][:4]  # of the run of fifty steps
        assert [row["rank"] for row in rows] == [0, 1, 0, 1]
        whole = 8 * told["numbers"]  # float64
        for row in rows:
            assert 0 < row["communication_seconds"] < row["step_seconds"]
            assert (row["count"], row["sharding"]) == (2, sharding)
            if sharding == "ddp":
                assert row["weights"] == row["gradients"] == whole
        held = rows[0]["weights"] + rows[1]["weights"]
        assert held == (whole if sharding == "fsdp2" else 2 * whole), changes
