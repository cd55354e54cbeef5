"""The bytes of stored weights: the codes, the scales of their blocks, and what keeps 16 bits."""

from dataclasses import dataclass, replace
from typing import Final

from core.budget.check import check_choice
from core.budget.item import Formula, Item, Number, as_guessed, counted, total
from core.budget.share import Share, whole
from core.budget.weights.parameters import ParameterCounts, counts, share_counts
from core.dtypes.blocks.block_formats import BLOCK_FORMATS, BlockFormat
from core.dtypes.blocks.gguf_formats import GgufFormat
from core.dtypes.number_formats.format import Format
from core.dtypes.number_formats.table import FORMATS
from core.language import N_
from core.models.spec import ModelSpec

CODES: Final = Formula("ceil(num_params * element_bits / 8)")
SCALES: Final = Formula("ceil(num_params / block_size) * scale_bits // 8")
ZERO_POINTS: Final = Formula("ceil(ceil(num_params / block_size) * element_bits / 8)")
SECOND_LEVEL: Final = Formula(
    "ceil(num_params / (block_size * scales_per_block)) * scale_bits // 8"
)
BLOCKS: Final = Formula("ceil(num_params / block_size) * bytes_per_block")
OTHERS: Final = Formula("num_params * bits // 8")
STORED: Final = (*FORMATS, *BLOCK_FORMATS)

_SOURCE: Final = N_(
    "one code per parameter and one scale per block; what a whole tensor shares left out"
)
_QUANTIZED: Final = N_("matrices of the layers; embeddings, norms, biases and head apart")
_SIXTEEN: Final = N_("not quantized: they are small, or their errors hurt most")


@dataclass(frozen=True, kw_only=True, slots=True)
class Size:
    """A number of parameters: a model's own, or a round one.

    Attributes:
        word: What stands in the address: a key of the catalogue, or "7b".
        spec: The architecture; None for a round number.
    """

    word: str
    name: str
    num_params: int
    spec: ModelSpec | None = None


def size_of(word: str, spec: ModelSpec) -> Size:
    """Return the size of a model."""
    return Size(word=word, name=spec.name, num_params=counts(spec).total, spec=spec)


def num_in_format(size: Size, format_name: str, *, rest_in_16_bits: bool = True) -> int:
    """Return how many parameters `weights_in` stores in the format: the others keep 16 bits."""
    if size.spec is None or not rest_in_16_bits:
        return size.num_params
    return _num_quantized(size.spec, counts(size.spec), format_name)


def quantized_weights(num_params: int, fmt: Format | BlockFormat) -> Item:
    """Return the bytes of weights in a format, part by part: codes, scales, zero points.

    What a whole tensor or a row of it shares (4 bytes in some thousands) is left out, as in
    `BlockFormat.bits_per_value`.
    """
    if isinstance(fmt, GgufFormat):
        return total("weights", _gguf_parts(num_params, fmt), source=fmt.source)
    element = fmt.element if isinstance(fmt, BlockFormat) else fmt
    sizes: dict[str, Number] = {"num_params": num_params, "element_bits": element.bits}
    parts = [counted("codes", CODES, sizes, _SOURCE)]
    if isinstance(fmt, BlockFormat) and isinstance(fmt.block_size, int):
        sizes |= {"block_size": fmt.block_size, "scale_bits": fmt.scale.bits}
        parts.append(counted("scales", SCALES, sizes, _SOURCE))
        if not fmt.symmetric:
            parts.append(counted("zero points", ZERO_POINTS, sizes, _SOURCE))
        if fmt.double_quant:
            nested = {"scales_per_block": fmt.double_quant, "scale_bits": FORMATS["float32"].bits}
            second = counted("scales of the scales", SECOND_LEVEL, sizes | nested, _SOURCE)
            parts.append(second)
    return total("weights", parts, source=_SOURCE)


def _gguf_parts(num_params: int, fmt: GgufFormat) -> list[Item]:
    code_bytes = fmt.stored_size * fmt.element.bits // 8
    sizes = {"codes": code_bytes, "scales": fmt.stored_bytes - code_bytes}
    values = {"num_params": num_params, "block_size": fmt.stored_size}
    return [
        counted(name, BLOCKS, values | {"bytes_per_block": num_bytes}, fmt.source)
        for name, num_bytes in sizes.items()
    ]


def stored_format(name: str, fmt: str) -> Format | BlockFormat:
    """Return a plain format or a block format.

    Raises:
        ValueError: If there is none of that name; the sentence says what `name` can be.
    """
    check_choice(name, fmt, STORED)
    return BLOCK_FORMATS[fmt] if fmt in BLOCK_FORMATS else FORMATS[fmt]


def bits_per_value(weight_format: str) -> float:
    """Return the bits of one stored weight, its share of scales included.

    Raises:
        ValueError: If the format is unknown.
    """
    fmt = stored_format("weight_format", weight_format)
    return fmt.bits_per_value if isinstance(fmt, BlockFormat) else fmt.bits


def serving_share(spec: ModelSpec, tensor: int) -> Share:
    """Return what one of `tensor` devices holds."""
    return replace(whole(spec), tensor=tensor)


def serving_weights(spec: ModelSpec, weight_format: str = "bfloat16", tensor: int = 1) -> Item:
    """Return the bytes of the weights on one device: "matrices" (with scales) and "the rest".

    Raises:
        ValueError: If the format is unknown, or the heads cannot be split over the devices.
    """
    held = share_counts(spec, serving_share(spec, tensor))
    return as_guessed(stored_weights(spec, held, weight_format), spec)


def _num_quantized(spec: ModelSpec, held: ParameterCounts, weight_format: str) -> int:
    """Return how many weights a format holds: of MXFP4 as released those of the experts alone.

    Source: the modules_to_not_convert of gpt-oss's config.json; transformers' Mxfp4Config.
    """
    return held.experts if weight_format == "mxfp4" == spec.quantized else held.matrices


def stored_weights(spec: ModelSpec, held: ParameterCounts, weight_format: str) -> Item:
    """Return the bytes of what is held: matrices in the format, the rest in 16 bits.

    Raises:
        ValueError: If the format is unknown.
    """
    fmt = stored_format("weight_format", weight_format)
    in_format = _num_quantized(spec, held, weight_format)
    matrices = replace(quantized_weights(in_format, fmt), name="matrices", source=_QUANTIZED)
    values = {
        "num_params": held.total - in_format,
        "bits": 32 if weight_format == "float32" else 16,
    }
    rest = counted("the rest", OTHERS, values, _SIXTEEN)
    return total("weights", (matrices, rest), source=_QUANTIZED)


def weights_in(size: Size, format_name: str, *, rest_in_16_bits: bool = True) -> Item:
    """Return the bytes of a model's weights in a format, scales included.

    With `rest_in_16_bits` embeddings, head, norms and biases stay in 16 bits where the matrices
    have fewer, as in real checkpoints; a round number has no such parts.

    Raises:
        ValueError: If the format is unknown.
    """
    if size.spec is not None and rest_in_16_bits:
        return serving_weights(size.spec, format_name)
    fmt = BLOCK_FORMATS.get(format_name) or FORMATS.get(format_name)
    if fmt is None:
        raise ValueError(f"format {format_name!r} is none of FORMATS and BLOCK_FORMATS")
    stored = quantized_weights(size.num_params, fmt)
    return stored if size.spec is None else as_guessed(stored, size.spec)
