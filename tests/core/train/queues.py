"""Who stands in the queue of a device."""

from core.train.control.device import _living, _queue_folder, _run_of, training_devices


def queued_runs(kind, gpu=""):
    """Return the runs that wait for the device, first come first."""
    tickets = {each for it in training_devices(kind, gpu) for each in _living(_queue_folder(it))}
    return tuple(map(_run_of, sorted(tickets)))
