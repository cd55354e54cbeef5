"""Every word that the moving bytes show; their JavaScript holds none."""

from typing import Final

from core.language import N_, _

WORDS: Final = {
    "picture": N_(
        "Devices and the links between them. Arrow keys left and right go from step to step, up "
        "and down from device to device, space plays."
    ),
    "turn": N_("step {turn} of {count}: {phase}"),
    "message": N_("{size} in each message"),
    "end": N_("done"),
    "timeline": N_("Step of the collective"),
    "back": "‹",
    "back_label": N_("The step before"),
    "next": "›",
    "next_label": N_("The next step"),
    "play": "▶",
    "pause": "❚❚",
    "play_label": N_("Let the bytes move"),
    "speed": "{speed}×",
    "speed_label": N_("Speed"),
    "svg": "SVG",
    "svg_label": N_("Save the picture as SVG"),
    "png": "PNG",
    "png_label": N_("Save the picture as PNG"),
}
_SIGNS: Final = {"back", "next", "play", "pause", "speed", "svg", "png"}


def moving_words() -> dict[str, str]:
    """Return the words of the picture; some hold names in braces."""
    return {name: text if name in _SIGNS else _(text) for name, text in WORDS.items()}
