"""Four ranks in one process: torch's collectives are called and counted, and nothing is sent."""

from collections.abc import Iterator
from contextlib import contextmanager

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.device_mesh import DeviceMesh, init_device_mesh
from torch.distributed.tensor.debug import CommDebugMode
from torch.testing._internal.distributed.fake_pg import FakeStore
from torch.utils._python_dispatch import TorchDispatchMode


class Block(nn.Module):
    """Two pairs of matrices, as attention and the feed-forward layer have them."""

    def __init__(self) -> None:
        super().__init__()
        self.qkv, self.o = nn.Linear(16, 16), nn.Linear(16, 16)
        self.up, self.down = nn.Linear(16, 64), nn.Linear(64, 16)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Add both pairs to the stream."""
        x = x + self.o(self.qkv(x))
        return x + self.down(self.up(x))


@contextmanager
def mesh_of_fake_ranks() -> Iterator[DeviceMesh]:
    """Give four ranks that take part in nothing."""
    dist.init_process_group("fake", rank=0, world_size=4, store=FakeStore())
    try:
        yield init_device_mesh("cpu", (4,))
    finally:
        dist.destroy_process_group()


def collectives(model: nn.Module) -> dict[str, int]:
    """Return how often each collective is called in a forward and a backward pass."""
    with CommDebugMode() as counted:
        model(torch.ones(2, 3, 16, requires_grad=True)).sum().backward()
    return {str(packet): count for packet, count in counted.get_comm_counts().items() if count}


def scattered(model: nn.Module) -> list[torch.dtype]:
    """Return in which dtype each reduce-scatter of a forward and a backward pass adds up."""
    found: list[torch.dtype] = []

    class Watch(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            if "_reduce_scatter_base_" in str(func):
                found.append(args[1].dtype)
            return func(*args, **(kwargs or {}))

    with Watch():
        model(torch.ones(2, 3, 16, requires_grad=True)).sum().backward()
    return found
