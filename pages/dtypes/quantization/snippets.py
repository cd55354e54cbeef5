"""Python that prints a headline: numpy and torch where they can say it, core for the rest.

Integers under a scale are a division, a rounding and a product. MX, NVFP4 and NF4 have rules that
fill a room, and a file or a run is read by core as well.
"""

from collections.abc import Mapping
from typing import Final

from core.dtypes.blocks.block_formats import BlockFormat
from core.dtypes.blocks.block_layout import PER_CHANNEL, PER_TENSOR, BlockSize
from core.dtypes.blocks.gguf_formats import GgufFormat
from core.dtypes.blocks.storage import Storage
from pages.dtypes.quantization.inputs import Case

FIND: Final = "from core.dtypes.blocks.storage import find_storage"
INTEGERS: Final = """

def integers(x, bits, group_size, scale_dtype):
    largest, columns = 2 ** (bits - 1) - 1, x.shape[1]
    groups = np.pad(x, ((0, 0), (0, -columns % group_size))).reshape(len(x), -1, group_size)
    scales = (np.abs(groups).max(axis=-1, keepdims=True) / largest).astype(scale_dtype)
    codes = np.clip(np.rint(groups / scales), -largest, largest)
    return (codes * scales).reshape(len(x), -1)[:, :columns]

"""
COMPARED: Final = """
for name, bits, restored in (
    {first},
    {second},
):
    error = restored - x
    {told}
"""
QUALITY: Final = """rms = np.sqrt((error**2).mean() / (x**2).mean())
    print(f"{name}: {100 * rms:.3g} % (SQNR {-20 * np.log10(rms):.1f} dB) at {bits:.4g} bits")"""
CORE_COMPARED: Final = """
for storage in ({first}, {second}):
    stats = storage.store(x).stats
    {told}
"""
CORE_QUALITY: Final = """bits, error = storage.bits_per_value, 100 * stats.relative_rmse
    print(f"{storage.name}: {error:.3g} % (SQNR {stats.sqnr_db:.1f} dB) at {bits:.4g} bits")
    print(f"  lost: {100 * stats.lost_share:.3g} %")"""
_TORCH: Final = ("float16", "bfloat16", "float8_e4m3fn", "float8_e5m2")
_SCALES: Final[Mapping[str, str]] = {"float16": "np.float16", "float32": "np.float32"}


def quality_code(case: Case, *, is_whole: bool) -> str:
    """Return Python for how much A and B lose; `is_whole` says that all values came back."""
    chosen = case.chosen
    if not (chosen.plain and is_whole):
        first, second = (storage.code for storage in case.pair)
        head = "\n".join(sorted({FIND, *chosen.imports})) + f"\n\nx = {chosen.code}\n"
        return head + CORE_COMPARED.format(first=first, second=second, told=CORE_QUALITY)
    calls = [_restored(storage) for storage in case.pair]
    first, second = (
        f'("{storage.name}", {storage.bits_per_value}, {call})'
        for storage, call in zip(case.pair, calls, strict=True)
    )
    function = INTEGERS if any(call.startswith("integers") for call in calls) else ""
    head = "import numpy as np"
    head += "\nimport torch" if any("torch" in call for call in calls) else ""
    head += f"\n\n{FIND}" if any("find_storage" in call for call in calls) else ""
    body = COMPARED.format(first=first, second=second, told=QUALITY)
    return f"{head}\n{function}\n{chosen.plain}\n{body}"


def _restored(storage: Storage) -> str:
    if storage.name in _TORCH:
        return f"torch.tensor(x).to(torch.{storage.name}).double().numpy()"
    fmt = storage.fmt
    if isinstance(fmt, GgufFormat):
        return f"{storage.code}.round(x)"
    if isinstance(fmt, BlockFormat) and fmt.element.name in {"int8", "int4"}:
        return _integers(fmt.element.bits, fmt.block_size, _SCALES[fmt.scale.name])
    return f"{storage.code}.round(x)"


def _integers(bits: int, size: BlockSize, scale: str) -> str:
    if size == PER_TENSOR:
        return f"integers(x.reshape(1, -1), {bits}, x.size, {scale}).reshape(x.shape)"
    group = "x.shape[1]" if size == PER_CHANNEL else size
    return f"integers(x, {bits}, {group}, {scale})"
