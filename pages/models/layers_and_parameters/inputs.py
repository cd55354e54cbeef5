"""What the page of parameters asks for: a model, and of the two families its sizes."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import streamlit as st

from core.budget.catalogue.models import MODELS
from core.figures.picture import Look
from core.language import N_, _
from core.models.chosen import FFN_RATIOS, Source, flops_of, llama_like, tree_of
from core.models.describe import ModelTree, Part, unfold
from core.models.lora import train_adapters, train_parts
from core.models.small import SMALL
from core.models.spec import GPTShape
from pages.shared.inputs import Inputs

ASK: Final = Inputs("layers")
FAMILIES: Final = {"gpt": N_("GPT-2-like"), "llama": N_("Llama-like")}
WIDTHS: Final = (32, 64, 128, 256, 384, 512, 768, 1024, 1600, 2048, 4096, 5120, 8192, 12288, 16384)
HEADS: Final = (1, 2, 4, 8, 12, 16, 25, 32, 40, 64, 96, 128)
VOCABULARIES: Final = (65, 96, 256, 1000, 4096, 16384, 32000, 50257, 100352, 128256, 256000)
CONTEXTS: Final = (64, 128, 256, 512, 1024, 2048, 4096, 8192)
MOST_LAYERS: Final = 128
HEIGHT_PX: Final = {False: 380, True: 400}  # on a projector True
ROOM: Final = {False: 0.15, True: 0.25}  # for words beside the longest bar; on a projector True
PART_TITLES: Final[Mapping[Part, str]] = {
    "embedding": N_("embeddings and head"),
    "attention": N_("attention"),
    "feed_forward": N_("feed-forward layers"),
    "experts": N_("experts"),
    "norms": N_("norms"),
    "adapter": N_("adapters"),
    "other": N_("other"),
}
_OTHER_COLORS: Final[Mapping[Part, str]] = {"adapter": "optimizer", "other": "border"}


@dataclass(frozen=True, kw_only=True, slots=True)
class Case:
    """A model."""

    key: str  # its word in the address
    title: str  # translated
    source: Source  # what describes it
    tree: ModelTree  # equal blocks together
    shown: ModelTree  # the tree as it is drawn: folded, or every block by itself


tree = st.cache_data(max_entries=256, show_spinner=False)(tree_of)
flops = st.cache_data(max_entries=64, show_spinner=False)(flops_of)
with_adapters = st.cache_data(max_entries=64, show_spinner=False)(train_adapters)
with_parts = st.cache_data(max_entries=64, show_spinner=False)(train_parts)


def choose_case() -> Case:
    key = ASK.selectbox(
        "model", _("Model"), (*FAMILIES, *SMALL, *MODELS), default="gpt", labels=_title
    )
    sizes = _choose_sizes() if key in FAMILIES else None
    with st.popover(_("Settings"), icon=":material/tune:", key=ASK.key("settings")):
        source: Source = _family(key, *sizes) if sizes else MODELS.get(key, key)
        is_open = ASK.toggle(
            "open",
            _("Every block by itself"),
            default=False,
            help=_("Equal blocks are drawn as one: a click on it opens it. Or draw each of them."),
        )
    folded = tree(source)
    return Case(
        key=key, title=_short_title(key), source=source, tree=folded,
        shown=unfold(folded) if is_open else folded,
    )  # fmt: skip


def _choose_sizes() -> tuple[int, int]:
    width = ASK.select_slider("width", _("Width"), WIDTHS, default=768)
    return width, ASK.slider("layers", _("Layers"), 1, MOST_LAYERS, default=12, step=1)


def _family(key: str, width: int, num_layers: int) -> Source:
    """Return a model of these sizes; the rest is chosen here."""
    vocabulary = ASK.select_slider(
        "vocabulary", _("Vocabulary"), VOCABULARIES, default=50257, labels="{:,}".format
    )
    dividing = tuple(heads for heads in HEADS if width % heads == 0)
    heads = ASK.select_slider("heads", _("Heads"), dividing, default=4)
    if key == "gpt":
        context = ASK.select_slider("context", _("Context length"), CONTEXTS, default=1024)
        return GPTShape(
            num_layers=num_layers, hidden_dim=width, num_heads=heads,
            vocab_size=vocabulary, seq_len=context,
        )  # fmt: skip
    sharing = tuple(kv for kv in HEADS if heads % kv == 0)
    kv_heads = ASK.select_slider("kv", _("Key and value heads"), sharing, default=1)
    ratio = ASK.segmented(
        "ffn", _("Feed-forward width / width"), tuple(FFN_RATIOS), default="8/3",
        help=_("8/3 is Llama-2's, 3.5 that of Llama-3 8B and 70B."),
    )  # fmt: skip
    return llama_like(
        num_layers=num_layers, hidden_dim=width, num_heads=heads,
        num_kv_heads=kv_heads, vocab_size=vocabulary, ffn_ratio=FFN_RATIOS[ratio],
    )  # fmt: skip


def _title(key: str) -> str:
    if key in FAMILIES:
        return _(FAMILIES[key])
    return _(SMALL[key].title) if key in SMALL else MODELS[key].name


def _short_title(key: str) -> str:
    return {"gpt": "GPT", "llama": "Llama"}.get(key) or _title(key)


def part_color(part: Part, look: Look) -> str:
    """Return the color of a part; most bear their own name in the theme."""
    return look.color(_OTHER_COLORS.get(part, part))


def layout_with(look: Look, **axes: Mapping[str, Any]) -> dict[str, Any]:
    """Return the layout of a chart with these axes, which nobody can drag."""
    layout = look.layout()
    fixed = {"fixedrange": True, "zeroline": False}
    return layout | {
        "height": HEIGHT_PX[look.present],
        "margin": {"l": 8, "r": 8, "t": 2.8 * layout["font"]["size"], "b": 8},
        **{name: {**layout[name], **fixed, **axis} for name, axis in axes.items()},
    }
