"""The sliders of a run as a table: one row a setting."""

from dataclasses import dataclass
from typing import Final

from core.language import N_


@dataclass(frozen=True, kw_only=True, slots=True)
class Setting:
    """One slider: its word in the address, its field of `TrainConfig`, its positions."""

    name: str
    field: str
    label: str
    options: tuple[float, ...]
    help: str = ""
    fits: bool = False  # the preset value is not known before the device is timed


_EVERY: Final = (1, 5, 10, 20, 50, 100, 200, 500, 1000)
MODEL: Final = (
    Setting(name="layers", field="num_layers", label=N_("Layers"), options=(1, 2, 3, 4, 6, 8, 12)),
    Setting(
        name="width",
        field="hidden_dim",
        label=N_("Width"),
        options=(32, 64, 96, 128, 192, 256, 384, 512, 768),
        help=N_("Numbers in the residual stream for each token; a multiple of the heads."),
    ),
    Setting(name="heads", field="num_heads", label=N_("Heads"), options=(1, 2, 3, 4, 6, 8, 12)),
    Setting(
        name="context",
        field="seq_len",
        label=N_("Context"),
        options=(16, 32, 64, 128, 256, 512, 1024),
        help=N_("Tokens that the model sees at once."),
    ),
)
LEARNING: Final = (
    Setting(
        name="batch",
        field="batch_size",
        label=N_("Batch"),
        options=(1, 2, 4, 8, 12, 16, 32, 64, 128),
        help=N_("Sequences of one forward pass."),
    ),
    Setting(
        name="accumulation",
        field="accumulation_steps",
        label=N_("Accumulation"),
        options=(1, 2, 4, 8, 16),
        help=N_("Forward passes whose gradients are added before one update."),
    ),
    Setting(
        name="learning_rate",
        field="learning_rate",
        label=N_("Learning rate"),
        options=(1e-5, 1e-4, 3e-4, 6e-4, 1e-3, 2e-3, 3e-3, 5e-3, 1e-2, 3e-2, 0.1, 1.0),
        help=N_("Its peak: after the warm-up it falls along a cosine to a tenth."),
    ),
    Setting(
        name="warm_up",
        field="warmup_steps",
        label=N_("Warm-up steps"),
        options=(0, 10, 20, 50, 100, 200, 500),
        fits=True,
    ),
    Setting(
        name="weight_decay",
        field="weight_decay",
        label=N_("Weight decay"),
        options=(0.0, 0.01, 0.03, 0.1, 0.3, 1.0),
    ),
    Setting(
        name="clip",
        field="grad_clip",
        label=N_("Longest gradient"),
        options=(0.0, 0.1, 0.5, 1.0, 2.0, 5.0),
        help=N_("Longer gradients are cut to this length; 0 lets every gradient through."),
    ),
)
COURSE: Final = (
    Setting(
        name="steps",
        field="num_steps",
        label=N_("Steps"),
        options=(10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 50_000),
        help=N_("The preset takes as many as fit the duration."),
        fits=True,
    ),
    Setting(
        name="evaluate_every",
        field="eval_interval",
        label=N_("Evaluate every"),
        options=_EVERY,
        fits=True,
    ),
    Setting(
        name="sample_every",
        field="sample_interval",
        label=N_("Sample every"),
        options=_EVERY,
        fits=True,
    ),
    Setting(
        name="save_every",
        field="checkpoint_interval",
        label=N_("Checkpoint every"),
        options=_EVERY,
        fits=True,
    ),
)
