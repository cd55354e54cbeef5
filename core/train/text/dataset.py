"""The text of a run as tokens, and what it gives away to models that only count.

It is written to disk before the start and read by the worker.
"""

import hashlib
import json
import re
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

import numpy as np

from core.language import _
from core.train.config import TrainConfig
from core.train.text.corpora import (
    CORPORA,
    VALIDATION_SHARE,
    check_text,
    decode_upload,
    load_corpus,
)
from core.train.text.tokenizers import (
    CharacterTokenizer,
    Tokenizer,
    Tokens,
    make_tokenizer,
    tokenizer_from_json,
)

PROMPT_CHARACTERS: Final = 12
MAX_NAMED: Final = 8  # unknown characters that a sentence lists


@dataclass(frozen=True, kw_only=True, slots=True)
class TextEntropy:
    """Losses in nats per token of who knows nothing, the token frequencies, or the token before."""

    uniform: float
    unigram: float
    bigram: float


@dataclass(frozen=True, kw_only=True, slots=True)
class Dataset:
    """A text as (num_tokens,) ids, the last tenth for validation; samples begin with the prompt."""

    text: str
    title: str
    tokens: Tokens
    tokenizer: Tokenizer
    entropy: TextEntropy
    prompt: str

    @property
    def training_tokens(self) -> Tokens:
        """The first nine tenths."""
        return self.tokens[: self._num_training]

    @property
    def validation_tokens(self) -> Tokens:
        """The last tenth."""
        return self.tokens[self._num_training :]

    @property
    def _num_training(self) -> int:
        return len(self.tokens) - int(len(self.tokens) * VALIDATION_SHARE)

    def facts(self, corpus: str) -> dict[str, Any]:
        """Return what run.json says of the text; entropies in nats per token."""
        return {
            "corpus": corpus,
            "title": self.title,
            "num_characters": len(self.text),
            "num_tokens": len(self.tokens),
            "vocab_size": self.tokenizer.vocab_size,
            "sha256": hashlib.sha256(self.text.encode()).hexdigest(),
            "ln_vocab": self.entropy.uniform,
            "unigram_entropy": self.entropy.unigram,
            "bigram_entropy": self.entropy.bigram,
            "prompt": self.prompt,
        }


def build_dataset(
    config: TrainConfig,
    upload: bytes | None = None,
    upload_name: str = "",
    *,
    tokenizer: Tokenizer | None = None,
) -> Dataset:
    """Return the text that a config asks for, checked and cut into tokens.

    `tokenizer`: of a model that is to learn this text too; None to make one of the text.

    Raises:
        ValueError: If the text or the uploaded file cannot be learnt from.
    """
    text = decode_upload(upload or b"") if config.corpus == "upload" else load_corpus(config.corpus)
    row = CORPORA.get(config.corpus)
    # The corpus's own prompt if the text can say it, else the text's first words.
    prompt = row.prompt if row else ""
    if not prompt or not set(prompt) <= set(text):
        prompt = text.lstrip()[:PROMPT_CHARACTERS]
    if tokenizer is None:
        tokenizer = make_tokenizer(config.tokenizer, text, config.bpe_vocab_size)
    else:
        _refuse_if_unknown(text, tokenizer)
    tokens = tokenizer.encode(text)
    check_text(text, len(tokens), tokenizer.vocab_size, config.seq_len)
    return Dataset(
        text=text,
        title=row.title if row else shown_name(upload_name),
        tokens=tokens,
        tokenizer=tokenizer,
        entropy=text_entropy(tokens, tokenizer.vocab_size),
        prompt=prompt,
    )


def _refuse_if_unknown(text: str, tokenizer: Tokenizer) -> None:
    if not isinstance(tokenizer, CharacterTokenizer):
        return
    unknown = sorted(set(text) - set(tokenizer.characters))
    if unknown:
        more = " …" if len(unknown) > MAX_NAMED else ""
        raise ValueError(
            _(
                "The text has {count} characters that the model has never seen: {named}. Take them "
                "out, or fine-tune a model with one token a byte: that one knows every text."
            ).format(count=len(unknown), named=" ".join(map(repr, unknown[:MAX_NAMED])) + more)
        )


def dataset_of(config: TrainConfig, upload: bytes | None = None, upload_name: str = "") -> Dataset:
    """Return the text of a config cut into tokens; the last few are kept."""
    # Only what decides the tokens: the shortest context suits every text, and is the same key.
    only = TrainConfig(
        corpus=config.corpus,
        tokenizer=config.tokenizer,
        bpe_vocab_size=config.bpe_vocab_size,
        seq_len=8,
    )
    return _kept_dataset(only, upload, upload_name)


@lru_cache(maxsize=4)
def _kept_dataset(config: TrainConfig, upload: bytes | None, upload_name: str) -> Dataset:
    return build_dataset(config, upload, upload_name)


def shown_name(upload_name: str) -> str:
    """Return a file's name without its folders and without characters that could mislead.

    >>> shown_name("../../etc/<b>poems</b>.txt")
    'b.txt'
    """
    last = re.split(r"[\\/]", upload_name)[-1]
    clean = re.sub(r"[^\w .()-]+", "", last).strip(" .")
    return clean[:80] or "upload.txt"


def save_dataset(dataset: Dataset, directory: Path) -> None:
    """Write data/ of a run: tokens (16-bit little-endian), vocabulary and text."""
    directory.mkdir(parents=True, exist_ok=True)
    dataset.tokens.astype("<u2").tofile(directory / "tokens.bin")
    vocabulary = {
        **dataset.tokenizer.to_json(),
        "title": dataset.title,
        "prompt": dataset.prompt,
        "entropy": asdict(dataset.entropy),
    }
    (directory / "vocabulary.json").write_text(json.dumps(vocabulary), encoding="utf-8")
    (directory / "text.txt").write_text(dataset.text, encoding="utf-8", newline="")


def load_dataset(directory: Path) -> Dataset:
    """Return what `save_dataset` wrote."""
    vocabulary = json.loads((directory / "vocabulary.json").read_text(encoding="utf-8"))
    with (directory / "text.txt").open(encoding="utf-8", newline="") as file:
        text = file.read()
    return Dataset(
        text=text,
        title=vocabulary["title"],
        tokens=np.fromfile(directory / "tokens.bin", dtype="<u2").astype(np.uint16),
        tokenizer=tokenizer_from_json(vocabulary),
        entropy=TextEntropy(**vocabulary["entropy"]),
        prompt=vocabulary["prompt"],
    )


def text_entropy(tokens: Tokens, vocab_size: int) -> TextEntropy:
    """Return the reference losses of a text of at least two tokens from its own counts.

    Source: Shannon 1951, Prediction and Entropy of Printed English: F_1 and F_2.
    """
    ids = tokens.astype(np.int64)
    pairs = ids[:-1] * vocab_size + ids[1:]
    return TextEntropy(
        uniform=float(np.log(vocab_size)),
        unigram=_entropy(ids),
        bigram=_entropy(pairs) - _entropy(ids[:-1]),
    )


def _entropy(symbols: np.ndarray[tuple[int, ...], np.dtype[np.int64]]) -> float:
    counts = np.unique(symbols, return_counts=True)[1]
    share = counts / counts.sum()
    return float(-(share * np.log(share)).sum())
