"""The shape of a GPT-2-like model: the five numbers that decide everything else."""

from dataclasses import dataclass

from core.language import _


@dataclass(frozen=True, kw_only=True, slots=True)
class GPTShape:
    """The sizes of a GPT-2-like decoder.

    Attributes:
        num_layers: Blocks, each attention then feed-forward.
        hidden_dim: Width of the residual stream; a multiple of `num_heads`.
        num_heads: Attention heads.
        vocab_size: Tokens that the model can read and say.
        seq_len: Context length: the longest text that it sees at once, in tokens.

    Raises:
        ValueError: If a number is below 1 or the heads do not divide the width.
    """

    num_layers: int
    hidden_dim: int
    num_heads: int
    vocab_size: int
    seq_len: int

    def __post_init__(self) -> None:
        for name in ("num_layers", "hidden_dim", "num_heads", "vocab_size", "seq_len"):
            value = getattr(self, name)
            if value < 1:
                raise ValueError(
                    _("{name} is {value}; it must be at least 1.").format(name=name, value=value)
                )
        if self.hidden_dim % self.num_heads:
            raise ValueError(
                _(
                    "hidden_dim {width} cannot be shared by {heads} heads; "
                    "choose a width that is a multiple of {heads}."
                ).format(width=self.hidden_dim, heads=self.num_heads)
            )

    @property
    def head_dim(self) -> int:
        """Width of one attention head."""
        return self.hidden_dim // self.num_heads

    @property
    def ffn_dim(self) -> int:
        """Width inside the feed-forward layer: four times the residual stream, as in GPT-2."""
        return 4 * self.hidden_dim
