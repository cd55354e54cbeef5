"""A session at the run's newest checkpoint, with what commands have asked for since."""

from pathlib import Path

from core.train.checkpoint import checkpoints, load_checkpoint
from core.train.config import TrainConfig
from core.train.control import Inbox
from core.train.dataset import Dataset, load_dataset
from core.train.observer import Observer
from core.train.orders import Orders, standing_orders
from core.train.precision import pick_device
from core.train.sampler import Sampler
from core.train.session import Session
from core.train.stop_signal import StopSignal
from core.train.store import RunStore
from core.train.trainer import Trainer


def make_session(
    config: TrainConfig, store: RunStore, device_kind: str, stop: StopSignal | None = None
) -> Session:
    """Return the session of a run, at its newest checkpoint that can be read.

    Args:
        config: The run's, its precision resolved.
        store: Open for the new attempt.
        device_kind: "cpu", "cuda" or "mps".
        stop: Where a signal is remembered.
    """
    directory = store.directory
    dataset = load_dataset(directory / "data")
    trainer, saved = _newest_trainer(config, dataset, device_kind, store)
    sampler = Sampler(dataset.text, dataset.tokenizer, dataset.prompt, config.seed)
    orders = standing_orders(directory, saved)
    observer = Observer(trainer, store, sampler)
    return Session(observer, Inbox(directory, orders.last_command), orders, stop or StopSignal())


def _newest_trainer(
    config: TrainConfig, dataset: Dataset, device_kind: str, store: RunStore
) -> tuple[Trainer, Orders]:
    for path in reversed(checkpoints(store.directory)):
        # A file that cannot be loaded may leave a trainer half changed: each try has its own.
        trainer = _fresh_trainer(config, dataset, device_kind)
        try:
            return trainer, load_checkpoint(path, trainer)
        except ValueError as error:
            _tell_damaged(store, path, error)
    at_first = Orders(max_steps_per_second=config.max_steps_per_second)
    return _fresh_trainer(config, dataset, device_kind), at_first


def _fresh_trainer(config: TrainConfig, dataset: Dataset, device_kind: str) -> Trainer:
    return Trainer(
        config,
        dataset.training_tokens,
        dataset.validation_tokens,
        dataset.tokenizer.vocab_size,
        pick_device("cpu" if device_kind == "cpu" else "auto"),
    )


def _tell_damaged(store: RunStore, path: Path, error: ValueError) -> None:
    store.append_event(
        "finding", 0, finding="damaged_checkpoint", tensor=path.name, message=str(error)
    )
