"""What the model writes, and how many of its words are words of the text it reads."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from core.models import generation
from core.models.gpt import GPT
from core.models.llama import Llama
from core.train.config import PrecisionName
from core.train.learning.precision import compute_in
from core.train.learning.surprise import Written, written_with_surprise
from core.train.text.tokenizers import Tokenizer

TEMPERATURE: Final = 0.8
MIN_LETTERS: Final = 3  # shorter words are hit by chance

_HAN: Final = "\u3400-\u9fff"
_WORD: Final = re.compile(rf"[^\W\d_{_HAN}]{{{MIN_LETTERS},}}")
_HAN_PAIR: Final = re.compile(rf"(?=([{_HAN}]{{2}}))")  # Chinese has no spaces: pairs stand in


@dataclass(frozen=True, kw_only=True, slots=True)
class Sample:
    """A text that the model wrote; `written` is the same in stretches, with the surprise of each.

    Words at its beginning and end, which may be cut, do not count; real ones occur in the text
    that it learns from.
    """

    prompt: str
    text: str
    num_words: int
    num_real_words: int
    written: tuple[Written, ...]


def words(text: str) -> list[str]:
    """Return the words of a text in lower case; in Chinese, each pair of neighbours.

    >>> words("The cat, a 3rd 步长表")
    ['the', 'cat', '步长', '长表']
    """
    return [word.lower() for word in (*_WORD.findall(text), *_HAN_PAIR.findall(text))]


def generate(
    model: GPT | Llama,
    prompt: Sequence[int],
    num_tokens: int,
    seed: int,
    precision: PrecisionName = "fp32",
) -> list[int]:
    """Return `num_tokens` ids that follow the prompt; the same seed gives the same chances."""
    return [token.id for token in _generate(model, prompt, num_tokens, seed, precision)]


def _generate(
    model: GPT | Llama, prompt: Sequence[int], num_tokens: int, seed: int, precision: PrecisionName
) -> list[generation.GeneratedToken]:
    device = next(model.parameters()).device
    model.eval()
    with compute_in(precision, device):  # once around all: autocast keeps the weights it has cast
        written = list(
            generation.generate(model, prompt, num_tokens, temperature=TEMPERATURE, seed=seed)
        )
    model.train()
    return written


class Sampler:
    """Writes samples of one run: always the same prompt and seed, so that only learning differs."""

    def __init__(
        self, text: str, tokenizer: Tokenizer, prompt: str, seed: int, precision: PrecisionName
    ) -> None:
        self._known_words = frozenset(words(text))
        self._tokenizer = tokenizer
        self._prompt = prompt
        self._prompt_ids = [int(number) for number in tokenizer.encode(prompt)]
        self._seed, self._precision = seed, precision

    def sample(self, model: GPT | Llama, num_tokens: int) -> Sample:
        """Return what the model writes now."""
        tokens = _generate(model, self._prompt_ids, num_tokens, self._seed, self._precision)
        token_ids = [token.id for token in tokens]
        text = self._tokenizer.decode(token_ids)
        inner = re.sub(r"^\S*|\S*$", "", text) if " " in text else text
        found = words(inner)
        return Sample(
            prompt=self._prompt,
            text=text,
            num_words=len(found),
            num_real_words=sum(word in self._known_words for word in found),
            written=written_with_surprise(
                self._tokenizer, token_ids, [token.logits for token in tokens]
            ),
        )
