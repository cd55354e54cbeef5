"""Which chip computes in which number format: one row a chip, one cell a format, with its source.

What no document says is "unknown" and stays so.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, Literal, get_args

from core.language import N_

Status = Literal["matrix", "vector", "converted", "no", "unknown"]
STATUSES: Final[tuple[Status, ...]] = get_args(Status)
STATUS_WORDS: Final[Mapping[Status, str]] = {
    "matrix": N_("matrix units"),
    "vector": N_("ordinary units"),
    "converted": N_("stored, then converted"),
    "no": N_("no"),
    "unknown": N_("unknown"),
}
# A column of the table: what people call it, and the formats here that it is about.
COLUMNS: Final[Mapping[str, tuple[str, ...]]] = {
    "FP64": ("float64",),
    "FP32": ("float32",),
    "TF32": ("tf32",),
    "FP16": ("float16",),
    "BF16": ("bfloat16",),
    "FP8": ("float8_e4m3fn", "float8_e5m2"),
    "FNUZ": ("float8_e4m3fnuz", "float8_e5m2fnuz"),
    "FP6": ("float6_e2m3fn", "float6_e3m2fn"),
    "FP4": ("float4_e2m1fn",),
    "MX": ("float8_e8m0fnu",),
    "NVFP4": (),
    "INT8": ("int8", "uint8"),
    "INT4": ("int4", "uint4"),
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Source:
    """Where a cell comes from.

    Attributes:
        title: What was read, with the section or table.
        address: Where it is, or "" for what was tried here.
        date: When it was written, or read where it bears no date.
    """

    title: str
    address: str
    date: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Cell:
    """What one chip does with one format.

    Attributes:
        status: "matrix": multiplied in units for matrices; "vector": computed in the ordinary
            units; "converted": stored, and turned into another format before computing.
        source: Where that is written; None only where the status is "unknown".
        note: A sentence to be translated, or "".
    """

    status: Status
    source: Source | None
    note: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Chip:
    """One row: a chip, and a cell for every column of `COLUMNS`.

    Attributes:
        architecture: NVIDIA's compute capability, AMD's or Intel's architecture.
    """

    name: str
    year: int
    architecture: str
    cells: Mapping[str, Cell]

    def status(self, column: str) -> Status:
        """Return what the chip does with the formats of a column."""
        return self.cells[column].status


def column_of(format_name: str) -> str | None:
    """Return the column that a format belongs to; None where no chip was ever built for it.

    >>> column_of("float8_e5m2"), column_of("nf4")
    ('FP8', None)
    """
    return next((name for name, formats in COLUMNS.items() if format_name in formats), None)


_CUDA: Final = Source(
    title="CUDA Programming Guide, compute capabilities, table 33: tensor core input data types",
    address="https://docs.nvidia.com/cuda/cuda-programming-guide/05-appendices/compute-capabilities.html",
    date="read 2026-11",
)
_CUDA_CORES: Final = Source(
    title="CUDA C++ Programming Guide 12, arithmetic instructions: throughput of FP32 and FP64",
    address="https://docs.nvidia.com/cuda/archive/12.8.0/cuda-c-programming-guide/",
    date="2025-01",
)
_PTX: Final = Source(
    title="PTX ISA 8.7: alternate floating-point data formats, dp4a",
    address="https://docs.nvidia.com/cuda/archive/12.8.0/parallel-thread-execution/",
    date="2025-01",
)
_VOLTA: Final = Source(
    title="NVIDIA Tesla V100 GPU Architecture, WP-08608: tensor cores take FP16",
    address="https://images.nvidia.com/content/volta-architecture/pdf/volta-architecture-whitepaper.pdf",
    date="2017-08",
)
_CUTLASS: Final = Source(
    title="CUTLASS, Blackwell functionality: SM100 and SM120 GEMMs, block scaled",
    address="https://docs.nvidia.com/cutlass/media/docs/cpp/blackwell_functionality.html",
    date="read 2026-11",
)
_ROCM: Final = Source(
    title="ROCm, data types and precision support: HIP types, matrix core support",
    address="https://rocm.docs.amd.com/en/latest/reference/precision-support.html",
    date="2025-10-30",
)
_CDNA4: Final = Source(
    title="Modular, Mojo: MXFP4 matmul by CDNA 4's scaled MFMA instructions",
    address="https://docs.modular.com/mojo/kernels/linalg/matmul/gpu/amd/mxfp4_matmul_amd",
    date="read 2026-11",
)
_GFX950: Final = Source(
    title="ROCm/hipBLASLt PR #1806: TF32 of gfx950 made of several BF16 products",
    address="https://github.com/ROCm/hipBLASLt/pull/1806",
    date="2025-03-23",
)
_TPU: Final = Source(
    title="Google Cloud TPU v6e: peak compute per chip of v5e and v6e",
    address="https://docs.cloud.google.com/tpu/docs/v6e",
    date="read 2026-11",
)
_TPU_FLOATS: Final = Source(
    title="Google Cloud TPU, bfloat16: float32 is multiplied as bfloat16, accumulated as float32",
    address="https://cloud.google.com/tpu/docs/bfloat16",
    date="read 2026-11",
)
_METAL: Final = Source(
    title="Apple, Metal Shading Language Specification: SIMD-group matrices of half and float",
    address="https://developer.apple.com/metal/Metal-Shading-Language-Specification.pdf",
    date="version 3.1, 2023",
)
_MPS_DOUBLE: Final = Source(
    title="pytorch/pytorch PR #193545: Metal has no double",
    address="https://github.com/pytorch/pytorch/pull/193545",
    date="2026-08-14",
)
_MPS_FLOAT8: Final = Source(
    title="pytorch/pytorch issue #148420: MPS does not take float8",
    address="https://github.com/pytorch/pytorch/issues/148420",
    date="2025-03-04, still so 2026-06",
)
_INTEL: Final = Source(
    title="Intel 64 and IA-32 Software Developer's Manual: AVX2, F16C, AVX-512 FP16, AMX",
    address="https://www.intel.com/content/www/us/en/developer/articles/technical/intel-sdm.html",
    date="2023 edition",
)
_TORCH: Final = Source(
    title="torch 2.13 on a CPU: casts and matmul tried by this program",
    address="",
    date="2026-11",
)
_NO_4_BITS: Final = N_("Not in the tensor cores any more; 4-bit weights are widened first.")
_TE_LAYOUTS: Final = N_(
    "Transformer Engine refuses MXFP8 training here: not every matrix layout is supported."
)
_BF16_APPLE: Final = N_(
    "torch takes it since macOS 14; which chips compute it natively is not documented."
)
_BY_BF16: Final = N_("No TF32 units any more: a matmul is put together from several in BF16.")
_BY_TORCH: Final = N_("torch widens it to float32, multiplies, and rounds the result once.")
Found = dict[str, Cell]


def _all(status: Status, source: Source, columns: str, note: str = "") -> Found:
    cell = Cell(status=status, source=source, note=note)
    return {column.strip(): cell for column in columns.split(",")}


def _chip(name: str, year: int, architecture: str, *cells: Found) -> Chip:
    found: Found = {column: Cell(status="unknown", source=None) for column in COLUMNS}
    for each in cells:
        found |= each
    return Chip(name=name, year=year, architecture=architecture, cells=MappingProxyType(found))


_NVIDIA_ORDINARY: Final = _all("vector", _CUDA_CORES, "FP64, FP32")
_NO_FNUZ: Final = _all("no", _PTX, "FNUZ")
_NO_BLOCKS: Final = _all("no", _CUDA, "FP6, FP4") | _all("no", _CUTLASS, "MX, NVFP4")
_NO_INT4: Final = _all("no", _CUDA, "INT4", _NO_4_BITS)

HARDWARE: Final[tuple[Chip, ...]] = (
    _chip(
        "V100", 2017, "7.0", _NVIDIA_ORDINARY, _NO_FNUZ, _NO_BLOCKS,
        _all("matrix", _VOLTA, "FP16"),
        _all("no", _VOLTA, "TF32, BF16, FP8, INT4"),
        _all("vector", _PTX, "INT8"),
    ),
    _chip(
        "T4", 2018, "7.5", _NVIDIA_ORDINARY, _NO_FNUZ, _NO_BLOCKS,
        _all("matrix", _CUDA, "FP16, INT8, INT4"),
        _all("no", _CUDA, "TF32, BF16, FP8"),
    ),
    _chip(
        "A100", 2020, "8.0", _NVIDIA_ORDINARY, _NO_FNUZ, _NO_BLOCKS,
        _all("matrix", _CUDA, "FP64, TF32, FP16, BF16, INT8, INT4"),
        _all("no", _CUDA, "FP8"),
    ),
    _chip(
        "RTX 4090 (Ada)", 2022, "8.9", _NVIDIA_ORDINARY, _NO_FNUZ, _NO_BLOCKS,
        _all("matrix", _CUDA, "TF32, FP16, BF16, FP8, INT8, INT4"),
    ),
    _chip(
        "H100, H200", 2022, "9.0", _NVIDIA_ORDINARY, _NO_FNUZ, _NO_BLOCKS, _NO_INT4,
        _all("matrix", _CUDA, "FP64, TF32, FP16, BF16, FP8, INT8"),
    ),
    _chip(
        "B200", 2024, "10.0", _NVIDIA_ORDINARY, _NO_FNUZ, _NO_INT4,
        _all("matrix", _CUDA, "FP64, TF32, FP16, BF16, FP8, FP6, FP4, INT8"),
        _all("matrix", _CUTLASS, "MX, NVFP4"),
    ),
    _chip(
        "RTX 5090 (Blackwell)", 2025, "12.0", _NVIDIA_ORDINARY, _NO_FNUZ, _NO_INT4,
        _all("matrix", _CUDA, "TF32, FP16, BF16, FP8, FP6, FP4, INT8"),
        _all("matrix", _CUTLASS, "NVFP4"),
        _all("matrix", _CUTLASS, "MX", _TE_LAYOUTS),
    ),
    _chip(
        "MI300X", 2023, "CDNA 3",
        _all("matrix", _ROCM, "FP64, FP32, TF32, FP16, BF16, FNUZ, INT8"),
        _all("no", _ROCM, "FP8, FP6, FP4"),
    ),
    _chip(
        "MI355X", 2025, "CDNA 4",
        _all("matrix", _ROCM, "FP64, FP32, FP16, BF16, FP8, FP6, FP4, INT8"),
        _all("converted", _GFX950, "TF32", _BY_BF16),
        _all("no", _ROCM, "FNUZ"),
        _all("matrix", _CDNA4, "MX"),
    ),
    _chip(
        "TPU v5e", 2023, "TPU",
        _all("matrix", _TPU, "BF16, INT8"), _all("converted", _TPU_FLOATS, "FP32"),
    ),
    _chip(
        "TPU v6e", 2024, "TPU",
        _all("matrix", _TPU, "BF16, INT8"), _all("converted", _TPU_FLOATS, "FP32"),
    ),
    _chip(
        "Apple M (MPS)", 2020, "Metal",
        _all("matrix", _METAL, "FP32, FP16"),
        _all("no", _MPS_DOUBLE, "FP64"),
        _all("no", _MPS_FLOAT8, "FP8"),
        {"BF16": Cell(status="unknown", source=None, note=_BF16_APPLE)},
    ),
    _chip(
        "x86 with AMX", 2023, "Sapphire Rapids",
        _all("matrix", _INTEL, "BF16, INT8"),
        _all("vector", _INTEL, "FP64, FP32, FP16"),
        _all("converted", _TORCH, "FP8, FNUZ", _BY_TORCH),
    ),
    _chip(
        "x86 with AVX2", 2013, "Haswell",
        _all("vector", _INTEL, "FP64, FP32, INT8"),
        _all("converted", _INTEL, "FP16"),
        _all("converted", _TORCH, "BF16, FP8, FNUZ", _BY_TORCH),
    ),
)  # fmt: skip
