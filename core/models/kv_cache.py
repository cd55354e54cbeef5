"""What a model keeps of the tokens it has read, so that the next one costs one token, not all.

A key and a value depend only on what stands before them, so they stay as they are while the text
grows (Shazeer 2019, "Fast Transformer Decoding", section 2).

Shape letters: B batch, H heads, T tokens, D head width.
"""

import torch
from torch import Tensor, nn


class KVCache:
    """Keys and values of every layer, in the dtype that they were computed in.

    A cache belongs to one text and one model. It grows with the text, and is never cut: with
    learned positions a window that slides changes the position of every token, so that all keys
    and values have to be computed again, into a new cache.
    """

    def __init__(self) -> None:
        self.layers: dict[nn.Module, tuple[Tensor, Tensor]] = {}  # each (B, H, T, D)

    @property
    def num_tokens(self) -> int:
        """How many tokens have been read."""
        return next((keys.shape[2] for keys, _values in self.layers.values()), 0)

    @property
    def num_bytes(self) -> int:
        """What the keys and values of all layers take."""
        return sum(each.nbytes for layer in self.layers.values() for each in layer)

    def extend(self, layer: nn.Module, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
        """Append the keys and values of new tokens; return the layer's, of all tokens.

        Args:
            layer: Whose they are.
            k: (B, H, T, D), as `v`; T counts the new tokens.
            v: The values.
        """
        if layer in self.layers:
            keys, values = self.layers[layer]
            k, v = torch.cat((keys, k), dim=2), torch.cat((values, v), dim=2)
        self.layers[layer] = (k, v)
        return k, v
