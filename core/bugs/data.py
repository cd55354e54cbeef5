"""Cards on data, seeds and checkpoints."""

from typing import Final

from core.bugs.card import Card
from core.language import N_

_FILE: Final = """with tempfile.TemporaryDirectory() as folder:
    path = Path(folder) / "data.npy"
    {write}
    data = np.load(path)
data.tolist()"""
_STARTS: Final = """tokens, T = torch.arange(10), 2
starts = torch.randint(0, len(tokens) - T{more}, (10_000,))
"""
_DRAWN: Final = """weights = torch.randn(1000, generator=torch.Generator().manual_seed(0))
noise = torch.randn(1000, generator=torch.Generator().manual_seed({seed}))
torch.corrcoef(torch.stack([weights, noise]))[0, 1].item()"""
_SAVED: Final = """buffer = io.BytesIO()
torch.save({what}, buffer)
buffer.seek(0)
"""
_MODEL: Final = '{{"model": {model}, "epoch": 3, "loss": 1.5}}'
_FIELDS: Final = """stub = Path(torch.__file__).with_name("_C") / "__init__.pyi"
fields = stub.read_text(encoding="utf-8").partition("class _CudaDeviceProperties")[2]
"""
_FILE_SIZE: Final = "len(buffer.getvalue()) / 1e6"

