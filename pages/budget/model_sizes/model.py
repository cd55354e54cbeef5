"""One model in every format, against the memory of the chosen device and of others."""

from collections.abc import Mapping
from typing import Final

from core.budget.catalogue.sizes import FORMAT_NAMES, weights_in
from core.figures.budget.model_sizes.model_bytes import bars_figure
from core.figures.budget.model_sizes.weight_words import bars_alt, bars_table
from core.language import _
from core.units import format_bytes, format_exact
from pages.budget.model_sizes.inputs import PAGE, Case, landmarks
from pages.shared.budget.beside import beside
from pages.shared.charts import show_chart
from pages.shared.header import headline
from pages.shared.numbers import explained_number
from pages.shared.settings import presenting, theme_mode, unit_system

CODE: Final = """
from core.budget.catalogue.hf_config import read_config
from core.budget.catalogue.sizes import FORMAT_NAMES, SIZES, size_of, weights_in

size = {size}
print(f"{{size.name}}: {{size.num_params:,}} parameters")
for name in FORMAT_NAMES:
    weights = weights_in(size, name, rest_in_16_bits={rest})
    print(f"{{name:18}} {{weights.amount / 2**30:10.2f}} GiB = {{weights.substituted}} bytes")
"""
_EXPLAINED: Final = ("bfloat16", "int8_channel", "int4_group128")


def show_model(case: Case) -> str:
    """Show the bytes of the model's weights, format by format, and return Python for them."""
    items = {
        name: weights_in(case.size, name, rest_in_16_bits=case.rest_in_16_bits)
        for name in FORMAT_NAMES
    }
    rows, unit = list(items.items()), unit_system()
    headline(model_headline(case, {name: item.amount for name, item in rows}))
    picture, numbers = beside(f"{PAGE}_model")
    with picture:
        show_chart(
            bars_figure(rows, case.line, landmarks(), unit, theme_mode(), present=presenting()),
            key=f"{PAGE}_model_bytes",
            alt=bars_alt(case.size.name, rows, case.line, unit),
            table=bars_table(rows, case.line, unit),
            file_name="model-bytes",
        )
    with numbers:
        for name in _EXPLAINED:
            explained_number(f"`{name}`", items[name])
    return CODE.format(size=case.code, rest=case.rest_in_16_bits)


def model_headline(case: Case, amounts: Mapping[str, float]) -> str:
    """Return the sentence: the weights in bfloat16, and the widest format that fits."""
    unit = unit_system()
    fitting = [name for name, amount in amounts.items() if amount <= case.line.num_bytes]
    if not fitting:
        fits = _("{device} ({memory}) holds them in none of these formats")
    elif len(fitting) == len(amounts):
        fits = _("{device} ({memory}) holds them in every format")
    else:
        fits = _("{device} ({memory}) holds them in {format} and narrower")
    first = _("{model}: {count} weights, {bf16} in bfloat16").format(
        model=case.size.name,
        count=format_exact(case.size.num_params),
        bf16=format_bytes(amounts["bfloat16"], unit),
    )
    second = fits.format(
        device=case.line.name,
        memory=format_bytes(case.line.num_bytes, unit),
        format=f"`{fitting[0]}`" if fitting else "",
    )
    return first + _("; ") + second
