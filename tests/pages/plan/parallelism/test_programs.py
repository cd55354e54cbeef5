"""The programs of the code cards, run by two gloo ranks in a child process on 127.0.0.1."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest

from core.budget.parallel.ring import PHASES, ring_all_reduce
from core.machine.ranks import HOST, free_port, loopback_interface, run_ranks
from pages.plan.parallelism.programs import COMMANDS, PROGRAMS

ARRAYS = np.random.default_rng(0).normal(size=(2, 6)).astype(np.float32).tolist()
# Importing torch costs the most, so both programs run, as they are, in one pair of ranks.
TOGETHER = """
import torch.distributed as together
together.init_process_group("gloo")
destroy = together.destroy_process_group
together.init_process_group = lambda backend: None
together.destroy_process_group = lambda: None
"""
RING = f"""
import json
mine = torch.tensor({ARRAYS}[dist.get_rank()])
chunk = torch.empty(3)
dist.reduce_scatter_single(chunk, mine.clone())
dist.all_reduce(mine)
print(json.dumps([chunk.tolist(), mine.tolist()]))
destroy()
"""


@pytest.fixture(scope="module")
def printed():
    lines = run_ranks("\n".join([TOGETHER, PROGRAMS["ddp"], PROGRAMS["fsdp2"], RING]))
    return {"ddp": lines[::3], "fsdp2": lines[1::3], "ring": lines[2::3]}


@pytest.mark.slow
def test_fsdp_holds_half_of_what_ddp_holds_and_learns_the_same(printed):
    million = 1024 * 1024
    for card, held in (("ddp", 1), ("fsdp2", 2)):
        weights, optimizer = f"{4 * million // held:,}", f"{8 * million // held:,}"
        for rank, line in enumerate(printed[card]):
            assert line.startswith(
                f"rank {rank}: weights {weights} B, gradients {weights} B, optimizer {optimizer} B;"
            )
    sums = {line.rpartition(" ")[2] for card in ("ddp", "fsdp2") for line in printed[card]}
    assert len(sums) == 1, sums


@pytest.mark.slow
def test_torchrun_starts_ranks_that_sum_by_both_ways(tmp_path):
    program = tmp_path / "all_reduce.py"
    program.write_text(PROGRAMS["torchrun"])
    address = [f"--master-addr={HOST}", f"--master-port={free_port()}"]
    logs = [f"--log-dir={tmp_path}", "--redirects=3"]
    command = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node=2"]
    local = os.environ | {"GLOO_SOCKET_IFNAME": loopback_interface(), "OMP_NUM_THREADS": "1"}

    subprocess.run([*command, *address, *logs, str(program)], check=True, env=local, timeout=100)
    for rank in range(2):
        (log,) = tmp_path.glob(f"**/{rank}/stdout.log")
        line = log.read_text().strip()
        assert line.startswith(f"rank {rank} of 2: all-reduce [0.0, 11.0, 22.0, 33.0]")
        assert line.endswith("then all-gather [0.0, 11.0, 22.0, 33.0]")


@pytest.mark.slow
def test_the_ring_of_the_page_ends_where_torch_ends(printed):
    steps = ring_all_reduce(ARRAYS)
    scattered = [step for step in steps if step.phase == PHASES[0]][-1]
    for rank, line in enumerate(printed["ring"]):
        chunk, summed = json.loads(line)
        assert [each for part in steps[-1].values[rank] for each in part] == summed
        # our ring finishes chunk 1 at rank 0; gloo gives each rank the chunk of its number
        assert list(scattered.values[1 - rank][rank]) == chunk


def test_every_card_has_a_program_and_a_line_that_starts_it():
    assert list(PROGRAMS) == list(COMMANDS)
    for card, program in PROGRAMS.items():
        compile(program, card, "exec")
        assert "torchrun --standalone --nproc-per-node 2" in COMMANDS[card]
        assert "FullyShardedDataParallel" not in program  # fully_shard took its place
