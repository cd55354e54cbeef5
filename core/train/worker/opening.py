"""The session of a run, at its newest checkpoint that can be read."""

import torch

from core.train.config import TrainConfig
from core.train.control.commands import Inbox, StopSignal
from core.train.control.orders import Orders, standing_orders
from core.train.learning.sampler import Sampler
from core.train.learning.trainer import Trainer
from core.train.run.directory import checkpoints, forget_milestones
from core.train.run.store import RunStore
from core.train.text.dataset import Dataset, load_dataset
from core.train.worker.checkpoint import load_checkpoint
from core.train.worker.observer import Observer
from core.train.worker.session import Session


def open_session(
    config: TrainConfig, store: RunStore, device: torch.device, stop: StopSignal | None = None
) -> Session:
    """Return the session of a run, at its newest checkpoint that can be read.

    Args:
        config: The run's, its precision resolved.
        store: Open for the new attempt.
        device: Where it trains.
        stop: Where a signal is remembered.
    """
    directory = store.directory
    dataset = load_dataset(directory / "data")
    trainer, saved = _newest_trainer(config, dataset, device, store)
    forget_milestones(directory, after=trainer.step)
    text, prompt = dataset.text, dataset.prompt
    sampler = Sampler(text, dataset.tokenizer, prompt, config.seed, config.precision)
    orders = standing_orders(directory, saved)
    observer = Observer(trainer, store, sampler)
    return Session(observer, Inbox(directory, orders.last_command), orders, stop or StopSignal())


def _newest_trainer(
    config: TrainConfig, dataset: Dataset, device: torch.device, store: RunStore
) -> tuple[Trainer, Orders]:
    for path in reversed(checkpoints(store.directory)):
        # A file that cannot be loaded may leave a trainer half changed: each try has its own.
        trainer = _fresh_trainer(config, dataset, device)
        try:
            return trainer, load_checkpoint(path, trainer)
        except ValueError as error:
            told = {"tensor": path.name, "message": str(error)}
            store.append_event("finding", 0, finding="damaged_checkpoint", **told)
    at_first = Orders(max_steps_per_second=config.max_steps_per_second)
    return _fresh_trainer(config, dataset, device), at_first


def _fresh_trainer(config: TrainConfig, dataset: Dataset, device: torch.device) -> Trainer:
    return Trainer(
        config,
        dataset.training_tokens,
        dataset.validation_tokens,
        dataset.tokenizer.vocab_size,
        device,
    )
