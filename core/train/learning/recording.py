"""The small GPT that comes with the app: its weights at a few steps of one training, as one file.

Written by `python -m benchmarks.record_small_gpt`; numpy reads it, and never a pickle. The
weights are rounded to float16, which changes a loss by less than a thousandth.
"""

import io
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from zipfile import BadZipFile

import numpy as np
import numpy.typing as npt

from core.language import _
from core.train.config import TrainConfig
from core.train.text.tokenizers import CharacterTokenizer

if TYPE_CHECKING:
    from torch import Tensor

SMALL_GPT: Final = Path(__file__).parents[1] / "recordings" / "small_gpt.npz"
_FACTS: Final = "facts"

Weights = Mapping[str, npt.NDArray[np.float16]]


@dataclass(frozen=True, kw_only=True, slots=True)
class Recording:
    """A training, remembered at some of its steps; `text` is validation text.

    Attributes:
        losses: Step -> validation loss in nats per token, measured while it trained.
        weights: Step -> name -> weight; a head that is tied to the embedding is not repeated.
    """

    config: TrainConfig
    tokenizer: CharacterTokenizer
    prompt: str
    text: str
    losses: Mapping[int, float]
    weights: Mapping[int, Weights]

    @property
    def steps(self) -> tuple[int, ...]:
        """The recorded steps, in order."""
        return tuple(sorted(self.weights))


def rounded(state: Mapping[str, "Tensor"]) -> dict[str, npt.NDArray[np.float16]]:
    """Return a model's state as a recording keeps it."""
    kept = ((name, each.half().numpy()) for name, each in state.items() if name != "head.weight")
    return dict(kept)


def to_bytes(recording: Recording) -> bytes:
    """Return the recording as the bytes of an .npz file."""
    facts = {
        "config": asdict(recording.config),
        "characters": recording.tokenizer.characters,
        "prompt": recording.prompt,
        "text": recording.text,
        "losses": {str(step): loss for step, loss in recording.losses.items()},
    }
    arrays: dict[str, Any] = {_FACTS: np.array(json.dumps(facts))}
    for step, weights in recording.weights.items():
        arrays |= {f"{step}/{name}": weight for name, weight in weights.items()}
    file = io.BytesIO()
    np.savez_compressed(file, **arrays)
    return file.getvalue()


@cache
def read_recording(path: Path = SMALL_GPT) -> Recording:
    """Return what `to_bytes` made; the arrays are shared by all who ask, so leave them as they are.

    Raises:
        ValueError: The file is missing, torn or no recording; the sentence names it.
    """
    weights: dict[int, dict[str, npt.NDArray[np.float16]]] = {}
    try:
        # From memory: numpy leaves a torn file open.
        with np.load(io.BytesIO(path.read_bytes()), allow_pickle=False) as file:
            facts = json.loads(str(file[_FACTS]))
            for key in file.files:
                step, slash, name = key.partition("/")
                if slash:
                    weights.setdefault(int(step), {})[name] = file[key]
        return Recording(
            config=TrainConfig.from_json(facts["config"]),
            tokenizer=CharacterTokenizer(facts["characters"]),
            prompt=facts["prompt"],
            text=facts["text"],
            losses={int(step): float(loss) for step, loss in facts["losses"].items()},
            weights=weights,
        )
    except (OSError, ValueError, KeyError, TypeError, EOFError, BadZipFile) as error:
        raise ValueError(
            _("{file} cannot be read ({reason}); take it from the app's repository again.").format(
                file=path.name, reason=type(error).__name__
            )
        ) from error
