"""The machines: one kind of device, how many, how they are joined, and how a model is split."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from math import gcd
from typing import Final

from core.budget.check import check_range
from core.budget.item import Formula, Item, Kind, item, weakest
from core.language import N_, _

MAX_DEVICES: Final = 1_000_000
_AMOUNTS: Final = (
    *("memory_sold", "memory_usable", "bandwidth", "link", "host_link", "pair_link", "joined"),
    "context",
)
_WHOLE_NUMBERS: Final = (
    *("num_devices", "tensor", "pipeline", "virtual_stages", "context", "expert"),
    "devices_per_node",
)
USABLE: Final = Formula("memory_seen - cuda_context")
_CONTEXT: Final = N_(
    "{source}; less the CUDA context of a process, 0.5 GiB: between 300 and 700 MiB"
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Evidence:
    """How a number is known."""

    kind: Kind  # as of an item
    source: str  # a message id; `{readings}` in it stands for the next
    readings: str = ""  # what was read, and where
    band: tuple[float, float] = (0.0, 0.0)  # the relative error, below and above


@dataclass(frozen=True, kw_only=True, slots=True)
class DeviceSpec:
    """A device as its maker describes it, or as it was measured here."""

    name: str  # as it is sold: "H100 SXM"
    # dtype -> dense FLOP/s (or integer operations) with fp32 accumulation: "float32", "tf32",
    # "bfloat16", "float16", "fp8", "fp4", "int8"; never the sparse figure
    peak: Mapping[str, float]
    memory_sold: float
    memory_usable: float  # bytes that tensors can fill; `usable` says how that is known
    bandwidth: float  # bytes/s of its memory
    # bytes/s in one direction to the other devices of the same machine: all links of the device
    # together, of a TPU those of all ports of its torus
    link: float
    host_link: float  # bytes/s in one direction to the host (PCIe)
    source: str
    date: str  # when that was read: "2026-11"
    # "sold" as in the data sheet, "custom" as the reader typed it, "measured" here
    kind: str = "sold"
    known: Kind = "data sheet"  # how its speeds are known; a row from memory is no data sheet
    # those of them that are known less well, as `source` says: a dtype of `peak`, "bandwidth",
    # "link" or "host_link" -> how
    doubts: Mapping[str, Kind] = field(default_factory=dict)
    # how `memory_usable` is known; as the rest if nothing else is said
    memory_known: Evidence | None = None
    # whether the data sheet also prints rates with 2:4 sparsity, twice the dense ones
    sparsity: bool = False
    # of `link`, what goes to one other device; 0 if a switch gives it all of them
    pair_link: float = 0.0
    # how many devices `link` joins, beyond which data goes through the host: a bridge joins two; 0
    # stands for all of a machine
    joined: int = 0
    maker: str = ""
    # what the card calls itself, as torch and NVML write it, without its maker; "" where no name
    # means this very row: an A10G, an RTX 4090 D, a slice of a card is none
    product_name: str = ""
    # bytes of a process's CUDA context; `memory_usable` is without them already
    context: float = 0.0

    def __post_init__(self) -> None:
        for name in _AMOUNTS:
            check_range(name, getattr(self, name), 0, 1e18)
        for dtype, flops_per_second in self.peak.items():
            check_range(f"peak of {dtype}", flops_per_second, 0, 1e20)

    @property
    def usable(self) -> Item:
        """The memory that tensors can fill, as a number that explains itself."""
        known = self.memory_known or Evidence(kind=self.known, source=self.source)
        source = _(known.source).format(readings=known.readings)
        seen, context = self.memory_usable + self.context, self.context
        return item(
            "usable memory", USABLE, {"memory_seen": seen, "cuda_context": context},
            unit="bytes", kind=known.kind, band=known.band,
            source=_(_CONTEXT).format(source=source) if context else source,
        )  # fmt: skip

    @property
    def memory_band(self) -> tuple[float, float]:
        """How far off `memory_usable` may be: the relative error, below and above."""
        return self.memory_known.band if self.memory_known else (0.0, 0.0)

    def link_among(self, num_devices: int) -> float:
        """Return the bytes/s that a device can send to so many, itself among them.

        Through a switch that is all of its links. Where each link leads to one other device, on a
        torus or a mesh, a pair has one of them: never more than one for each of the others. What a
        bridge does not join goes through the host.
        """
        if self.joined and num_devices > self.joined:
            return min(self.link, self.host_link)
        if not self.pair_link or num_devices < 2:
            return self.link
        return min(self.link, (num_devices - 1) * self.pair_link)

    def known_of(self, *speeds: str) -> Kind:
        """Return how speeds are known, the weakest of them: dtypes of `peak`, or as in `doubts`."""
        return weakest([self.known, *(self.doubts.get(speed, self.known) for speed in speeds)])

    def limit(self, *speeds: str) -> Kind:
        """Return how a limit is known that follows from these speeds."""
        return weakest(["bound", self.known_of(*speeds)])

    def estimate(self, *speeds: str) -> Kind:
        """Return how an estimate is known that follows from these speeds."""
        return weakest(["estimated", self.known_of(*speeds)])

    def has_sparse_peak(self, dtype: str) -> bool:
        """Return whether the data sheet prints twice the peak for 2:4 sparsity in this dtype."""
        return self.sparsity and dtype != "float32"  # vector units, not tensor cores


@dataclass(frozen=True, kw_only=True, slots=True)
class Cluster:
    """Devices and the way a model is spread over them.

    num_devices = data * tensor * pipeline * context. Expert parallelism takes its ranks from the
    data and context ranks, which hold the same weights.
    """

    device: DeviceSpec
    num_devices: int = 1
    # 0 replicates (DDP), 1 shards optimizer states, 2 gradients too, 3 weights too (FSDP2's
    # fully_shard)
    zero_stage: int = 0
    tensor: int = 1
    # whether tensor ranks also share the tokens between the matrices
    sequence_parallel: bool = False
    pipeline: int = 1  # stages, each a run of layers
    virtual_stages: int = 1  # runs of layers of each stage, one after the other (interleaved 1F1B)
    context: int = 1  # ranks that share each sequence, keys and values going round (ring attention)
    expert: int = 1
    devices_per_node: int = 8  # devices joined by the fast link
    network: float = field(default=50e9)  # bytes/s in one direction between nodes, for one device
    overlap: float = 0.0  # share of the communication hidden behind compute, 0 to 1

    def __post_init__(self) -> None:
        if self.num_devices > MAX_DEVICES:  # a product, so the sentence names no field
            sentence = _("{devices:,} devices are more than any cluster has: at most {most:,}.")
            raise ValueError(sentence.format(devices=self.num_devices, most=MAX_DEVICES))
        for name in _WHOLE_NUMBERS:
            check_range(name, getattr(self, name), 1, MAX_DEVICES)
        check_range("zero_stage", self.zero_stage, 0, 3)
        check_range("overlap", self.overlap, 0, 1)
        check_range("network", self.network, 0, 1e15)
        for problem in self._problems():
            raise ValueError(problem)

    def _problems(self) -> Iterator[str]:
        if self.num_devices % self.ranks_of_a_replica:
            values = {
                "devices": self.num_devices, "tensor": self.tensor, "pipeline": self.pipeline,
                "context": self.context, "product": self.ranks_of_a_replica,
            }  # fmt: skip
            sentence = _(
                "{devices} devices cannot be split into {tensor} tensor-parallel ranks times "
                "{pipeline} pipeline stages; take a multiple of {product}."
            )
            if self.context > 1:
                sentence = _(
                    "{devices} devices cannot be split into {tensor} tensor-parallel ranks times "
                    "{pipeline} pipeline stages times {context} context-parallel ranks; take a "
                    "multiple of {product}."
                )
            yield sentence.format(**values)
        if self.weight_ranks % self.expert:
            yield _(
                "{expert} expert-parallel ranks cannot be taken from {data} data-parallel "
                "ranks; their number must be a multiple of {expert}."
            ).format(expert=self.expert, data=self.weight_ranks)
        if self.virtual_stages > 1 and self.pipeline == 1:
            yield _(
                "{count} virtual stages need a pipeline; take at least 2 pipeline stages."
            ).format(count=self.virtual_stages)

    @property
    def ranks_of_a_replica(self) -> int:
        """Ranks that work on the same sequences."""
        return self.tensor * self.pipeline * self.context

    @property
    def group_size(self) -> int:
        """Devices of the smallest cluster that is split like this; experts need data ranks too."""
        return self.ranks_of_a_replica * (self.expert // gcd(self.expert, self.context))

    @property
    def data(self) -> int:
        """Replicas that see different data."""
        return self.num_devices // self.ranks_of_a_replica

    @property
    def weight_ranks(self) -> int:
        """Ranks that hold the same weights, or over which ZeRO shards them: data and context."""
        return self.data * self.context


def peak_of(device: DeviceSpec, precision: str) -> float:
    """Return the dense FLOP/s of a device for the products of a recipe.

    Raises:
        ValueError: If the device's peak is not known.
    """
    return device.peak[product_dtype(device, precision)]


def product_dtype(device: DeviceSpec, precision: str) -> str:
    """Return the dtype of the products of a recipe.

    That is bfloat16, or float16 where a device has no bfloat16; "fp32" means fp32 without TF32.

    Raises:
        ValueError: If the device's peak is not known.
    """
    wanted = ("float32",) if precision == "fp32" else ("bfloat16", "float16")
    for dtype in wanted:
        if device.peak.get(dtype):
            return dtype
    raise ValueError(
        _("{device} has no known peak for {dtype}; choose another device or another dtype.").format(
            device=device.name, dtype=wanted[0]
        )
    )


def pool(device: DeviceSpec, num_devices: int = 1) -> float:
    """Return the bytes that tensors can fill on so many devices together.

    Raises:
        ValueError: If there are no devices, or more than any cluster has.
    """
    check_range("num_devices", num_devices, 1, MAX_DEVICES)
    return num_devices * device.memory_usable
