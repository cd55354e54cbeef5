"""An out-of-memory text of torch, read: how much was asked for, and who held the rest.

The forms are those of c10/cuda/CUDACachingAllocator.cpp from torch 1.0 to 2.13, of its MPS and CPU
allocators, and what launchers put around them: ranks in brackets, line breaks, log prefixes.
"""

import itertools
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from core.language import _
from core.units import GIB, KIB, MIB

MAX_CHARS: Final = 5 * MIB
MAX_PASTED: Final = 1 << 16
MAX_TEXT: Final = 10_000  # characters of one error
Allocator = Literal["cuda", "mps", "cpu"]

_UNITS: Final = {
    "bytes": 1, "b": 1, "kib": KIB, "mib": MIB, "gib": GIB, "kb": KIB, "mb": MIB, "gb": GIB,
}  # fmt: skip
# A number begins where no digit stands before it: a long run of them is looked at once.
_SIZE: Final = r"(?<![\d.])(\d{1,18}(?:\.\d{1,9})?) ?(bytes|[KMG]i?B|B)\b"
_STARTS: Final = re.compile(
    r"(?:CUDA|HIP|XPU|NPU) out of memory|MPS backend out of memory|DefaultCPUAllocator|"
    r"[Tt]ried to allocate|Invalid buffer size: \d"
)
_FIELDS: Final = {
    "requested": rf"(?:[Tt]ried to allocate|Invalid buffer size:) {_SIZE}",
    "total": rf"{_SIZE} total\b|total capaci?ty of {_SIZE}|max allowed: {_SIZE}",
    "allowed": rf"{_SIZE} allowed",
    "free": rf"{_SIZE}(?: is)? free",
    "allocated": (rf"{_SIZE} (?:already allocated|is allocated by PyTorch)|MPS allocated: {_SIZE}"),
    "reserved": rf"{_SIZE} (?:reserved in total by PyTorch|reserved\)|cached)",
    "idle": rf"{_SIZE} (?:is )?reserved (?:by PyTorch )?but unallocated",
    "in_process": rf"this process has {_SIZE} memory in use",
    "other_process": rf"[Pp]rocess \d+ has {_SIZE} memory in use",
    "other_allocations": rf"other allocations: {_SIZE}",
}
_PATTERNS: Final = {name: re.compile(pattern) for name, pattern in _FIELDS.items()}
# What stands around the words: marks of a quotation, ranks, colours, also those that a page has
# kept without their escape.
_AROUND: Final = re.compile(
    r"^(?:> ?){1,9}|^[ \t]{0,40}(?:\[?(?:rank ?)?\d+\]?:|\(\S{1,80} pid=\d+[^)\n]{0,80}\)) ?|"
    r"\x1b\[[\d;]{0,20}m|\[\d{1,3}(?:;\d{1,3}){0,4}m",
    re.MULTILINE,
)
_METAL: Final = re.compile("MPS|Invalid buffer")
_DEVICE: Final = re.compile(r"\b[GNX]PU (\d{1,4})\b")


class UntoldRequestError(ValueError):
    """A text that does not say which request ran out of memory."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Told:
    """A number of bytes as a text tells it.

    Attributes:
        num_bytes: The middle of what the printed digits can mean.
        error: How far off it may be: half of the last printed digit; 0 where bytes are printed.
    """

    num_bytes: int
    error: int

    def agrees(self, num_bytes: float) -> bool:
        """Return whether a number of bytes would be printed so."""
        return abs(self.num_bytes - num_bytes) <= self.error


@dataclass(frozen=True, kw_only=True, slots=True)
class OutOfMemory:
    """What an out-of-memory text says; what it does not say is None.

    Attributes:
        allocator: Whose text it is.
        requested: What the allocator asked the device for: rounded up by its rules.
        total: Memory of the device.
        allowed: The share of it that this process may use, where a limit was set.
        free: What the device had free.
        allocated: In tensors.
        idle: Reserved by torch, in no tensor: free blocks that were too small, or in another pool.
        in_process: All that the process holds, beside torch its CUDA context and libraries.
        other_processes: What others hold on the same device.
        device: Number of the GPU.
        num_texts: Out-of-memory texts in what was read; this is the first of them.
    """

    allocator: Allocator
    requested: Told
    total: Told | None = None
    allowed: Told | None = None
    free: Told | None = None
    allocated: Told | None = None
    idle: Told | None = None
    in_process: Told | None = None
    other_processes: Told | None = None
    device: int | None = None
    num_texts: int = 1

    @property
    def reserved(self) -> int | None:
        """Bytes that torch holds: in tensors and idle; None if the text does not say."""
        if self.allocated is None:
            return None
        return self.allocated.num_bytes + (self.idle.num_bytes if self.idle else 0)

    @property
    def is_fragmented(self) -> bool:
        """Whether what lay idle would have been enough, had it been in one piece."""
        return self.idle is not None and self.idle.num_bytes >= self.requested.num_bytes

    @property
    def parts(self) -> dict[str, int]:
        """Return who held the device's memory; the parts add up to it as far as the text tells."""
        known: dict[str, int] = {}
        if self.allocated:
            known["allocated"] = self.allocated.num_bytes
        if self.idle:
            known["idle"] = self.idle.num_bytes
        if self.in_process and self.reserved is not None:
            known["context"] = max(self.in_process.num_bytes - self.reserved, 0)
        if self.other_processes:
            known["other_processes"] = self.other_processes.num_bytes
        if self.free:
            known["free"] = self.free.num_bytes
        if self.total and self.allocated:
            rest = self.total.num_bytes - sum(known.values())
            if rest > self.total.num_bytes // 200:  # more than the printed digits hide
                known["unexplained"] = rest
        return known


