"""DDP, FSDP2 and torchrun as complete programs, which run here on two ranks.

Each runs under torchrun, with gloo on CPUs, NCCL on GPUs.
"""

from collections.abc import Mapping
from typing import Final

import streamlit as st

from core.language import _
from core.machine.ranks import run_ranks
from pages.shared.job import run_job

_DDP: Final = """
import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

dist.init_process_group("gloo")  # "nccl" on GPUs
rank = dist.get_rank()

torch.manual_seed(rank)
layer = nn.Linear(1024, 1024, bias=False)  # every rank makes other weights,
model = DistributedDataParallel(layer)  # and DDP gives all of them those of rank 0
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)

torch.manual_seed(rank)
batch = torch.randn(8, 1024)  # every rank has data of its own
model(batch).square().mean().backward()  # the gradients are all-reduced in here
optimizer.step()


def num_bytes(tensor):
    return tensor.numel() * tensor.element_size()


moments = [state for state in optimizer.state[layer.weight].values() if state.dim() == 2]
print(
    f"rank {rank}: weights {num_bytes(layer.weight):,} B,"
    f" gradients {num_bytes(layer.weight.grad):,} B,"
    f" optimizer {sum(map(num_bytes, moments)):,} B;"
    f" all weights add up to {layer.weight.sum():.4f}"
)
dist.destroy_process_group()
"""

_FSDP2: Final = """
import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard

dist.init_process_group("gloo")  # "nccl" on GPUs
rank = dist.get_rank()
mesh = init_device_mesh("cpu", (dist.get_world_size(),))  # "cuda" on GPUs

torch.manual_seed(0)  # fully_shard keeps each rank's own part: start alike
layer = nn.Linear(1024, 1024, bias=False)
model = fully_shard(layer, mesh=mesh)  # in a real model: each block, then the whole
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)

torch.manual_seed(rank)
batch = torch.randn(8, 1024)  # every rank has data of its own
model(batch).square().mean().backward()  # all-gather, again all-gather, reduce-scatter
optimizer.step()


def num_bytes(sharded):
    mine = sharded.to_local()
    return mine.numel() * mine.element_size()


moments = [state for state in optimizer.state[layer.weight].values() if state.dim() == 2]
print(
    f"rank {rank}: weights {num_bytes(layer.weight):,} B,"
    f" gradients {num_bytes(layer.weight.grad):,} B,"
    f" optimizer {sum(map(num_bytes, moments)):,} B;"
    f" all weights add up to {layer.weight.full_tensor().sum():.4f}"
)
dist.destroy_process_group()
"""

_ALL_REDUCE: Final = """
import os

import torch
import torch.distributed as dist

# torchrun starts the ranks and tells each who it is:
rank, num_ranks = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
dist.init_process_group("gloo")  # "nccl" on GPUs

mine = torch.arange(4.0) * 10**rank

summed = mine.clone()
dist.all_reduce(summed)

chunk = torch.empty(4 // num_ranks)
dist.reduce_scatter_single(chunk, mine)  # each rank gets the sum of its chunk ...
gathered = torch.empty(4)
dist.all_gather_single(gathered, chunk)  # ... and then the chunks of the others

print(
    f"rank {rank} of {num_ranks}: all-reduce {summed.tolist()},"
    f" reduce-scatter {chunk.tolist()}, then all-gather {gathered.tolist()}"
)
assert torch.equal(summed, gathered)
dist.destroy_process_group()
"""

PROGRAMS: Final[Mapping[str, str]] = {
    "ddp": _DDP.lstrip(),
    "fsdp2": _FSDP2.lstrip(),
    "torchrun": _ALL_REDUCE.lstrip(),
}
"""Card -> a complete program."""

COMMANDS: Final[Mapping[str, str]] = {
    "ddp": "torchrun --standalone --nproc-per-node 2 ddp.py",
    "fsdp2": "torchrun --standalone --nproc-per-node 2 fsdp2.py",
    "torchrun": (
        "torchrun --standalone --nproc-per-node 2 all_reduce.py\n"
        "# two machines with 8 GPUs each; the same line on both:\n"
        "torchrun --nnodes 2 --nproc-per-node 8 --rdzv-backend c10d"
        " --rdzv-endpoint HOST:29400 all_reduce.py"
    ),
}
"""Card -> the line that starts it."""


@st.cache_resource(show_spinner=False)
def printed() -> dict[str, tuple[str, ...]]:
    return {}


def show_program(card: str) -> None:
    """Show a program, the line that starts it, a button that runs it here, and what it printed."""
    st.code(COMMANDS[card], language="bash", wrap_lines=True)
    if st.button(_("Run it here on two ranks"), key="parallel_run", icon=":material/play_arrow:"):
        _run(card)
    if lines := printed().get(card):
        st.code("\n".join(lines), language=None, wrap_lines=True)
    st.code(PROGRAMS[card], language="python", wrap_lines=True)


def _run(card: str) -> None:
    """Run the program of a card; what it prints is kept for all sessions."""
    kept = printed()

    def work() -> None:
        kept[card] = run_ranks(PROGRAMS[card])

    run_job(
        f"ranks-{card}",
        work,
        doing=_("Two processes on 127.0.0.1, joined by gloo …"),
        failed=_("The ranks did not run"),
        done=_("Both ranks are done"),
        tell=lambda place: place.write(_("The ranks are at work …")),
    )
