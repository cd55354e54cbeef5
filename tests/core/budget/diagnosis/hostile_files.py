"""Files that nobody should bring: good ones of every kind, damaged, and some that are made to hurt.

`python -m tests.core.budget.diagnosis.hostile_files brought|snapshots NUMBER SEED` reads so many in
this process and prints as one line of JSON how that ended, what the slowest took, and the memory.
"""

import gzip
import json
import os
import pickle
import random
import re
import resource
import struct
import sys
import time
import traceback
import zipfile
from argparse import Namespace
from collections import Counter
from io import BytesIO
from pathlib import Path

from core.budget.command_line import explained
from core.budget.diagnosis.out_of_memory import UntoldRequestError
from core.budget.diagnosis.recognise import UnknownError, recognise
from core.budget.diagnosis.sentences import snapshot_sentence
from core.budget.diagnosis.snapshot.__main__ import DataUnpickler, answers
from core.budget.diagnosis.snapshot.answer import MAX_MEMORY, as_snapshot
from tests.core.budget.diagnosis.brought.made_files import CONFIG, TEXTS
from tests.core.budget.diagnosis.brought.made_headers import (
    gguf,
    index,
    printed,
    safetensors_header,
)
from tests.core.budget.diagnosis.made_snapshot import two_steps
from tests.core.budget.diagnosis.test_logs import LLAMA_CPP, ROWS, VLLM
from tests.core.budget.diagnosis.test_out_of_memory import FORMS, NEW

MOST = 5 << 20  # bytes that the page takes
USUAL = 20_000
PUBLISHED = Path(__file__).parents[1] / "catalogue" / "published_configs.json"
SMALL = (2, 256, 256, 128, 512, 60)  # a model whose headers are short
CANARY = "it-was-run"
PEAK = {"weights": 1, "gradients": 2, "optimizer": 3, "peak": 9 << 30, "reserved": 10 << 30}
RECIPE = '{"train_micro_batch_size_per_gpu": 1, '


class Evil:
    """Writes a file where it is unpickled."""

    def __reduce__(self):
        return os.system, (f"touch {CANARY}",)


def zipped(content):
    """Return a file as torch.save writes it."""
    file = BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("archive/data.pkl", content)
    return file.getvalue()


def good():
    """Return kind -> files of it that are read."""
    log = "\n".join(row["example"] for row in ROWS)
    published = json.loads(PUBLISHED.read_text(encoding="utf-8"))
    texts = {
        "error": list(FORMS), "recipe": list(TEXTS.values()),
        "log": [log, log.splitlines()[0] * 40, VLLM, LLAMA_CPP],
        "header": [index(SMALL), printed(SMALL)],
        "peak": [json.dumps({"measured_peak": PEAK})],
        "config": [json.dumps(each) for each in published.values()],
    }  # fmt: skip
    files = {kind: [text.encode() for text in each] for kind, each in texts.items()}
    files["header"] += [safetensors_header(SMALL), gguf(SMALL)]
    return files


def made():
    """Yield files that each aim at one weakness."""
    for protocol in range(6):
        yield pickle.dumps({"segments": [Evil()]}, protocol)
    yield zipped(pickle.dumps(Evil()))
    yield zipped(bytes(50 << 20))
    yield gzip.compress(bytes(50 << 20))
    yield b"bf16: !!python/object/apply:os.system ['touch it-was-run']\n"
    yield b"TrainingArguments(bf16=__import__('os').system('touch it-was-run'))"
    laughs = "".join(f"l{n}: &l{n} [{f'*l{n - 1}, ' * 9}]\n" for n in range(1, 9))
    yield f"bf16: true\nl0: &l0 [lol]\n{laughs}".encode()
    yield from nested()
    yield from sized()
    yield from lying()


def nested():
    """Yield JSON and TOML as deep as a parser can just read, and deeper."""
    for depth in (30, 900, 960, 975, 980, 985, 990, 995, 5000, 500_000):
        for form in ("[", '{"a": '):
            deep = form * depth + "1" + {"[": "]"}.get(form, "}") * depth
            yield f'{RECIPE}"optimizer": {deep}}}'.encode()
            yield f'{{"weight_map": {{"a": {deep}}}}}'.encode()
            yield CONFIG.replace("4096", deep, 1).encode()
            yield f'{{"measured_peak": {{"weights": {deep}}}}}'.encode()
        yield f"seq_len = {'[' * depth}1{']' * depth}".encode()


