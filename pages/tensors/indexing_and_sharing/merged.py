"""Heads merged with and without the transpose: both run, one is wrong."""

from core.figures.tensors.indexing_and_sharing.heads import heads_picture
from core.language import _
from core.tensors.merged_heads import merge_cost, merge_heads
from pages.shared.settings import look
from pages.shared.tabbed_page import Chart, Shown
from pages.shared.tensors.table_cells import size_text
from pages.tensors.indexing_and_sharing.maps import aside

GPT_2 = {"batch": 2, "num_heads": 12, "num_tokens": 128, "head_dim": 64}


def merged(lengths: tuple[int, int, int]) -> Shown:
    """Draw both merges of a small attention."""
    tokens, heads, head_dim = lengths
    both = merge_heads(tokens, heads, head_dim)
    headline = _("reshape without transpose misplaces {count} of {total} elements")
    if not both.num_displaced:
        headline = _("Here both agree: 0 of {total} elements are misplaced")
    notes = [
        _("q has the shape (B, H, T, D) = (1, {heads}, {tokens}, {dim}). Both merges give "
          "(1, {tokens}, {width}) and no error; {mixed} rows of the second mix tokens.").format(
            heads=heads, tokens=tokens, dim=head_dim, width=len(both.right[0]),
            mixed=both.num_mixed_rows),
        _("The right one copies {size}; with the sizes of GPT-2, (2, 12, 128, 64) in float32, "
          "{large:,} B. The wrong one is a view: it is also the cheaper one.").format(
            size=size_text(both.bytes_copied), large=merge_cost(**GPT_2)),
    ]  # fmt: skip
    return Shown(
        headline=headline.format(count=both.num_displaced, total=both.num_elements),
        charts=[Chart(picture=heads_picture(both, look()), file_name="merged-heads")],
        notes=aside(notes),
        code=_snippet(tokens, heads, head_dim),
    )


def _snippet(tokens: int, heads: int, head_dim: int) -> str:
    return f"""
import torch

B, H, T, D = 1, {heads}, {tokens}, {head_dim}
q = torch.arange(B * H * T * D).view(B, H, T, D)
right = q.transpose(1, 2).reshape(B, T, H * D)
wrong = q.reshape(B, T, H * D)
print(int((right != wrong).sum()), "of", q.numel(), "elements misplaced")
"""
