"""Every word that the live chart shows, in the reader's language; its JavaScript holds none."""

from collections.abc import Callable, Mapping
from typing import Any, Final

from core.language import N_, _
from core.train.run import state
from core.train.text.pieces import SIGNS
from core.train.worker import failures
from core.train.worker.turn import QUEUED
from core.units import HOURS, MINUTES

Translate = Callable[[str], str]

CATEGORY_NAMES: Final = {
    "weights": N_("weights"),
    "gradients": N_("gradients"),
    "optimizer": N_("optimizer state"),
    "activations": N_("activations"),
    "other": N_("other"),
}
SOURCES: Final = {
    "allocator": N_("allocator"),
    "tensors": N_("watched tensors"),
    "data sheet": N_("data sheet"),
    "claimed": N_("no data sheet: recalled or by ratio"),
    "measured": N_("measured matmul"),
}
ALTS: Final = {
    "loss": N_(
        "Loss against training step. At step {step} of {num_steps} the training loss is {loss} "
        "and the last validation loss {validation_loss}. For comparison: uniform guess {ln_vocab}, "
        "unigram entropy {unigram_entropy}, bigram entropy {bigram_entropy}."
    ),
    "learning_rate": N_(
        "Learning rate against training step. At step {step} it is {learning_rate}; "
        "changes of the multiplier so far: {num_changes}."
    ),
    "grad_norm": N_(
        "Gradient norm against training step. At step {step} it is {grad_norm}; "
        "larger ones are clipped to {grad_clip}."
    ),
    "tokens_per_second": N_(
        "Training speed against training step. At step {step} it is {tokens_per_second}, over all "
        "steps {mean_rate}; predicted were {predicted_rate}."
    ),
    "memory": N_(
        "{memory} by category against training step: weights {weights}, gradients {gradients}, "
        "optimizer state {optimizer}, activations {activations}, other {other}; "
        "peak {peak}, predicted in all {predicted}. "
        "The whole process holds {resident_bytes} of the host's memory."
    ),
}
# The sentence of each stage. `distance` is how far the validation loss lies below what the stage
# has beaten; `goal` is the next reference on the way down.
LEARNT: Final = {
    "unknown": N_("No validation loss yet: the first one comes at the next evaluation."),
    "worse": N_(
        "Validation loss {loss}: no better than a uniform guess among {vocab_size} tokens "
        "(ln V = {goal} nats)."
    ),
    "guess": N_(
        "Validation loss {loss}: {distance} nats below a uniform guess. "
        "Knowing only how often each token occurs would give {goal}."
    ),
    "frequencies": N_(
        "Validation loss {loss}: {distance} nats below what token frequencies give. "
        "Knowing the token before as well would give {goal}."
    ),
    "context": N_(
        "Validation loss {loss}: {distance} nats below the bigram entropy, "
        "so the model uses more than the token just before."
    ),
}

