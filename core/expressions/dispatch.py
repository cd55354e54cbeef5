"""What runs underneath a call: every operation of aten, told one by one.

The only file here that knows torch's dispatch mode, which is no public interface.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Final

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode, _disable_current_modes
from torch.utils._pytree import tree_leaves
from torch.utils.flop_counter import flop_registry

Tell = Callable[[Any, Sequence[Tensor], Sequence[Tensor], int], None]
# Torch's table lacks the CPU's attention: its GPU twin's rule, and how many tensors that takes.
_ON_GPU: Final = {
    "aten._scaled_dot_product_flash_attention_for_cpu": (
        "_scaled_dot_product_flash_attention", 3,
    ),
    "aten._scaled_dot_product_flash_attention_for_cpu_backward": (
        "_scaled_dot_product_flash_attention_backward", 4,
    ),
}  # fmt: skip


class Watching(TorchDispatchMode):
    """Tells of each aten operation within: (overload, inputs, outputs, FLOPs).

    FLOPs are torch's own count, of products alone.
    """

    def __init__(self, tell: Tell, *, count_flops: bool = True) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._tell, self._count_flops = tell, count_flops

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        """Say that no compiler is kept away: it would be loaded for that, 800 modules of it."""
        return False

    def __torch_dispatch__(
        self,
        func: Any,  # noqa: ANN401
        types: Sequence[type],
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:  # noqa: ANN401
        named = dict(kwargs or {})
        result = func(*args, **named)
        flops = _flops(func, args, named, result) if self._count_flops else 0
        inputs = [each for each in tree_leaves((args, named)) if isinstance(each, Tensor)]
        outputs = [each for each in tree_leaves(result) if isinstance(each, Tensor)]
        self._tell(func, inputs, outputs, flops)
        return result


@contextmanager
def unwatched() -> Iterator[None]:
    """Do something that is not told to anybody, and counts for no limit."""
    with _disable_current_modes():
        yield


def storage_id(x: Tensor) -> int:
    """Return what tells storages apart, also empty ones and those without data.

    `data_ptr` does not: it is 0 there, and is used again after a storage is freed. Keep every
    tensor alive whose number you compare.
    """
    return int(x.untyped_storage()._cdata)


def _flops(func: Any, args: Sequence[Any], named: Mapping[str, Any], result: Any) -> int:  # noqa: ANN401
    """Return torch's count; attention's CPU kernel is missing in torch's table."""
    kernel = _ON_GPU.get(str(func._overloadpacket))
    if kernel is not None:
        name, num_sizes = kernel
        count = flop_registry[getattr(torch.ops.aten, name)]
        return int(count(*args[:num_sizes], out_val=result))
    count = flop_registry.get(func._overloadpacket)
    return int(count(*args, **named, out_val=result)) if count else 0
