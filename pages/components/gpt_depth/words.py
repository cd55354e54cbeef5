"""Every word that the picture of a model's depth shows; its JavaScript holds none."""

from typing import Final

from core.language import N_, _
from core.units import in_percent

WORDS: Final = {
    "text": N_("Your text"),
    "empty": N_("Type a text here: every key runs the model."),
    "bars": N_("Next token"),
    "svg": "SVG",
    "svg_label": N_("Save the picture as SVG"),
    "png": "PNG",
    "png_label": N_("Save the picture as PNG"),
    "share": N_("“{token}” {share}"),
    "comma": N_(", "),
    "legend": N_(
        "A row: what the model would say next after this block. The stronger the color, the more "
        "likely; underlined: right."
    ),
    "sentence": N_(
        "“{token}” looks at {looks} ({attention}). After {row}, next is “{said}”, {share}."
    ),
}


def depth_words() -> dict[str, str]:
    """Return the words of the picture; some hold names in braces."""
    return {name: _(text) for name, text in WORDS.items()} | {"percent": in_percent("{number}")}
