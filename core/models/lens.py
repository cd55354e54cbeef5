"""What a model looks at, and what it would say after each layer.

The logit lens reads the residual stream between two blocks as if it were the last one, with the
final norm and the head (nostalgebraist 2020, "interpreting GPT: the logit lens").

Shape letters: L layers, H heads, T tokens, V vocabulary.
"""

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from core.models.attention_steps import attention_steps
from core.models.recording import Recording, TokenIds, record


@dataclass(frozen=True, kw_only=True, slots=True)
class Inside:
    """What one text does inside a model.

    Attributes:
        maps: (L, H, T, T), the share of its attention that each token (a row) gives each other.
        lens: (L + 1, T, V), the scores of the next token after the embedding and each block.
    """

    maps: Tensor
    lens: Tensor


def inside(model: nn.Module, token_ids: TokenIds) -> Inside:
    """Return attention and logit lens of one text, from one forward pass.

    Args:
        model: A GPT or a dense Decoder of the profile "cpu".
        token_ids: (T,) or (1, T).
    """
    recording = record(model, token_ids)
    return Inside(maps=_maps(recording), lens=_lens(recording))


@torch.no_grad()
def _maps(recording: Recording) -> Tensor:
    num_layers = len(recording.model.blocks)
    steps = (attention_steps(*recording.attended(layer)) for layer in range(num_layers))
    return torch.cat([each.weights for each in steps])


@torch.no_grad()
def _lens(recording: Recording) -> Tensor:
    model = recording.model
    earlier = [model.head(model.norm(x)) for x in recording.residuals()[:-1]]
    return torch.cat([*earlier, recording.logits])