def is_out_of_memory(text: str) -> bool:
    """Return whether a text has the words by which torch says that memory ran out."""
    return _STARTS.search(" ".join(text.split())) is not None


def read_out_of_memory(text: str) -> OutOfMemory:
    """Return what the first out-of-memory text in it says.

    Raises:
        UntoldRequestError: If there is none, or it does not say how much was asked for.
    """
    if len(text) > MAX_CHARS:
        raise UntoldRequestError(
            _(
                "The text has {count} characters; paste at most {most}: the error alone is enough."
            ).format(count=f"{len(text):,}", most=f"{MAX_CHARS:,}")
        )
    lines = _AROUND.sub("", text).splitlines()
    # A writer breaks a long line between two words; a terminal, of which little is pasted, in one.
    breaks = (" ", "") if len(text) < MAX_PASTED else (" ",)
    first, told, num_texts = max(
        (_first(" ".join(between.join(lines).split())) for between in breaks),
        key=lambda found: len(found[1]),
    )
    if told:
        return _read(first, told, num_texts)
    sentence = _(
        "The error does not say how much it tried to allocate; paste the whole line that begins "
        "with “CUDA out of memory”."
    )
    if not is_out_of_memory(text):
        sentence = _(
            "This text is no out-of-memory error of torch: it would say “out of memory” and "
            "“tried to allocate”."
        )
    raise UntoldRequestError(sentence)


def _first(plain: str) -> tuple[str, dict[str, Told], int]:
    """Return the first error that says what it asked for, its numbers, and how many such are."""
    starts = [match.start() for match in _STARTS.finditer(plain)]
    texts = _split(plain, starts) if starts else []
    found = [(each, told) for each in texts if "requested" in (told := _numbers(each))]
    return (*found[0], len(found)) if found else ("", {}, 0)


def _split(plain: str, starts: list[int]) -> list[str]:
    """Return one text for each error: a request belongs to the words right before it."""
    begins = [starts[0]]
    begins += [here for before, here in itertools.pairwise(starts) if here - before > 160]
    ends = [*begins[1:], len(plain)]
    return [plain[a : min(a + MAX_TEXT, b)] for a, b in zip(begins, ends, strict=True)]


def _numbers(text: str) -> dict[str, Told]:
    found: dict[str, Told] = {}
    for name, pattern in _PATTERNS.items():
        if match := pattern.search(text):
            number, unit = (each for each in match.groups() if each is not None)
            found[name] = read_size(number, unit)
    found.pop("other_process", None)
    others = [
        read_size(*match.groups())
        for match in _PATTERNS["other_process"].finditer(text)
        if not text.endswith("this ", 0, match.start())
    ]
    if (own := _own_process(found, others)) is not None:
        found["in_process"] = own
        others.remove(own)
    if others:
        found["other_process"] = Told(
            num_bytes=sum(each.num_bytes for each in others),
            error=sum(each.error for each in others),
        )
    return found


def _own_process(found: Mapping[str, Told], processes: Sequence[Told]) -> Told | None:
    """Return the process of torch where the text takes it for another, as in a container.

    All of them and what torch holds would then be more than the device has.
    """
    own = sum(found[name].num_bytes for name in ("allocated", "idle") if name in found)
    held = own + sum(each.num_bytes for each in processes)
    if "in_process" in found or "total" not in found or held <= found["total"].num_bytes:
        return None
    large = [each for each in processes if each.num_bytes + each.error >= own]
    return min(large, key=lambda each: each.num_bytes, default=None)


def read_size(number: str, unit: str) -> Told:
    """Return the bytes that a number and its unit tell: "GB" is 2**30 too, as torch prints it."""
    size = _UNITS[unit.lower()]
    digits = len(number.partition(".")[2])
    error = size // (2 * 10**digits) if size > 1 else 0
    return Told(num_bytes=round(float(number) * size), error=error)


def _read(text: str, told: Mapping[str, Told], num_texts: int) -> OutOfMemory:
    allocated, reserved, idle = told.get("allocated"), told.get("reserved"), told.get("idle")
    if idle is None and allocated and reserved:
        idle = Told(
            num_bytes=max(reserved.num_bytes - allocated.num_bytes, 0),
            error=reserved.error + allocated.error,
        )
    device = _DEVICE.search(text)
    return OutOfMemory(
        allocator="cpu" if "CPUAllocator" in text else "mps" if _METAL.search(text) else "cuda",
        requested=told["requested"], total=told.get("total"), allowed=told.get("allowed"),
        free=told.get("free"), allocated=allocated, idle=idle, in_process=told.get("in_process"),
        other_processes=told.get("other_process") or told.get("other_allocations"),
        device=int(device[1]) if device else None, num_texts=num_texts,
    )  # fmt: skip
