"""What a run is asked to do: one frozen, validated record that survives a JSON round trip."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, fields
from typing import Any, Final, Literal, get_args

from core.budget.by_hand.gpt import count_parameters
from core.language import N_, _
from core.models import GPTShape
from core.models.spec import ModelSpec

JSON = dict[str, Any]
TokenizerName = Literal["character", "byte", "bpe"]
PrecisionName = Literal[
    "auto", "fp32", "bf16", "bf16_fp32_attention", "fp16", "fp16_unscaled", "pure_bf16", "pure_fp16"
]
OptimizerName = Literal["adamw", "adam", "sgd", "momentum", "rmsprop", "adagrad", "muon"]
ScheduleName = Literal["cosine", "linear", "constant", "step"]
FamilyName = Literal["gpt", "llama"]
# What Break it switches on: a mistake in the loop or the model that no setting can make.
MistakeName = Literal[
    "",
    "no_zero_grad",
    "no_eval",
    "normal_init",
    "unshifted_target",
    "leaky_mask",
    "unshuffled",
    "undivided",
    "small_loss",  # 1/1024 of it: as of 1,024 passes that are accumulated
]
DeviceName = Literal["auto", "cpu", "cuda", "mps"]

TOKENIZERS: Final = ("character", "byte", "bpe")
PRECISIONS: Final = get_args(PrecisionName)
OPTIMIZERS: Final = get_args(OptimizerName)
SCHEDULES: Final = get_args(ScheduleName)
FAMILIES: Final = get_args(FamilyName)
MISTAKES: Final = get_args(MistakeName)
DEVICES: Final = ("auto", "cpu", "cuda", "mps")
CHOICES: Final = {
    "tokenizer": TOKENIZERS,
    "precision": PRECISIONS,
    "optimizer": OPTIMIZERS,
    "schedule": SCHEDULES,
    "family": FAMILIES,
    "mistake": MISTAKES,
    "device": DEVICES,
}

DEFAULT_BPE_VOCABULARY: Final = 1024
FFN_MULTIPLE: Final = 8  # a Llama-like model's inner width is rounded up to it

# field: lowest and highest value that a run accepts
LIMITS: Final[Mapping[str, tuple[float, float]]] = {
    "bpe_vocab_size": (256, 16_384),  # the bytes alone; more than half a megabyte of text fills
    "num_layers": (1, 96),
    "hidden_dim": (8, 4096),
    "num_heads": (1, 64),
    "seq_len": (8, 4096),
    "batch_size": (1, 1024),
    "accumulation_steps": (1, 64),
    "num_steps": (1, 10_000_000),
    "learning_rate": (1e-7, 10.0),
    "min_learning_rate": (0.0, 10.0),
    "warmup_steps": (0, 1_000_000),
    "weight_decay": (0.0, 10.0),
    "beta1": (0.0, 0.9999),
    "beta2": (0.0, 0.99999),
    "eps": (0.0, 1.0),
    "dropout": (0.0, 0.9),
    "num_kv_heads": (0, 64),
    "lora_rank": (0, 256),
    "grad_clip": (0.0, 1000.0),
    "seed": (0, 2**31 - 1),
    "eval_interval": (1, 1_000_000),
    "eval_batches": (1, 1000),
    "sample_interval": (1, 1_000_000),
    "sample_length": (1, 2000),
    "checkpoint_interval": (1, 1_000_000),
    "memory_interval": (1, 1_000_000),
    "max_steps_per_second": (0.1, 10_000),
    "max_seconds": (0.1, 10_000_000),
}
_MAY_BE_NONE: Final = frozenset({"max_steps_per_second", "max_seconds"})
_OUT_OF_RANGE = N_("{name} is {value}; choose a number from {low} to {high}.")
_NOT_A_CHOICE = N_("{name} is {value!r}; choose one of {choices}.")


@dataclass(frozen=True, kw_only=True, slots=True)
class TrainConfig:
    """Everything that decides a run; the same config and text give the same losses on one CPU.

    On CUDA some backward passes add in no fixed order: there the losses agree only nearly.

    Attributes:
        corpus: Key of `core.train.text.corpora.CORPORA`, or "upload".
        bpe_vocab_size: With BPE, the most tokens it may learn: the 256 bytes and the merges.
        accumulation_steps: Forward passes whose gradients make one optimizer step.
        learning_rate: The highest, reached after `warmup_steps`; the cosine ends at the lowest.
        weight_decay: Leaves one-dimensional weights alone.
        grad_clip: Largest gradient norm; 0 switches clipping off.
        optimizer: Row of `core.train.learning.optimizers`; each is torch's own class.
        eps: What the optimizer adds to the root of the second moment, if it has one.
        schedule: What follows the warm-up: half a cosine, a line, nothing, or steps of a tenth.
        dropout: Share of the activations that training sets to zero.
        family: Our GPT, or a Llama-like model: RMSNorm, rotary positions, SwiGLU, grouped heads.
        num_kv_heads: Of a Llama-like model; 0 for as many as there are heads.
        checkpointing: Whether the backward pass computes each block's activations again.
        compile: Whether torch.compile makes kernels of the model first.
        lora_rank: Train adapters of this rank beside frozen weights of a parent run; 0 for none.
        mistake: What is done wrong on purpose; "" for a healthy run.
        precision: "auto" is resolved by measuring before the run starts.
        device: "auto" takes CUDA, then MPS, then the CPU.
        gpu: On CUDA which GPU: a UUID or its beginning, or a number among the visible ones; empty
            for the least busy.
        eval_batches: Batches of the validation text in one evaluation.
        sample_length: Tokens of one sample.
        max_steps_per_second: The governor; None lets the run go as fast as it can.
        max_seconds: Training time after which the run ends before its last step; None for as long
            as the steps take. Pauses and waits for the governor do not count.

    Raises:
        ValueError: If a value is outside `LIMITS` or not a known choice.
    """

    name: str = "gpt"
    corpus: str = "language_reference"
    tokenizer: TokenizerName = "character"
    bpe_vocab_size: int = DEFAULT_BPE_VOCABULARY
    num_layers: int = 2
    hidden_dim: int = 64
    num_heads: int = 4
    seq_len: int = 64
    batch_size: int = 16
    accumulation_steps: int = 1
    num_steps: int = 1000
    learning_rate: float = 3e-3
    min_learning_rate: float = 3e-4
    warmup_steps: int = 50
    weight_decay: float = 0.1
    beta1: float = 0.9
    beta2: float = 0.95
    grad_clip: float = 1.0
    optimizer: OptimizerName = "adamw"
    eps: float = 1e-8
    schedule: ScheduleName = "cosine"
    dropout: float = 0.0
    family: FamilyName = "gpt"
    num_kv_heads: int = 0
    checkpointing: bool = False
    compile: bool = False
    lora_rank: int = 0
    mistake: MistakeName = ""
    precision: PrecisionName = "auto"
    device: DeviceName = "auto"
    gpu: str = ""
    seed: int = 1337
    eval_interval: int = 100
    eval_batches: int = 8
    sample_interval: int = 200
    sample_length: int = 160
    checkpoint_interval: int = 500
    memory_interval: int = 25
    max_steps_per_second: float | None = None
    max_seconds: float | None = None

    def __post_init__(self) -> None:
        for name, (low, high) in LIMITS.items():
            value = getattr(self, name)
            # `not (a <= b <= c)` refuses NaN too
            if value is not None and not low <= value <= high:
                text = _(_OUT_OF_RANGE)
                raise ValueError(text.format(name=name, value=value, low=low, high=high))
        for name, choices in CHOICES.items():
            value = getattr(self, name)
            if value not in choices:
                text = _(_NOT_A_CHOICE)
                raise ValueError(text.format(name=name, value=value, choices=_(", ").join(choices)))
        self.shape(vocab_size=1)
        if self.family == "llama":
            self.spec(vocab_size=1)

    def shape(self, vocab_size: int) -> GPTShape:
        """Return the model's shape once the text has told how many tokens there are."""
        return GPTShape(
            num_layers=self.num_layers,
            hidden_dim=self.hidden_dim,
            num_heads=self.num_heads,
            vocab_size=vocab_size,
            seq_len=self.seq_len,
        )

    def spec(self, vocab_size: int) -> ModelSpec:
        """Return the Llama-like model: three matrices of 8/3 widths where our GPT has two of four.

        Raises:
            ValueError: If the key heads do not divide the heads, or a head's width is odd.
        """
        head_dim = self.hidden_dim // self.num_heads
        if head_dim % 2:
            text = _(
                "hidden_dim {width} gives each of {heads} heads {head_dim} channels, and rotary "
                "positions turn channels in pairs; choose a multiple of {multiple}."
            )
            sizes = {"width": self.hidden_dim, "heads": self.num_heads, "head_dim": head_dim}
            raise ValueError(text.format(**sizes, multiple=2 * self.num_heads))
        return ModelSpec(
            name="Llama-like",
            num_layers=self.num_layers,
            hidden_dim=self.hidden_dim,
            num_heads=self.num_heads,
            num_kv_heads=self.num_kv_heads or self.num_heads,
            head_dim=head_dim,
            ffn_dim=-(-8 * self.hidden_dim // (3 * FFN_MULTIPLE)) * FFN_MULTIPLE,
            vocab_size=vocab_size,
            seq_len=self.seq_len,
            tied=True,
        )

    def sizes(self, vocab_size: int) -> GPTShape | ModelSpec:
        """Return the sizes of the model that is trained, as its family has them."""
        return self.spec(vocab_size) if self.family == "llama" else self.shape(vocab_size)

    @property
    def may_use_cuda(self) -> bool:
        """Whether the run trains on a CUDA GPU if there is one."""
        return self.device in ("auto", "cuda")

    @property
    def tokens_per_step(self) -> int:
        """Tokens that one optimizer step learns from."""
        return self.batch_size * self.accumulation_steps * self.seq_len

    def to_json(self) -> JSON:
        """Return plain data for run.json."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "TrainConfig":
        """Return the config that `to_json` wrote.

        Raises:
            ValueError: If a field is unknown, of the wrong type or out of range.
        """
        known = {field.name for field in fields(cls)}
        unknown = sorted(set(data) - known)
        if unknown:
            raise ValueError(
                _("{names} is no setting of a run; the settings are {known}.").format(
                    names=_(", ").join(unknown), known=_(", ").join(sorted(known))
                )
            )
        return cls(**{name: _typed(name, value) for name, value in data.items()})


def is_watched(info: Mapping[str, Any]) -> bool:
    """Say whether a run.json tells of a loop of the reader's own: core/train/watch.py wrote it."""
    return info.get("source") == "watch"


def num_parameters(info: Mapping[str, Any]) -> int | None:
    """Return the parameters of the run of a run.json; None if nobody noted its vocabulary.

    Raises:
        ValueError: If its config is none.
    """
    if is_watched(info):
        told = (info.get("prediction") or {}).get("num_params")
        return None if told is None else int(told)
    config, size = TrainConfig.from_json(info["config"]), (info.get("text") or {}).get("vocab_size")
    return int(count_parameters(config.sizes(size)).amount) if size else None


def config_of_run(info: Mapping[str, Any]) -> TrainConfig:
    """Return the config in the contents of a run.json, "auto" replaced by what it came to.

    Raises:
        ValueError: If a field is unknown, of the wrong type or out of range; or if the run is a
            loop of the reader's own, which nobody here can go on with.
    """
    if is_watched(info):
        message = _(
            "{name} was trained by a loop of its own, which only tells of itself here: text and "
            "weights are with that program, and so is whatever goes on from them."
        )
        raise ValueError(message.format(name=info.get("name")))
    came_to = (info.get("resolved") or {}).get("precision")
    return TrainConfig.from_json(info["config"] | ({"precision": came_to} if came_to else {}))


_DEFAULTS: Final = {field.name: field.default for field in fields(TrainConfig)}


def _typed(name: str, value: object) -> Any:  # noqa: ANN401  as varied as the settings are
    """Return a JSON value as the field's own type; 3.0 is not a whole number that was meant."""
    default = _DEFAULTS[name]
    if name in _MAY_BE_NONE:
        default = 1.0 if value is not None else None
    wanted = type(default)
    if wanted is float and isinstance(value, int) and not isinstance(value, bool):
        with suppress(OverflowError):
            return float(value)
    if type(value) is not wanted:
        raise ValueError(
            _("{name} is {value!r}; it must be of type {type}.").format(
                name=name, value=value, type=wanted.__name__
            )
        )
    return value


def setting(text: str) -> tuple[str, object]:
    """Return key and value of KEY=VALUE; numbers become numbers, none becomes nothing.

    >>> setting("num_layers=4"), setting("max_steps_per_second=none"), setting("gpu=0")
    (('num_layers', 4), ('max_steps_per_second', None), ('gpu', '0'))
    """
    key, equals, value = text.partition("=")
    if not equals:
        raise ValueError(f"{text!r} is no setting; write KEY=VALUE, such as num_layers=4.")
    if isinstance(_DEFAULTS.get(key), str):
        return key, value
    if value.lower() == "none":
        return key, None
    if isinstance(_DEFAULTS.get(key), bool) and value.lower() in ("true", "false"):
        return key, value.lower() == "true"
    for kind in (int, float):
        try:
            return key, kind(value)
        except ValueError:
            continue
    return key, value
