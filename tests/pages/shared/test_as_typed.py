"""Foreign words within our sentences."""

from pages.shared.as_typed import as_typed


def test_what_markdown_would_read_is_shown_as_it_is():
    assert as_typed("w_0.*.npy: `[a](b)`") == r"w\_0.\*.npy: \`\[a\]\(b\)\`"
    assert as_typed("权重 × 3, 5") == "权重 × 3, 5"
