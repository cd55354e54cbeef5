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
from core.budget.weights.stored import quantized_weights
from core.dtypes.blocks.storage import find_storage
from core.units import format_bytes

for storage in ({first}, {second}, find_storage("bfloat16")):
    weights = quantized_weights({num_params:_}, storage.fmt)
    print(storage.name, format_bytes(weights.amount, {unit!r}))
"""


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
    first, second = (storage.code for storage in case.pair)
    return Shown(
        headline=_("{model} weights: {parts}").format(model=model, parts=_(", ").join(parts)),
        charts=[Chart(picture=weight_bytes_picture(rows, look()), file_name="quantized-weights")],
        numbers=list(chosen.items()),
        widths=(4, 1),
        notes=case.chosen.notes(),
        code=CODE.format(first=first, second=second, num_params=MODELS[model], unit=look().unit),
    )
