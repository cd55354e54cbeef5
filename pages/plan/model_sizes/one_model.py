"""One model in every format, against the memory of the chosen device and of others."""

from collections.abc import Mapping, Sequence
from typing import Final

from core.budget.item import Item, hedged
from core.budget.weights.packed import packed_weights, read_packed
from core.budget.weights.published import REASONS
from core.budget.weights.stored import bits_per_value, num_in_format, weights_in
from core.figures.budget.model_sizes.one_model import Line, one_model_picture, verdict
from core.language import _
from core.units import format_exact
from pages.plan.model_sizes.inputs import DEFAULT_FORMAT, Case, landmarks
from pages.shared.beside import Compared, shown
from pages.shared.settings import look
from pages.shared.tabbed_page import Chart, Shown

CODE: Final = """
num_params = {num_params:_}
# Format -> how many weights it holds (the others stay in 16 bits, in 32 beside float32), and the
# bits of each, scales included.
formats = {formats}

for name, (num_in_format, bits) in formats.items():
    other_bits = 32 if name == "float32" else 16
    num_bytes = (num_in_format * bits + (num_params - num_in_format) * other_bits) / 8
    print(f"{{name:18}} {{num_bytes / 2**30:10.2f}} GiB")
"""
_EXPLAINED: Final = ("bfloat16", "int8_channel", "int4_group128")


def one_model(case: Case) -> Shown:
    """Show the bytes of the model's weights, format by format."""
    items = {name: _weights(case, name) for name in case.formats}
    own = dict(items)
    packed, refusal = packed_in(case)
    items |= packed
    picture = one_model_picture(case.size.name, items, case.line, landmarks(), look())
    return Shown(
        headline=sentence(case, own) + as_its_config_says(packed),
        charts=[Chart(picture=picture, file_name="model-bytes")],
        numbers=[(name, items[name]) for name in (*_explained(case), *packed)],
        notes=[*beyond_notes(case), *refusal],
        code=_code(case, case.formats)
        + "".join(
            f'print(f"{name:18} {{({item.python}) / 2**30:10.2f}} GiB")\n'
            for name, item in packed.items()
        ),
    )


def _weights(case: Case, name: str) -> Item:
    return weights_in(case.size, name, rest_in_16_bits=case.rest_in_16_bits)


def _explained(case: Case) -> Sequence[str]:
    """Return the formats whose bytes stand beside the picture: three of the usual, or the first."""
    wanted = dict.fromkeys((case.format, *_EXPLAINED))
    return [name for name in wanted if name in case.formats][:3] or case.formats[:3]


def _code(case: Case, formats: Sequence[str]) -> str:
    rest = case.rest_in_16_bits
    held = {
        name: (num_in_format(case.size, name, rest_in_16_bits=rest), bits_per_value(name))
        for name in formats
    }
    return CODE.format(num_params=case.size.num_params, formats=held)


def two_models(a: Sequence[Case], b: Sequence[Case]) -> Shown:
    """Show two models, each in its format, then both in the formats of the picture."""
    return shown(*(_side(case, b[0].formats) for case in (*a, *b)))


def _side(case: Case, formats: Sequence[str]) -> Compared:
    chosen = _weights(case, case.format)
    rows = [(name, _weights(case, name)) for name in formats]
    return Compared(
        name=_("{model} in {format}").format(model=case.size.name, format=case.format),
        rows=[(_("chosen format"), chosen), *rows],
        verdict=verdict(chosen, case.line),
        code=_code(case, [case.format]),
    )


def packed_in(case: Case) -> tuple[dict[str, Item], tuple[str, ...]]:
    """Return the weights as the quantization_config of the reader's file says, or why not."""
    if not case.config or case.size.spec is None:
        return {}, ()
    try:
        packed = read_packed(case.config)
        return ({packed.name: packed_weights(case.size.spec, packed)} if packed else {}), ()
    except ValueError as error:
        return {}, (str(error),)


def as_its_config_says(packed: Mapping[str, Item]) -> str:
    """Return the bytes of the file that the reader's config.json stands beside, if it is packed."""
    return "".join(
        _("; as its quantization_config says ({format}): {memory}").format(
            format=name, memory=hedged(look().format_bytes(item.amount), item)
        )
        for name, item in packed.items()
    )


def beyond_notes(case: Case) -> list[str]:
    """Return what the published files of the model hold beside what is counted, if anything."""
    spec = case.size.spec
    if spec is None or not spec.beyond:
        return []
    parts = [
        _("{count} for {reason}").format(
            count=format_exact(part.num_params), reason=_(REASONS[part.reason])
        )
        for part in spec.beyond
    ]
    return [
        _(
            "Its published files hold {published} parameters; those not counted here: {parts}."
        ).format(published=format_exact(spec.published), parts=_("; ").join(parts))
    ]


def sentence(case: Case, items: Mapping[str, Item]) -> str:
    """Return the weights in the chosen format, and the widest format that fits."""
    if case.format == DEFAULT_FORMAT:
        first = _("The weights of {model} take {bytes} in {format}: {count} × 2 bytes")
    else:
        first = _("The weights of {model} take {bytes} in {format}")
    weights = _weights(case, case.format)
    first = first.format(
        model=case.size.name,
        format=case.format,
        count=format_exact(case.size.num_params),
        bytes=hedged(look().format_bytes(weights.amount), weights),
    )
    return first + _("; ") + what_fits(case.line, items)


def what_fits(line: Line, items: Mapping[str, Item]) -> str:
    """Return which formats a memory holds, and the widest of them; of a guess, what it may."""
    widest_first = sorted(items.items(), key=lambda each: -each[1].amount)
    fitting = [name for name, item in widest_first if item.amount <= line.num_bytes]
    is_guess = any(line.holds(item) == "close" for item in items.values())
    if not fitting and is_guess:
        fits = _("{device} ({memory}) may hold none of these formats")
    elif not fitting:
        fits = _("{device} ({memory}) holds none of these formats")
    elif is_guess:
        fits = _("{device} ({memory}) may hold {format} and narrower")
    elif len(fitting) == len(items):
        fits = _("{device} ({memory}) holds every format")
    else:
        fits = _("{device} ({memory}) holds {format} and narrower")
    return fits.format(
        device=line.name,
        memory=look().format_bytes(line.num_bytes),
        format=fitting[0] if fitting else "",
    )
