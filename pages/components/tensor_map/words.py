"""Every word that the tensor map shows, in the reader's language; its JavaScript holds none."""

from typing import Final

from core.language import N_, _

WORDS: Final = {
    "steps": N_("Steps of the program"),
    "picture": N_(
        "The tensor above its storage. Arrow keys move along the last two dimensions, Page Up and "
        "Page Down along the third from the end, brackets go to the step before and behind."
    ),
    "axis": N_("dimension {axis}: stride {stride}"),
    "axis_short": N_("dim {axis}"),
    "stride_short": N_("stride {stride}"),
    "storage": N_("storage {key} · {size}"),
    "offset": N_("offset {offset}"),
    "sum": N_("[{index}] is stored at {sum} = {address}"),
    "sum_value": N_("[{index}] = {value} is stored at {sum} = {address}"),
    "no_element": N_("This tensor has no element."),
    "back": "‹",
    "back_label": N_("The element before"),
    "next": "›",
    "next_label": N_("The next element"),
    "play": "▶",
    "pause": "❚❚",
    "play_label": N_("Walk through all elements"),
    "svg": "SVG",
    "svg_label": N_("Save the picture as SVG"),
    "png": "PNG",
    "png_label": N_("Save the picture as PNG"),
}
KINDS: Final = {
    "given": N_("given"),
    "view": N_("view · 0 bytes copied"),
    "same": N_("the same tensor"),
    "copy": N_("copy · {size}"),
    "new": N_("new · {size}"),
}


def map_words() -> dict[str, str]:
    """Return the words of the map; some hold names in braces."""
    return {name: _(text) if any(map(str.isalpha, text)) else text for name, text in WORDS.items()}
