"""DDP, FSDP2 and torchrun as complete programs, which run here on two ranks.

Each runs under torchrun, with gloo on CPUs, NCCL on GPUs.
"""

from collections.abc import Mapping
from typing import Final

import streamlit as st

from core.budget.parallel.sharding import layer_states
from core.figures.budget.parallelism.stages import pair_picture
from core.language import N_, _
from core.machine.ranks import NUM_RANKS, run_ranks
from pages.plan.parallelism.inputs import ASK
from pages.shared.charts import show_chart
from pages.shared.job import run_job
from pages.shared.settings import look, presenting
from pages.shared.tabbed_page import Shown

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

CARD_NAMES: Final[Mapping[str, str]] = {"ddp": "DDP", "fsdp2": "FSDP2", "torchrun": "torchrun"}
NUM_PARAMS: Final = 1024 * 1024  # of the layer in the programs
_SENTENCES: Final = {
    "ddp": N_("DDP: every rank keeps everything; gradients are all-reduced in the backward pass."),
    "fsdp2": N_(
        "FSDP2: every rank keeps its part; weights are gathered when they are used. fully_shard "
        "took the place of FullyShardedDataParallel."
    ),
    "torchrun": N_("torchrun: starts the ranks, tells each who it is, and ends all if one fails."),
}


@st.cache_resource(show_spinner=False)
def printed() -> dict[str, tuple[str, ...]]:
    """Return what the programs printed on this server, card by card."""
    return {}


def choose_card() -> tuple[str, bool]:
    """Return the key of the open card, and whether it shall run."""
    card = ASK.segmented(
        "card", _("Card"), tuple(PROGRAMS), default="ddp", labels=CARD_NAMES.__getitem__
    )
    if not presenting():  # a projector has room for the program only
        st.caption(_(_SENTENCES[card]))
    asked = st.button(
        _("Run it here on two ranks"), key="parallel_run", icon=":material/play_arrow:"
    )
    return card, asked


def programs(wanted: tuple[str, bool]) -> Shown:
    """Show a card: the program, the line that starts it, and what it prints here."""
    card, asked = wanted
    if asked:
        _run(card)
    held = {
        "DDP": layer_states(NUM_PARAMS, "fp32", 1),
        "FSDP2": layer_states(NUM_PARAMS, "fp32", NUM_RANKS),
    }
    program, picture = st.columns([3, 2])
    with program:
        st.code(COMMANDS[card], language="bash", wrap_lines=True)
        st.code(PROGRAMS[card], language="python", wrap_lines=True)
    with picture:
        if lines := printed().get(card):
            st.code("\n".join(lines), language=None, wrap_lines=True)
        bars = [(name, states.children) for name, states in held.items()]
        show_chart(pair_picture(bars, look()), key=ASK.key("two_ranks"), file_name="two-ranks")
    said = _("A layer of 1024 × 1024 on two ranks: DDP keeps {ddp} of states on each, FSDP2 {fsdp}")
    return Shown(
        headline=said.format(
            ddp=look().format_bytes(held["DDP"].amount),
            fsdp=look().format_bytes(held["FSDP2"].amount),
        )
    )


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
