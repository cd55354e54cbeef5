"""What the page of batches asks for: a text, its tokenizer, and the windows of a step."""

from dataclasses import dataclass, replace
from typing import Final

import streamlit as st

from core.language import N_, _
from core.train.config import DEFAULT_BPE_VOCABULARY, TrainConfig
from core.train.text.batches import Window, draw_starts, explain_batch, num_starts
from core.train.text.corpora import CORPORA
from core.train.text.dataset import dataset_of
from core.train.text.tokenizers import Tokenizer, Tokens, make_tokenizer
from pages.shared.inputs import Inputs

ASK: Final = Inputs("batches")
SENTENCE: Final = "sentence"
FIRST_SENTENCE: Final = "To be, or not to be, that is the question."
MAX_CHARACTERS: Final = 400
BPE_VOCABULARIES: Final = (256, 512, 1024, 2048, 4096)
_SPOKEN: Final = {"character": N_("character"), "byte": N_("byte"), "bpe": "BPE"}


@dataclass(frozen=True, kw_only=True, slots=True)
class Case:
    """A batch; the first of its windows is the row that the reader moves."""

    tokens: Tokens
    tokenizer: Tokenizer
    seq_len: int
    batch_size: int
    seed: int
    windows: tuple[Window, ...]


def choose_case() -> Case:
    """Show the inputs and return the batch."""
    tokenizer_name = ASK.selectbox("tokenizer", _("Tokenizer"), _SPOKEN, default="character")
    batch_size = ASK.slider("batch", _("Batch size"), 1, 64, default=4, step=1)
    seq_len = ASK.slider("context", _("Sequence length"), 1, 64, default=8, step=1)
    place = st.container()
    source, sentence, vocabulary, seed = _choose_text()
    kept_for = TrainConfig.from_json({"tokenizer": tokenizer_name, "bpe_vocab_size": vocabulary})
    tokens, tokenizer = _tokens(kept_for, source, sentence)
    highest = num_starts(len(tokens), seq_len) - 1
    with place:
        start = ASK.slider("start", _("Start of row 1"), 0, highest, default=0, step=1)
    others = draw_starts(len(tokens), seq_len, batch_size, seed)[1:]
    windows = explain_batch(tokens, tokenizer, (start, *others), seq_len)
    return Case(
        tokens=tokens, tokenizer=tokenizer, seq_len=seq_len, batch_size=batch_size, seed=seed,
        windows=windows,
    )  # fmt: skip


def _choose_text() -> tuple[str, str, int, int]:
    with st.popover(_("Text and seed"), icon=":material/tune:", key=ASK.key("settings")):
        titles = {key: row.title for key, row in CORPORA.items()}
        source = ASK.selectbox(
            "text", _("Text"), {SENTENCE: N_("My own sentence"), **titles}, default=SENTENCE
        )
        sentence = ASK.text(
            "sentence", _("My own sentence"), default=FIRST_SENTENCE, max_chars=MAX_CHARACTERS
        )
        vocabulary = ASK.select_slider(
            "vocabulary", _("BPE vocabulary size"), BPE_VOCABULARIES,
            default=DEFAULT_BPE_VOCABULARY,
            help=_("A sentence is too short to learn merges from: they are those of the Python "
                   "language reference."),
        )  # fmt: skip
        seed = ASK.number("seed", _("Seed"), 0, 9999, default=1337, step=1)
    return source, sentence, vocabulary, seed


def _tokens(config: TrainConfig, source: str, sentence: str) -> tuple[Tokens, Tokenizer]:
    """Return a text as token ids; large ones are kept by core."""
    if source in CORPORA:
        dataset = dataset_of(replace(config, corpus=source))
        return dataset.tokens, dataset.tokenizer
    if config.tokenizer == "bpe":
        learnt = dataset_of(config).tokenizer
        return learnt.encode(sentence), learnt
    tokenizer = make_tokenizer(config.tokenizer, sentence)
    return tokenizer.encode(sentence), tokenizer