STATES: Final = {
    "none": N_("no run yet"),
    "starting": N_("starting"),
    "running": N_("training"),
    "paused": N_("paused"),
    "stopping": N_("saving"),
    "stopped": N_("stopped and saved"),
    "left": N_("stopped"),  # of a loop of the reader's own, which saves nothing here
    "leaving": N_("stopping"),
    "finished": N_("finished"),
    "failed": N_("failed"),
    "crashed": N_("crashed"),
    "recorded": N_("recording"),
}
SENTENCES: Final = {
    "sentence_starting": N_(
        "A separate process is starting: it loads PyTorch and tokenizes the text."
    ),
    "sentence_stopped": N_(
        "Stopped at step {step} of {num_steps}; a checkpoint is kept, and Resume goes on from it."
    ),
    "sentence_left": N_("Stopped at step {step}, as it was asked to."),
    "sentence_failed": N_("The run ended early at step {step}. {reason}"),
    "sentence_crashed": N_("Crashed after step {step}. {reason}"),
    # Its message tells an English reader which one.
    "reason_device_busy": N_("Another run is training on this device: stop it first."),
    "empty": N_("No run yet: press Train, and watch it learn here."),
    "missing": N_(
        "There is no run called {run} here that can be read. Choose one under Runs, or train "
        "a new one."
    ),
}
# Sentences that a worker writes into its state as they are, with numbers for their braces.
MESSAGES: Final = (
    state.KILLED,
    state.KILLED_HOLDING,
    state.KILLED_WATCHED,
    QUEUED,
    failures.HALVE_THE_BATCH,
    failures.SHORTEN_THE_CONTEXT,
    failures.HALVE_THE_BATCH_BLIND,
    failures.SHORTEN_THE_CONTEXT_BLIND,
    failures.DEVICE_GONE,
    failures.GPU_GONE,
    failures.DEVICE_LOST,
    failures.DEVICE_TAKEN,
    failures.NO_KERNELS,
    state.TIME_IS_UP,
    state.NON_FINITE_PAUSE,
    state.NOT_SAVED,
    failures.DISK,
    failures.ERROR,
)
STATUS: Final = {
    "headline": N_("Loss {loss} at step {step} of {num_steps} · {parameters} parameters"),
    "headline_plain": N_("Loss {loss} at step {step} of {num_steps}"),
    "headline_present": N_("Loss {loss} · step {step}"),
    "headline_open": N_("Loss {loss} at step {step}"),
    "headline_recorded": N_("Recording: after {step} of {num_steps} steps the loss is {loss}"),
    "headline_recorded_present": N_("Recording: loss {loss} · step {step}"),
    "headline_waits": N_("Predict first: the answer waits until you have chosen."),
    "status_running": N_("{left} left · {tokens_per_second} · validation loss {validation_loss}"),
    "status": N_("{tokens_per_second} · validation loss {validation_loss}"),
    "outcome": N_(
        "Predicted {predicted_seconds} and {predicted}; took {seconds} and {measured}, of which "
        "{other} (other) is in no prediction."
    ),
    "outcome_paused": N_(
        "Predicted {predicted_seconds} and {predicted}; took {seconds}, paused {paused}, and "
        "{measured}, of which {other} (other) is in no prediction."
    ),
    "status_ended": N_("mean {mean_rate} · validation loss {validation_loss}"),
    "reconnecting": N_("Connection lost; reconnecting …"),
    "no_plotly": N_("The drawing library did not load; reload the page."),
    "tokens": N_("tokens"),
    "minutes": MINUTES,
    "hours": HOURS,
}
CONTROLS: Final = {
    "controls": N_("Control of the run"),
    "op_pause": N_("Pause"),
    "op_resume": N_("Resume"),
    "op_step": N_("One step"),
    "op_stop": N_("Stop and save"),
    "op_leave": N_("Stop"),
    "op_go_back": N_("Go back, half the rate"),
    "op_snapshot": N_("Memory snapshot"),
    "multiplier": N_("Learning rate"),
    "multiplier_help": N_("Factor on the planned learning rate"),
    "times": N_("× {value}"),
    "governor": N_("Speed limit"),
    "governor_help": N_("Most steps per second"),
    "governor_off": N_("none"),
    "governor_value": N_("{value} steps/s"),
    "command_multiplier": N_("Learning rate × {value}"),
    "command_governor": N_("Speed limit: {value} steps/s"),
    "command_no_governor": N_("Speed limit: none"),
    "sent": N_("{command}: sent …"),
    "took_effect": N_("{command}: took effect at step {step}."),
    "resumed": N_("A new process goes on from the last checkpoint."),
    "refused": N_("{command}: refused. {reason}"),
}
PANELS: Final = {
    "sample_title": N_("Generated text"),
    "sample_slider": N_("Samples so far, oldest to newest"),
    "sample_step": N_("after step {step}"),
    "sample_none": N_("no sample yet"),
    "sample_text": N_("Generated text; the arrow keys go from character to character"),
    "mean_surprise": N_("mean surprise: {bits} bits per character"),
    "surprise_low": N_("expected"),
    "surprise_high": N_("8 bits or more"),
    "candidates_how": N_("Point at a character: what did the model hold likely there?"),
    "candidates": N_("{text}: {bits} bits of surprise, -log2 p. Likeliest: {candidates}"),
    "loss_of_loop": N_("loss, as the loop tells it"),
    "axis_of": N_("{counted} · {title}"),
    "axis_step": N_("step"),
    "axis_seconds": N_("seconds of training"),
    "axis_tokens": N_("tokens"),
    "axis_flops": N_("floating-point operations (FLOPs)"),
    "memory_axis": N_("memory ({unit})"),
    "vram_axis": N_("VRAM ({unit})"),
    "table": N_("The numbers as a table"),
    "table_now": N_("Now"),
    "table_evaluations": N_("Validation loss by step"),
    "csv": N_("All steps as CSV"),
    "real_words": N_("{share} % of the words in its last sample are words of the text."),
    "player": N_("This run as one HTML file"),
    "reset_zoom": N_("Reset zoom"),
    "save_png": N_("PNG"),
}
FACTS: Final = {
    "memory": N_("Memory"),
    "vram": N_("VRAM"),
    "unknown": N_("unknown"),
    "percent": N_("{number} %"),
    "peak_of_memory": N_("{amount} ({source})"),
    "share_of_peak": N_("{share} of {peak} ({source})"),
    "fact_step": N_("Step"),
    "fact_num_steps": N_("Planned steps"),
    "fact_loss": N_("Training loss (nats per token)"),
    "fact_validation_loss": N_("Validation loss (nats per token)"),
    "fact_loss_plain": N_("Training loss"),
    "fact_validation_loss_plain": N_("Validation loss"),
    "fact_peak_plain": N_("{memory}: peak of the process so far"),
    "fact_ln_vocab": N_("Uniform guess, ln V"),
    "fact_unigram_entropy": N_("Unigram entropy of the text"),
    "fact_bigram_entropy": N_("Bigram entropy of the text"),
    "fact_learning_rate": N_("Learning rate"),
    "fact_num_changes": N_("Changes of the multiplier"),
    "fact_grad_norm": N_("Gradient norm"),
    "fact_grad_clip": N_("Gradient clipping"),
    "fact_tokens_per_second": N_("Speed of the last step"),
    "fact_mean_rate": N_("Mean speed of all steps"),
    "fact_predicted_rate": N_("Predicted speed"),
    "fact_mfu": N_("MFU, mean of all steps"),
    "fact_weights": N_("{memory}: weights"),
    "fact_gradients": N_("{memory}: gradients"),
    "fact_optimizer": N_("{memory}: optimizer state"),
    "fact_activations": N_("{memory}: activations"),
    "fact_other": N_("{memory}: other"),
    "fact_peak": N_("{memory}: peak within the watched step"),
    "fact_reserved_bytes": N_("{memory}: reserved by the allocator"),
    "fact_context_bytes": N_("{memory}: CUDA context of this process"),
    "fact_other_bytes": N_("{memory}: other processes and the driver"),
    "fact_context_and_other_bytes": N_("{memory}: CUDA contexts, other processes and the driver"),
    "fact_total_bytes": N_("{memory}: all that the GPU has"),
    "fact_utilization": N_(
        "GPU utilization: the share of time in which any kernel ran. It is not MFU: a kernel that "
        "does little counts as much as one at the peak."
    ),
    "fact_predicted": N_("{memory}: predicted in all"),
    "fact_resident_bytes": N_("Host memory of the process (RSS)"),
}


def live_words(translate: Translate = _) -> dict[str, str]:
    """Return the words by the names that the JavaScript uses; placeholders stay in braces."""
    texts: dict[str, str] = {}
    for table in (SENTENCES, STATUS, CONTROLS, PANELS, FACTS):
        texts |= _translated(translate, table)
    texts |= {f"message {message}": translate(message) for message in MESSAGES}
    texts["others_on_the_gpu"] = translate(state.OTHERS_ON_THE_GPU)
    texts["signs"] = "".join(f"{character}{sign}" for character, sign in SIGNS.items())
    named = {"state_": STATES, "alt_": ALTS, "source_": SOURCES, "learnt_": LEARNT}
    for prefix, table in named.items():
        texts |= _translated(translate, table, prefix)
    return texts


def _translated(translate: Translate, table: Mapping[Any, str], prefix: str = "") -> dict[str, str]:
    return {f"{prefix}{name}": translate(text) for name, text in table.items()}
