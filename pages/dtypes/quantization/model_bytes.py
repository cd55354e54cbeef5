"""What quantization saves: the bytes of 7, 13 and 70 billion weights, scales included."""

from typing import Final

from core.budget.weights.stored import quantized_weights
from core.dtypes import FORMATS
from core.figures.weight_bytes import weight_bytes_picture
from core.language import _
from pages.dtypes.quantization.inputs import ASK, Case
from pages.shared.settings import look
from pages.shared.tabbed_page import Chart, Shown

MODELS: Final = {"7B": 7 * 10**9, "13B": 13 * 10**9, "70B": 70 * 10**9}
REFERENCE: Final = "bfloat16"
CODE: Final = """
bits_per_value = {bits}  # with their share of the scale
for name, bits in bits_per_value.items():
    num_bytes = {num_params:_} * bits / 8
    print(name, f"{{num_bytes / {unit}:#.3g}}".rstrip("."), {name!r})
"""
_UNITS: Final = {"GiB": "2**30", "GB": "1e9"}


def choose_model() -> str:
    """Show the models and return the name of the chosen one."""
    return ASK.segmented("model", _("Model"), tuple(MODELS), default="7B")


def model_bytes(case: Case, model: str) -> Shown:
    """Show the weights of three models in both formats and in bfloat16."""
    formats = {storage.name: storage.fmt for storage in case.pair}
    formats[REFERENCE] = FORMATS[REFERENCE]
    items = {
        (size, name): quantized_weights(count, fmt)
        for size, count in MODELS.items()
        for name, fmt in formats.items()
    }
    chosen = {name: items[model, name] for name in formats}
    parts = [f"`{name}` {look().format_bytes(item.amount)}" for name, item in chosen.items()]
    rows = [(f"{size} · {name}", item) for (size, name), item in items.items()]
    bits = {storage.name: storage.bits_per_value for storage in case.pair}
    bits[REFERENCE] = FORMATS[REFERENCE].bits
    return Shown(
        headline=_("{model} weights: {parts}").format(model=model, parts=_(", ").join(parts)),
        charts=[Chart(picture=weight_bytes_picture(rows, look()), file_name="quantized-weights")],
        numbers=list(chosen.items()),
        widths=(4, 1),
        notes=case.chosen.notes(),
        code=CODE.format(
            bits=bits, num_params=MODELS[model], unit=_UNITS[look().unit], name=look().unit
        ),
    )
