"""An allocator that writes down what it does, as torch does: snapshots without a GPU."""

import pickle
from collections import Counter

MODULE = "/venv/lib/python3.12/site-packages/torch/nn/modules/module.py"
OPTIMIZER = "/venv/lib/python3.12/site-packages/torch/optim/optimizer.py"
TENSOR = "/venv/lib/python3.12/site-packages/torch/_tensor.py"
ENGINE = {"name": "torch::autograd::Engine::evaluate_function()", "filename": "??", "line": 0}
TRAIN = {"name": "train", "filename": "/home/ann/project/train.py", "line": 12}


def frame(name, filename, line=1):
    return {"name": name, "filename": filename, "line": line}


STACKS = {
    "forward": [
        frame("gelu", "/home/ann/project/model.py", 41),
        frame("forward", "/home/ann/project/model.py", 7), frame("_call_impl", MODULE), TRAIN,
    ],
    "backward": [
        frame("torch::autograd::generated::MmBackward0::apply()", "??"), ENGINE,
    ],
    "optimizer": [
        frame("step", "/home/ann/project/adam.py", 30), frame("wrapper", OPTIMIZER), TRAIN,
    ],
    "setup": [frame("convert", MODULE), frame("_apply", MODULE), TRAIN],
    "other": [frame("load", "/home/ann/project/data.py", 3)],
    "unknown": [],
}  # fmt: skip


class MadeAllocator:
    """Each tensor has a segment of its own, rounded up; what is freed stays reserved."""

    def __init__(self, *, with_history=True):
        self.blocks, self.events, self.clock = {}, [], 1_000_000
        self.recording = with_history
        self.amounts, self.reserved, self.told = Counter(), 0, []
        self.free = {}

    def _note(self, action, address, size, frames=None):
        self.clock += 10
        if self.recording:
            event = {"action": action, "addr": address, "size": size, "stream": 0}
            event |= {"time_us": self.clock} | ({"frames": frames} if frames is not None else {})
            self.events.append(event)
            self.told.append((sum(self.amounts.values()), self.reserved, dict(self.amounts)))

    def alloc(self, size, category):
        rounded = -(-size // 512) * 512
        address = next((a for a, each in self.free.items() if each == rounded), None)
        if address is None:
            address = (1 << 40) + (len(self.blocks) + len(self.free)) * (1 << 30)
            self.reserved += rounded
            self._note("segment_alloc", address, rounded)
        else:
            del self.free[address]
        frames = STACKS[category] if self.recording else []
        known = category if self.recording else "before"
        self.blocks[address] = (size, rounded, known, frames)
        self.amounts[known] += size
        self._note("alloc", address, size, frames)
        return address

    def release(self, address):
        size, rounded, known, _frames = self.blocks[address]
        self._note("free_requested", address, size, [])
        del self.blocks[address]
        self.free[address] = rounded
        self.amounts[known] -= size
        self._note("free_completed", address, size, [])

    def empty_cache(self):
        for address, size in list(self.free.items()):
            del self.free[address]
            self.reserved -= size
            self._note("segment_free", address, size, [])

    def dump(self, *, keep=None):
        """Return the dict; `keep` events at the end, as of a ring that was too short."""
        segments = [
            self._segment(address, rounded, size, "active_allocated", frames)
            for address, (size, rounded, _known, frames) in self.blocks.items()
        ]
        segments += [
            self._segment(address, size, size, "inactive", [])
            for address, size in self.free.items()
        ]
        events = self.events if keep is None else self.events[-keep:]
        return {"segments": segments, "device_traces": [events], "allocator_settings": {}}

    def _segment(self, address, size, requested, state, frames):
        block = {"address": address, "size": size, "requested_size": requested, "state": state}
        used = size * (state != "inactive")
        return {
            "device": 0, "address": address, "total_size": size, "allocated_size": used,
            "active_size": used, "stream": 0, "segment_type": "large",
            "blocks": [block | {"frames": frames}],
        }  # fmt: skip


def two_steps(*, with_history=True, num_layers=40):
    """Weights from before the recording, then two training steps of a made model."""
    made = MadeAllocator(with_history=False)
    for number in range(5):
        made.alloc(4_000_000 + number, "setup")
    made.recording = with_history
    moved = made.alloc(3_000_000, "setup")
    moments = [made.alloc(777_777, "optimizer") for _each in range(6)]
    for _step in range(2):
        batch = made.alloc(1000, "other")
        saved = [made.alloc(100_000 + 1000 * layer, "forward") for layer in range(num_layers)]
        for layer in reversed(range(num_layers)):
            gradient = made.alloc(60_000 + layer, "backward")
            lost = made.alloc(5_000 + layer, "unknown")
            made.release(saved[layer])
            made.release(lost)
            if layer:
                made.release(gradient)
            else:
                moments.append(gradient)
        made.release(batch)
    made.release(moved)
    made.empty_cache()
    made.alloc(2_000_000, "forward")
    return made


def write(path, dump, protocol=4):
    path.write_bytes(pickle.dumps(dump, protocol=protocol))
    return path
