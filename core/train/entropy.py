"""What a text gives away for free: the losses of models that only count."""

from dataclasses import dataclass

import numpy as np

from core.train.tokenizers import Tokens


@dataclass(frozen=True, kw_only=True, slots=True)
class TextEntropy:
    """Reference losses of a text, in nats per token.

    Attributes:
        uniform: ln V, the loss of a model that knows nothing.
        unigram: Entropy of the token frequencies: knows how often each token comes.
        bigram: Entropy of a token given the one before it: knows which follow which.
    """

    uniform: float
    unigram: float
    bigram: float


def text_entropy(tokens: Tokens, vocab_size: int) -> TextEntropy:
    """Return the reference losses of a text from its own counts.

    Args:
        tokens: (num_tokens,) ids, at least two.
        vocab_size: Size of the vocabulary.

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
