"""What a trace tells of tensors, storages and steps, as plain data."""

from collections.abc import Mapping
from dataclasses import dataclass

from core.expressions.error import Span
from core.tensors.layout import Layout
from core.tensors.rules import Kind


@dataclass(frozen=True, kw_only=True, slots=True)
class TracedTensor:
    """A tensor at one moment, as plain data.

    Attributes:
        key: "t0", "t1", ... in order of appearance; the same object has one key.
        text: The piece of source that it comes of, or its name.
        layout: Where its elements lie.
        dtype: As torch writes it, without "torch.".
        storage: Key of its storage: "S0", "S1", ...
    """

    key: str
    text: str
    layout: Layout
    dtype: str
    storage: str


@dataclass(frozen=True, kw_only=True, slots=True)
class TracedStorage:
    """A piece of memory that tensors share.

    Attributes:
        key: "S0", ...
        num_bytes: Its size.
        itemsize, dtype: Of the tensor that it was first seen with; `values` are read in it.
        values: From its beginning, at most 4,096; empty where there is no data.
    """

    key: str
    num_bytes: int
    itemsize: int
    dtype: str
    values: tuple[float, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class AtenRow:
    """An operation underneath a step: what autograd and compilers see.

    Attributes:
        name: "aten.clone.default".
        shapes: Of its outputs.
        num_bytes: Of storages that it made; 0 of a view.
        is_view: Whether it made none, not even an empty one.
        flops: Of a product, torch's own count.
    """

    name: str
    shapes: tuple[tuple[int, ...], ...]
    num_bytes: int
    is_view: bool
    flops: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Step:
    """One operation.

    Attributes:
        text: The source up to and with it.
        call: Its name: "view", "@", "[]".
        span: Where it stands.
        inputs: Keys of the tensors that it read.
        outputs: What came of it.
        kind: "view" shares a storage that it read, "copy" has the same numbers in a storage of its
            own, "same" is an object that it read, "new" has numbers that were computed, or read no
            tensor. Of several outputs, that of the first.
        bytes_made: Of all storages that it made, hidden ones too.
        aten: What ran underneath.
        changed: For a step that writes: storage key -> addresses whose values differ now.
    """

    text: str
    call: str
    span: Span
    inputs: tuple[str, ...]
    outputs: tuple[TracedTensor, ...]
    kind: Kind
    bytes_made: int
    aten: tuple[AtenRow, ...]
    changed: Mapping[str, tuple[int, ...]]

    @property
    def bytes_copied(self) -> int:
        """Bytes of the storage that a copy made for its result."""
        return self._bytes_kept if self.kind == "copy" else 0

    @property
    def bytes_computed(self) -> int:
        """Bytes of the storage of a result that is no copy."""
        return self._bytes_kept if self.kind == "new" else 0

    @property
    def bytes_hidden(self) -> int:
        """Bytes that it made in between and did not keep."""
        kept = self._bytes_kept if self.kind in {"copy", "new"} else 0
        return max(self.bytes_made - kept, 0)

    @property
    def _bytes_kept(self) -> int:
        storages = {each.storage: each for each in self.outputs}.values()
        return sum(each.layout.storage_bytes for each in storages)
