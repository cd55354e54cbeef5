"""Cards on shapes, views and masks."""

from typing import Final

from core.bugs.card import Card
from core.language import N_

_VIEW: Final = "x = torch.arange(24).view(4, 6)[:, :3]\n"
_FLAT: Final = "x = torch.arange(6).view(2, 3)\n"
_ONES: Final = "x = torch.ones(2, 3, 4)\n"
_HEADS: Final = """attention = nn.MultiheadAttention(4, num_heads=1, batch_first=True)
x, keep = torch.randn(1, 4, 4), torch.ones(4, 4).tril().bool()
_, weights = attention(x, x, x, attn_mask={mask})
weights[0, 0, 0].item()"""

CARDS: Final = (
    Card(
        key="view-or-reshape",
        subject="tensors",
        level=1,
        title=N_("view with the comment reshape"),
        claim=N_("A tutorial writes `.view(6)  # reshape` and expects the shape {wrong}."),
        wrong=_FLAT + "tuple(x.t().reshape(6).shape)",
        right=_FLAT + "tuple(x.t().view(6).shape)  # reshape",
        other=_FLAT + "tuple(x.t().shape)",
        why_other=N_("That is the shape of x.t() itself."),
        why=N_(
            "`view` never copies. No single stride walks the transposed tensor row by row, so "
            "torch refuses; `reshape` copies where it has to."
        ),
        shows="right",
        page="tensors/strides_and_views",
        query=(("strides_tab", "why"),),
        concepts=("C33",),
    ),
    Card(
        key="mean-becomes-sum",
        subject="tensors",
        level=1,
        title=N_("A mean in the words of einops"),
        claim=N_(
            'A lecture replaces `x.mean(dim=-1)` by einops, "the same in words": {wrong} each.'
        ),
        wrong=_ONES + "x.mean(dim=-1)[0, 0].item()",
        right=_ONES + 'reduce(x, "batch seq hidden -> batch seq", "sum")[0, 0].item()',
        other=_ONES + "x.sum().item()",
        why_other=N_("That is the sum over all axes."),
        why=N_(
            'The third argument says what is done with the axis that goes: "sum" gives {right}.'
        ),
        shows="right",
        written="{:.1f}",
        page="tensors/rearrange_and_einsum",
        concepts=("C54",),
    ),
    Card(
        key="view-needs-contiguous",
        subject="tensors",
        level=2,
        title=N_("view of a slice"),
        claim=N_(
            "A handbook says: `view` needs a contiguous tensor. x has gaps between its rows, so "
            "this ends with {wrong}."
        ),
        wrong=_VIEW + "x.view(12)",
        right=_VIEW + "tuple(x.view(2, 2, 3).shape)",
        other=_VIEW + "tuple(x.shape)",
        why_other=N_("That is the shape of x, before the view."),
        why=N_(
            "Only dimensions that are merged have to fit together. Here one is split, and {right} "
            "is a view; merging all into 12 would fail."
        ),
        shows="right",
        page="tensors/strides_and_views",
        query=(("strides_tab", "why"),),
        concepts=("C31",),
    ),
    Card(
        key="triu-sees-the-future",
        subject="tensors",
        level=2,
        title=N_("A causal mask from triu"),
        claim=N_(
            "A digest keeps `triu` of the scores as its causal mask. With a row a query no token "
            "should see a later one: {wrong}."
        ),
        question=N_("How many pairs of a query and a later key does this mask let through?"),
        wrong="keep = torch.ones(4, 4).tril()\nint(keep.triu(1).sum())",
        right="keep = torch.ones(4, 4).triu()\nint(keep.triu(1).sum())",
        other="keep = torch.ones(4, 4).triu()\nint(keep.sum())",
        why_other=N_("That counts the diagonal too, which is allowed."),
        why=N_(
            "With a row a query, later keys stand right of the diagonal, and `triu` keeps just "
            "those: {right}. `tril` is the causal mask."
        ),
        shows="right",
        written="{}",
        page="tensors/broadcasting",
        query=(("broad_tab", "masks"), ("broad_mask", "triu")),
        concepts=("C43",),
    ),
    Card(
        key="a-row-all-masked",
        subject="tensors",
        level=2,
        title=N_("A row in which all is masked"),
        claim=N_(
            "A handbook masks with −inf: a query without a single key gets weights of {wrong}."
        ),
        wrong="scores = torch.full((4,), -math.inf)\nscores.exp()[0].item()",
        right="scores = torch.full((4,), -math.inf)\nscores.softmax(dim=0)[0].item()",
        other="scores = torch.zeros(4)\nscores.softmax(dim=0)[0].item()",
        why_other=N_("So it would be if nothing was masked and all scores were equal."),
        why=N_(
            "Softmax divides by the sum of the row, and 0 / 0 is {right}. One such row makes the "
            "loss NaN."
        ),
        shows="right",
        written="{:g}",
        page="tensors/broadcasting",
        query=(
            ("broad_tab", "masks"),
            ("broad_diagonal", "-1"),
            ("broad_route", "softmax"),
            ("broad_invert", "true"),
        ),
        concepts=("C43",),
    ),
    Card(
        key="true-means-masked",
        subject="tensors",
        level=3,
        title=N_("What True means in a mask"),
        claim=N_(
            "A mask that `scaled_dot_product_attention` takes goes into `nn.MultiheadAttention`. "
            "The first token sees only itself, with a weight of {wrong}."
        ),
        question=N_("How much does the first token attend to itself?"),
        wrong=_HEADS.format(mask="~keep"),
        right=_HEADS.format(mask="keep"),
        other="torch.zeros(4).softmax(dim=0)[0].item()",
        why_other=N_("So it would be without a mask and with equal scores."),
        why=N_(
            "In `scaled_dot_product_attention` True means keep, in `nn.MultiheadAttention` it "
            "means masked: the first token sees all but itself, {right}."
        ),
        shows="right",
        written="{:.2f}",
        page="tensors/broadcasting",
        query=(("broad_tab", "masks"), ("broad_route", "mha")),
        concepts=("C43",),
    ),
    Card(
        key="typed-storage",
        subject="tensors",
        level=3,
        title=N_("Reading x.storage()"),
        claim=N_("A tutorial reads the third stored number with `x.storage()[2]`: {wrong}."),
        wrong="x = torch.arange(4.0)\nx.view(-1)[2].item()",
        right="x = torch.arange(4.0)\nx.storage()[2]",
        other='"AttributeError"',
        why_other=N_("It is still there."),
        why=N_(
            "It runs, with a {right}: TypedStorage will go. `x.untyped_storage()` holds the bytes "
            "and knows no dtype."
        ),
        shows="right",
        hears_warnings=True,
        page="tensors/strides_and_views",
        concepts=("C28",),
    ),
    Card(
        key="a-million-in-four-bytes",
        subject="tensors",
        level=1,
        title=N_("A million numbers"),
        claim=N_("A course says: this tensor of 1,000 × 1,000 float32 numbers stores {right}."),
        question=N_("How many bytes does its storage hold?"),
        wrong="x = torch.zeros(1, 1).expand(1000, 1000)\nx.numel() * x.element_size()",
        right="x = torch.zeros(1, 1).expand(1000, 1000)\nx.untyped_storage().nbytes()",
        other="x = torch.zeros(1, 1).expand(1000, 1000)\nx[0].numel() * x.element_size()",
        why_other=N_("That is one row, if it were copied."),
        why=N_(
            "`expand` copies nothing: both strides are 0, so every index leads to the same "
            "{right}. A copy of it would take {wrong}. Source: PyTorch's documentation of "
            "Tensor.expand."
        ),
        holds=True,
        shows="right",
        written="{:,} B",
        page="tensors/indexing_and_sharing",
        query=(("index_tab", "index"), ("index_pair", "expand")),
        concepts=("C40",),
    ),
)
