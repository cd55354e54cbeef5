"""Where the parameters of a model are: its modules as an icicle, as wide as their parameters."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from core.figures.picture import Drawing, Look, Picture
from core.language import N_, _
from core.models.describe import ModelTree, Part, by_part
from core.units import format_count, format_exact, format_percent

HEIGHT_PX: Final = 400
PRESENT_HEIGHT_PX: Final = 410
MOST_LEVELS: Final = 6
_LUMINANCE: Final = (0.2126, 0.7152, 0.0722)  # of red, green and blue
PART_TITLES: Final[Mapping[Part, str]] = {
    "embedding": N_("embeddings and head"),
    "attention": N_("attention"),
    "feed_forward": N_("feed-forward layers"),
    "experts": N_("experts"),
    "norms": N_("norms"),
    "adapter": N_("adapters"),
    "other": N_("other"),
}
_MEANINGS: Final[Mapping[Part, str]] = {
    "embedding": "embedding",
    "attention": "attention",
    "feed_forward": "feed_forward",
    "experts": "experts",
    "norms": "norms",
    "adapter": "optimizer",
    "other": "border",
}


@dataclass(frozen=True, kw_only=True, slots=True)
class _Row:
    """A rectangle: `path` names it, `above` the one that holds it."""

    path: str
    above: str
    label: str
    node: ModelTree


def icicle_picture(title: str, tree: ModelTree, look: Look) -> Picture:
    """Return the tree from top to bottom; a click opens a module.

    Args:
        title: Name of the model.
        tree: Folded or not; what has no parameters is not drawn.
        look: How the reader wants to see.
    """
    rows, drawing, layout = list(_rows(tree, title)), Drawing(), look.layout()
    smallest = layout["font"]["size"] if look.present else layout["font"]["size"] - 3
    drawing.trace(
        "icicle",
        ids=[row.path for row in rows], parents=[row.above for row in rows],
        labels=[row.label for row in rows], values=[row.node.num_params for row in rows],
        branchvalues="total", sort=False, maxdepth=MOST_LEVELS,
        tiling={"orientation": "v", "pad": 2}, pathbar={"visible": False},
        marker={"colors": [look.color(meaning(row.node.part)) for row in rows],
                "line": {"width": 1, "color": look.color("background")}},
        textfont={"size": layout["font"]["size"],
                  "color": [_ink(look.color(meaning(row.node.part))) for row in rows]},
        leaf={"opacity": 1},
        texttemplate="%{label}<br>%{customdata[" + ("3" if look.present else "0") + "]}",
        customdata=[_words(row.node, tree.num_params) for row in rows],
        hovertemplate="%{id}<br>%{customdata[1]}<br>%{customdata[2]}<extra></extra>",
    )  # fmt: skip
    fields = {
        "height": PRESENT_HEIGHT_PX if look.present else HEIGHT_PX,
        "margin": {"l": 0, "r": 0, "t": 0, "b": 0},
        "uniformtext": {"mode": "hide", "minsize": smallest},
        "meta": "parameters",
    }
    return Picture(
        figure=drawing.figure(layout | fields), alt=_sentence(title, tree), table=tree_table(tree)
    )


def meaning(part: Part) -> str:
    """Return the word of the theme for a part of a model."""
    return _MEANINGS[part]


def _ink(ground: str) -> str:
    """Return the color of letters on a ground: black or white, as reads better.

    Left to itself plotly writes in a grey that has too little contrast on the dark theme's colors.
    One of the two always has a contrast of more than 4.5.
    """
    return max(("#000000", "#ffffff"), key=lambda ink: _contrast(ink, ground))


def _contrast(one: str, other: str) -> float:
    """Return the contrast of two colors, 1 to 21 (WCAG 2.2, relative luminance)."""
    low, high = sorted(map(_luminance, (one, other)))
    return (high + 0.05) / (low + 0.05)


def _luminance(color: str) -> float:
    values = [int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [v / 12.92 if v <= 0.04045 else ((v + 0.055) / 1.055) ** 2.4 for v in values]
    return sum(weight * v for weight, v in zip(_LUMINANCE, linear, strict=True))


def shares(tree: ModelTree, least: float = 0.001) -> str:
    """Return the parts with their shares of the parameters, large to small, as words.

    Args:
        tree: Folded or not.
        least: Parts with a smaller share are left out: no picture can show them.
    """
    parts = sorted(by_part(tree).items(), key=lambda each: -each[1])
    parts = [each for each in parts if each[1] >= least * tree.num_params]
    return _(", ").join(
        f"{_(PART_TITLES[part])} {format_percent(count / tree.num_params)}" for part, count in parts
    )


def _rows(node: ModelTree, label: str, path: str = "", above: str = "") -> Iterator[_Row]:
    """Yield rectangles; a module with nothing but one tensor is drawn as that tensor."""
    drawn = [child for child in node.children if child.num_params]
    own = path or label
    yield _Row(path=own, above=above, label=label, node=node)
    for child in drawn:
        name, below = child.name, [each for each in child.children if each.num_params]
        while len(below) == 1 and below[0].is_leaf:
            child, name = below[0], f"{name}.{below[0].name}"  # noqa: PLW2901  the tensor for it
            below = []
        is_block = child.count > node.count
        text = f"{child.type} × {child.count // node.count}" if is_block else name
        yield from _rows(child, text, f"{path}.{name}" if path else name, own)


def _words(node: ModelTree, whole: int) -> tuple[str, ...]:
    count, share = format_count(node.num_params), format_percent(node.num_params / whole)
    shape = " × ".join(map(format_exact, node.shape))
    each = f"{node.count} × ({shape})" if node.count > 1 else shape
    return (
        f"{count} · {share}",
        _("{count} parameters, {share}").format(count=format_exact(node.num_params), share=share),
        each if node.shape else node.type,
        share,
    )


def _sentence(title: str, tree: ModelTree) -> str:
    return _("{count} parameters of {model}: {parts}.").format(
        count=format_exact(tree.num_params), model=title, parts=shares(tree, least=0)
    )


def tree_table(tree: ModelTree) -> dict[str, list[object]]:
    """Return a row for every tensor under its name in the state_dict."""
    rows = list(tree.leaves())
    return {
        _("name"): [path for path, _leaf in rows],
        _("shape"): [str(leaf.shape) for _path, leaf in rows],
        _("how many"): [leaf.count for _path, leaf in rows],
        _("parameters"): [format_exact(leaf.num_params) for _path, leaf in rows],
        _("trainable"): [format_exact(leaf.trainable) for _path, leaf in rows],
        _("bytes"): [format_exact(leaf.num_bytes) for _path, leaf in rows],
        _("first values"): [leaf.init for _path, leaf in rows],
        _("tied to"): [leaf.tied_to for _path, leaf in rows],
    }
