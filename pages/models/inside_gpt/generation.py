"""The model goes on writing: temperature, top-k, and a KV cache that grows with the text."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from core.budget.by_hand.gpt import kv_cache
from core.budget.item import Item
from core.figures.models.inside_gpt.generation import generation_picture
from core.language import _
from core.models.generation import GeneratedToken, forward_flops, generate
from core.models.held_bytes import held_bytes
from core.train.learning.opened import Opened
from core.train.text.pieces import vocabulary_signs
from core.units import format_count
from pages.models.inside_gpt.inputs import ASK, Case
from pages.models.inside_gpt.kept import kept
from pages.models.inside_gpt.models import SMALL
from pages.models.inside_gpt.snippets import opening
from pages.shared.settings import look
from pages.shared.tabbed_page import Chart, Shown

MAX_NEW: Final = 48
START_NEW: Final = 12
MAX_TOP_K: Final = 20
_CODE: Final = """from core.models.generation import generate
{imports}
opened = {opened}
for use_cache in (True, False):
    written = list(generate(opened.model, [{ids}], {num_new},
                            temperature={temperature}, top_k={top_k}, use_cache=use_cache))
    print(repr(opened.tokenizer.decode([each.id for each in written])),
          f"{{written[-1].flops / 1e6:.3g}} M FLOPs", written[-1].cache_bytes, "bytes")
"""


@dataclass(frozen=True, kw_only=True, slots=True)
class Drawn:
    """How tokens are drawn, and how many."""

    temperature: float
    top_k: int
    num_new: int


def choose_drawn() -> Drawn:
    """Ask how the next tokens are drawn."""
    temperature = ASK.slider(
        "temperature", _("Temperature"), 0.0, 2.0, default=0.8, step=0.1,
        help=_("Divides the logits before softmax: 0 always takes the likeliest token, 1 draws "
               "with the model's own probabilities, above 1 the unlikely come more often."),
    )  # fmt: skip
    top_k = ASK.slider(
        "top_k",
        "Top-k",
        0,
        MAX_TOP_K,
        default=0,
        step=1,
        help=_("Only the k likeliest tokens may be drawn; 0 allows all."),
    )
    num_new = ASK.slider("new", _("Generated tokens"), 1, MAX_NEW, default=START_NEW, step=1)
    return Drawn(temperature=temperature, top_k=top_k, num_new=num_new)


def generation(case: Case, drawn: Drawn) -> Shown:
    """Show what the model writes after the text, and what each token costs."""
    if not case.token_ids:
        return Shown(headline=_("Type a text in the first tab: the model goes on from it"))
    model, tokenizer = case.opened.model, case.opened.tokenizer
    top_k = min(drawn.top_k, model.shape.vocab_size)
    written = _written(case, drawn)
    signs = vocabulary_signs(tokenizer, [each.id for each in written])
    vocabulary = vocabulary_signs(tokenizer, range(tokenizer.vocab_size))
    last = written[-1]
    whole = forward_flops(model.shape, last.num_seen, last.num_seen)
    return Shown(
        headline=_(
            "The model writes “{text}”, {likeliest} of {count} tokens the likeliest ones; token "
            "{count} takes {cached} FLOPs with the KV cache and {whole} without"
        ).format(
            likeliest=sum(int(each.logits.argmax()) == each.id for each in written),
            text="`" + "".join(signs).replace("`", "'") + "`", count=len(written),
            cached=format_count(last.flops), whole=format_count(whole),
        ),
        charts=[
            Chart(
                picture=generation_picture(written, signs, vocabulary, model.shape, look()),
                file_name="generation",
            )
        ],
        numbers=[(_("KV cache"), _cache(case.opened, last))],
        notes=_notes(case, drawn, written),
        code=_CODE.format(
            **opening(case, ASK.used("run")), num_new=drawn.num_new,
            temperature=drawn.temperature, top_k=top_k,
        ),
    )  # fmt: skip


def _cache(opened: Opened, last: GeneratedToken) -> Item:
    """Return the bytes of the cache; the newest token of all is not read yet."""
    return kv_cache(opened.model.shape, last.num_seen)


def _notes(case: Case, drawn: Drawn, written: Sequence[GeneratedToken]) -> list[str]:
    seq_len = case.opened.model.shape.seq_len
    grown = _("The KV cache grows with the text: {first} with token 1, {last} with token {count}.")
    first, last = (look().format_bytes(each.cache_bytes) for each in (written[0], written[-1]))
    notes = [
        _("Keys and values of earlier tokens stay as they are, so a cache leaves only the newest "
          "token to compute; without one, all are computed again for each new token."),
        grown.format(first=first, last=last, count=len(written)),
    ]  # fmt: skip
    if len(case.token_ids) + drawn.num_new - 1 > seq_len:
        words = _(
            "The context holds {seq_len} tokens. Beyond it the window slides, every token gets a "
            "new position, and the cache has to be computed anew."
        )
        notes.append(words.format(seq_len=seq_len))
    return notes


def _written(case: Case, drawn: Drawn) -> tuple[GeneratedToken, ...]:
    opened, top_k = case.opened, min(drawn.top_k, case.opened.model.shape.vocab_size)

    def write() -> tuple[GeneratedToken, ...]:
        temperature = drawn.temperature
        return tuple(
            generate(
                opened.model, case.token_ids, drawn.num_new, temperature=temperature, top_k=top_k
            )
        )

    return kept().get(
        ("written", ASK.used("run", SMALL), opened.step, case.token_ids, drawn),
        write,
        lambda tokens: held_bytes(held for each in tokens for held in (each.logits, each.chances)),
    )
