"""What runs underneath a call: every operation of aten, told one by one.

The only file here that knows torch's dispatch mode, which is no public interface.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode, _disable_current_modes
from torch.utils._pytree import tree_leaves
from torch.utils.flop_counter import flop_registry

Tell = Callable[[Any, Sequence[Tensor], Sequence[Tensor], int], None]


class Watching(TorchDispatchMode):
    """Tells of each aten operation within: (overload, inputs, outputs, FLOPs).

    FLOPs are torch's own count, of products alone.
    """

    def __init__(self, tell: Tell) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._tell = tell

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
        """Run the operation, then tell of it."""
        named = dict(kwargs or {})
        result = func(*args, **named)
        count = flop_registry.get(func._overloadpacket)
        flops = int(count(*args, **named, out_val=result)) if count else 0
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
