"""How dark a character is; contrast of the text over the darkest."""

from core.figures.theme import COLORS
from core.figures.train.live_run.surprise import MOST_BITS, STRONGEST, mean_surprise, shade


def luminance(color):
    parts = [
        value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4 for value in color
    ]
    return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), parts, strict=True))


def channels(name):
    return [int(name[start : start + 2], 16) / 255 for start in (1, 3, 5)]


def test_a_shade_grows_with_the_bits_up_to_its_strongest():
    shades = [shade(bits) for bits in (0, 1, 2, MOST_BITS, 100)]
    assert shades == sorted(shades)
    assert shades[0] == 0
    assert shades[-1] == shades[-2] == STRONGEST
    assert shade(None) == shade(-1.0) == 0


def test_text_over_the_strongest_shade_has_a_contrast_of_four_and_a_half():
    for mode, color in COLORS.items():
        ink, paper, tint = (channels(color[name]) for name in ("text", "surface", "surprise"))
        mixed = [STRONGEST * t + (1 - STRONGEST) * p for t, p in zip(tint, paper, strict=True)]
        low, high = sorted([luminance(ink), luminance(mixed)])
        assert (high + 0.05) / (low + 0.05) >= 4.5, mode


def test_the_mean_counts_characters_and_not_tokens():
    assert mean_surprise([["ab", 6.0, []], ["中", 24.0, []]]) == 10.0
    assert mean_surprise([["a", None, []]]) == 0.0
    assert mean_surprise([]) is None