CARDS: Final = (
    Card(
        key="tofile-is-no-npy",
        subject="data",
        level=1,
        title=N_("tofile and np.load"),
        claim=N_("A digest writes tokens with `tofile` and reads them with `np.load`: {wrong}."),
        wrong=_FILE.format(write="np.save(path, np.arange(4))"),
        right=_FILE.format(write="np.arange(4).tofile(path)"),
        other="np.arange(4).view(np.int32).tolist()",
        why_other=N_("So it would be if the bytes were read as 32-bit numbers."),
        why=N_(
            "`tofile` writes bare bytes, without the header that `np.load` reads dtype and shape "
            "from: {right}. Use `np.save`, or `np.memmap` with the dtype."
        ),
        shows="right",
        page="train/data_and_batches",
        query=(("batches_tab", "files"),),
        concepts=("C98",),
    ),
    Card(
        key="whole-model-saved",
        subject="data",
        level=1,
        title=N_("Saving the whole model"),
        claim=N_("A handbook saves the model itself and loads it back: {wrong}."),
        wrong=_SAVED.format(what="nn.Linear(2, 2).state_dict()") + "list(torch.load(buffer))",
        right=_SAVED.format(what="nn.Linear(2, 2)") + "list(torch.load(buffer).state_dict())",
        other='"FutureWarning"',
        why_other=N_("Versions before 2.6 warned; since then it is refused."),
        why=N_(
            "Since torch 2.6 `torch.load` takes only tensors and plain data, for unpickling a "
            "class runs its code: {right}. Save the `state_dict`."
        ),
        shows="right",
        page="train/data_and_batches",
        query=(("batches_tab", "files"), ("batches_file", "checkpoints")),
        concepts=("C95",),
    ),
    Card(
        key="last-token-never-drawn",
        subject="data",
        level=2,
        title=N_("Windows of tokens"),
        claim=N_(
            "A digest draws windows tokens[start : start + T] of ten tokens; the last one drawn "
            "has the index {wrong}."
        ),
        question=N_("What is the largest index that ever occurs?"),
        wrong=_STARTS.format(more=" + 1") + "int((starts + T - 1).max())",
        right=_STARTS.format(more="") + "int((starts + T - 1).max())",
        other=_STARTS.format(more="") + "int(starts.max())",
        why_other=N_("That is the largest start of a window."),
        why=N_(
            "`randint` leaves its upper end out, so the last window starts one too early: {right}. "
            "With targets shifted by one the bound would be right; here there are none."
        ),
        shows="right",
        written="{}",
        page="train/data_and_batches",
        query=(("batches_sentence", "0123456789"), ("batches_context", "2")),
        concepts=("C99",),
    ),
    Card(
        key="one-seed-for-all",
        subject="data",
        level=2,
        title=N_("One seed everywhere"),
        claim=N_(
            "A script uses seed 0 for the weights and again for the noise, and takes the two for "
            "independent: correlation {wrong}."
        ),
        question=N_("How strongly are they correlated?"),
        wrong=_DRAWN.format(seed=1),
        right=_DRAWN.format(seed=0),
        other="1 / math.sqrt(2)",
        why_other=N_("So it would be if half of the variance was shared."),
        why=N_(
            "The same seed gives the same numbers: correlation {right}. Use a seed for each use."
        ),
        shows="right",
        written="{:.2f}",
        page="train/data_and_batches",
        query=(("batches_tab", "ranks"), ("batches_view", "seeds")),
        concepts=("C88",),
    ),
    Card(
        key="numpy-number-in-checkpoint",
        subject="data",
        level=2,
        title=N_("A NumPy number in a checkpoint"),
        claim=N_("A script saves the mean loss, an np.float64, and reads it back: {wrong}."),
        wrong=_SAVED.format(what='{"loss": float(np.float64(1.5))}') + 'torch.load(buffer)["loss"]',
        right=_SAVED.format(what='{"loss": np.float64(1.5)}') + 'torch.load(buffer)["loss"]',
        other='"TypeError"',
        why_other=N_("Saving works; loading does not."),
        why=N_("np.float64 is a class of NumPy, not plain data: {right}. Save `float(loss)`."),
        shows="right",
        written="{:g}",
        page="train/data_and_batches",
        query=(("batches_tab", "files"), ("batches_file", "checkpoints")),
        concepts=("C95",),
    ),
    Card(
        key="weights-only-false",
        subject="data",
        level=2,
        title=N_("weights_only=False, to be safe"),
        claim=N_(
            "A course loads with weights_only=False; the default, it says, would end with {wrong}."
        ),
        question=N_("What does torch.load give by default?"),
        wrong=_SAVED.format(what=_MODEL.format(model="nn.Linear(2, 2)"))
        + "list(torch.load(buffer))",
        right=_SAVED.format(what=_MODEL.format(model="nn.Linear(2, 2).state_dict()"))
        + "list(torch.load(buffer))",
        other="[]",
        why_other=N_("All that was saved comes back."),
        why=N_(
            "A dictionary of state_dict and numbers is plain data: {right}. weights_only=False "
            "would run whatever code a downloaded file brings."
        ),
        shows="right",
        page="train/data_and_batches",
        query=(("batches_tab", "files"), ("batches_file", "checkpoints")),
        concepts=("C95",),
    ),
    Card(
        key="total-mem",
        subject="data",
        level=3,
        title=N_("Memory of the device"),
        claim=N_(
            "A tutorial reads {wrong} of `torch.cuda.get_device_properties(0)`: the memory of the "
            "GPU."
        ),
        question=N_("Which field has torch?"),
        wrong='"total_mem"',
        right=_FIELDS + 're.search(r"total_mem\\w*", fields)[0]',
        other='"mem_total"',
        why_other=N_("There is no such field."),
        why=N_("The field is {right}; the other name ends with an AttributeError on every GPU."),
        page="start/machine",
        query=(("machine_tab", "machine"),),
        concepts=("C156",),
    ),
    Card(
        key="saved-view-is-whole",
        subject="data",
        level=2,
        title=N_("Saving one number of a million"),
        claim=N_("A forum says: saving one float32 number in this way writes {right}."),
        question=N_("How large is the file?"),
        wrong=_SAVED.format(what="torch.zeros(1_000_000)[:1].clone()") + _FILE_SIZE,
        right=_SAVED.format(what="torch.zeros(1_000_000)[:1]") + _FILE_SIZE,
        other=_SAVED.format(what="torch.zeros(1_000_000).double()[:1]") + _FILE_SIZE,
        why_other=N_("So it would be with 8 bytes a number."),
        why=N_(
            "A slice is a view, and `torch.save` writes the whole storage behind it: {right}. "
            "`.clone()` first: {wrong}. Source: PyTorch's notes on serialization, “Saving and "
            "loading tensors preserves views”."
        ),
        holds=True,
        shows="right",
        written="{:.4f} MB",
        page="train/data_and_batches",
        query=(("batches_tab", "files"),),
        concepts=("C92",),
    ),
)