def sized():
    """Yield large files, and small ones that want much."""
    prefix, fields = "a" * (MOST // 2), ",".join(f'"{n}":{n}' for n in range(200_000))
    yield f'{RECIPE}"{prefix}": {{{fields}}}}}'.encode()
    yield f"{RECIPE}{fields}}}".encode()
    yield f'{RECIPE}"zero_optimization": [{"1," * (MOST // 2)}1]}}'.encode()
    for more in ({}, {"full_attention_interval": 2}, {"num_experts": 4, "num_experts_per_tok": 2}):
        yield json.dumps(json.loads(CONFIG) | more | {"num_hidden_layers": 20_000_000}).encode()
    yield json.dumps(json.loads(CONFIG) | {"quantization_config": {"quant_method": []}}).encode()
    odd = {"_name_or_path": "\ud800", "\ud800dim": 1, "num_hidden_layers": 30}
    yield json.dumps(json.loads(CONFIG) | odd).encode()
    yield f"{NEW} GPU {'9' * 5000}".encode()
    yield NEW.replace("GPU 0", f"GPU {'9' * 5000}").encode()
    yield re.sub(r"[\d.]+ GiB is allocated", "0 bytes is allocated", NEW).encode()
    for unit in ("\n(x pid=1", " ", "CUDA out of memory. Tried to allocate 1 GiB" + " x" * 90):
        yield repeated(NEW + unit, MOST)
        yield (NEW + unit * (MOST // len(unit))).encode()[:MOST]
    for unit in ("\n", "tps: 1\n", "iter 1: loss 1, time ", "a.b (1,1)\n", "9", "a "):
        yield repeated(unit, MOST)
        yield repeated(unit, MOST // 5)
    yield "".join(f"D{n} KV buffer size = 1 MiB\n" for n in range(9000)).encode()


def lying():
    """Yield headers whose lengths are wrong."""
    for lie in (0, 8, 1 << 26, 1 << 40, 2**64 - 1):
        yield struct.pack("<Q", lie) + safetensors_header(SMALL)[8:]
        yield b"GGUF" + struct.pack("<IQQQ", 3, lie, 1, lie)
        yield b"GGUF" + struct.pack("<IQQ", 3, 1, lie) + gguf(SMALL)[24:]


def snapshots():
    """Yield pickles that each aim at one weakness of what reads a memory snapshot."""
    for protocol in range(6):
        yield pickle.dumps({"segments": [Evil()]}, protocol)
    yield b"cos\nsystem\n(S'touch it-was-run'\ntR."
    yield b"\x80\x04\x8c\x02os\x8c\x06system\x93\x8c\x10touch it-was-run\x85R."
    for lie in (1 << 16, 1 << 31, 1 << 34, 1 << 62):
        yield b"\x80\x04\x8e" + struct.pack("<Q", lie) + b"x."
        yield b"\x80\x04}r" + struct.pack("<I", lie % 2**32) + b"."
    for depth in (900, 990, 200_000):
        yield b"\x80\x04" + b"]" * depth + b"a" * (depth - 1) + b"."
    yield gzip.compress(bytes(50 << 20))
    yield zipped(pickle.dumps(two_steps().dump()))


VALUES = (
    *(b"0", b"-1", b"1e999", b"-1e999", b"NaN", b"Infinity", b"0.5", b"null", b"true", b"{}"),
    *(b'""', b"[[[]]]", b'{"a": [1]}', b'"\\ud800"', b"9" * 18, b"9" * 400, b"9" * 5000),
    *(b"20000000", b"0x" + b"f" * 6000, b"1e308", b"1_0", b"2024-01-01", b"'", b"\xd9\xa3" * 5),
)
"""What numbers and words of a file are replaced by."""
INSERTED = (
    *(b"[", b"{", b'{"a":', b"(", b"- ", b"*a ", b"a:\n ", b"\n", b" ", b"\t", b"\0", b"9", b"a."),
    *(b"\xef\xbb\xbf", b"\xff\xfe", b"\x80", b"\\ud800", b"\xed\xa0\x80", b"\r", b"'", b'"', b"#"),
    *(b"\xe2\x80\xa8", b"\x1b[0m", b"<<: *a\n", b"-", b"not ", b"lambda:", b"&a [*a]", b"&b "),
)
"""What is put into a file, many times."""
CODINGS = ("utf-16", "utf-32", "utf-8-sig", "utf-7")


def repeated(piece, most):
    """Return a text or bytes as often as there is room for."""
    content = piece.encode() if isinstance(piece, str) else bytes(piece)
    return content * (most // max(len(content), 1))


def _flipped(data, rng, _most):
    for _time in range(rng.randrange(1, 20)):
        data[rng.randrange(len(data))] = rng.randrange(256)


def _lied(data, rng, _most):
    place = rng.randrange(64)
    data[place : place + 8] = struct.pack("<Q", rng.choice((0, 7, 1 << 16, 1 << 40, 2**64 - 1)))


def _stuffed(data, rng, most):
    place, piece = rng.randrange(len(data)), rng.choice(INSERTED)
    data[place:place] = rng.choice([piece * n for n in (1, 3, 45, 980)] + [repeated(piece, most)])


def _doubled(data, rng, most):
    start, end = sorted(rng.randrange(len(data)) for _side in range(2))
    data[start:end] = rng.choice((b"", data[start:end] * 2, repeated(data[start:end], most)))


def _replaced(data, rng, _most):
    words = [*re.finditer(rb'"[^"\n]{0,80}"|\b\w+\b', bytes(data))]
    numbers = [each for each in words if each[0].isdigit()]
    found = rng.choice([each for each in (words, numbers) if each] or [[]])
    for each in sorted(rng.sample(found, min(len(found), 3)), key=re.Match.start, reverse=True):
        data[each.start() : each.end()] = rng.choice((*VALUES, rng.choice(words)[0]))


def _torn(data, rng, _most):
    del data[rng.randrange(len(data)) :]


def _recoded(data, rng, _most):
    data[:] = data.decode("utf-8", "replace").encode(rng.choice(CODINGS))


DAMAGES = (_flipped, _lied, _stuffed, _doubled, _replaced, _replaced, _torn, _recoded)


def damaged(content, rng, most=USUAL):
    """Return a file that is torn, garbled, lied in or blown up, once or a few times."""
    data = bytearray(content)
    for _time in range(rng.choice((1, 1, 2, 3))):
        if data:
            rng.choice(DAMAGES)(data, rng, most)
            del data[most:]
    return bytes(data)


def mutants(number, seed, first=made, files=None):
    """Yield so many files: those of `first`, then damaged ones; every 200th of them is large."""
    count = sum(1 for _each in first())
    yield from first()
    rng, kinds = random.Random(seed), [*(files or good()).values()]  # noqa: S311
    for turn in range(number - count):
        content = rng.choice(kinds[turn % len(kinds)])
        yield damaged(content, rng, MOST if turn % 200 == 0 else max(USUAL, len(content)))


TERMINAL = Namespace(of="", settings=[], json=True)


def explained_file(content):
    """Return which kind a file was, after all that the terminal says of it was written."""
    try:
        told = recognise(content, "file")
    except (UnknownError, UntoldRequestError) as error:
        return checked(error)
    try:
        answered = explained._answer(told, explained._plan(TERMINAL, told))
    except ValueError as error:
        return checked(error)
    (text,) = explained._written(TERMINAL, answered)
    assert len(text.encode()) < 1 << 20
    return type(told).__name__


def checked(error):
    """Return the kind of an error, after a look at whether a reader can read its sentence."""
    sentence = str(error)
    sentence.encode()
    assert 10 < len(sentence) < 1000, sentence
    assert not isinstance(error, UnicodeError), sentence
    assert "Exceeds the limit" not in sentence, "a sentence of Python's own"
    return type(error).__name__


def snapshot_file(content):
    """Return what a snapshot was, read as its child process reads it."""
    path = Path("snapshot.pickle")
    path.write_bytes(content)
    try:
        with path.open("rb") as file:
            lines = [json.dumps(each) for each in answers(DataUnpickler(file))]
    except MemoryError:
        return "memory"
    try:
        snapshot_sentence(as_snapshot(lines)).encode()
    except ValueError as error:
        checked(error)
        return str(json.loads(lines[-1])["problem"])
    return "Snapshot"


def read_all(read, files):
    """Return how the files ended, the tracebacks, the slowest in CPU seconds, and the memory."""
    ends, faults, slowest = Counter(), [], (0.0, 0, "")
    for number, content in enumerate(files):
        begin = time.process_time()
        try:
            ends[read(content)] += 1
        except Exception:  # noqa: BLE001  every one is a fault, and is told
            faults.append(f"{number}: {content[:80]!r}\n{traceback.format_exc()[-1500:]}")
        seconds = round(time.process_time() - begin, 2)
        slowest = max(slowest, (seconds, number, repr(content[:60])))
    return {"ends": ends, "faults": faults, "slowest": slowest, "megabytes": megabytes()}


def megabytes():
    """Return the most memory that this process has held.

    On Linux the usage of resources counts what its parent held before the program began.
    """
    status = Path("/proc/self/status")
    if status.exists():
        (told,) = re.findall(r"VmHWM:\s+(\d+) kB", status.read_text())
        return int(told) >> 10
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return memory >> (20 if sys.platform == "darwin" else 10)


def main(what, number, seed):
    """Read so many files of one sort and print how that ended."""
    if what == "brought":
        found = read_all(explained_file, mutants(int(number), int(seed)))
    else:
        resource.setrlimit(resource.RLIMIT_AS, (MAX_MEMORY, MAX_MEMORY))
        files = {"snapshot": [pickle.dumps(two_steps(num_layers=n).dump()) for n in (2, 20)]}
        files = mutants(int(number), int(seed), snapshots, files)
        found = read_all(snapshot_file, files)
    sys.stdout.write(json.dumps(found))


if __name__ == "__main__":
    main(*sys.argv[1:])
