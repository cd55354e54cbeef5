"""Ask torch what this computer can do: the program of the probing child process.

python -m core.machine.probe --json
"""

import argparse
import json
import sys

from core.machine.capabilities import cpu_features, cpu_name, kernel_libraries
from core.machine.devices import probe_devices
from core.machine.machine import describe_machine
from core.machine.records import Probe


def probe_here(*, timed: bool = True) -> Probe:
    """Probe in this process; it imports torch."""
    import torch

    return Probe(
        torch=torch.__version__,
        cuda=torch.version.cuda,
        rocm=torch.version.hip,
        kernels=kernel_libraries(),
        num_threads=torch.get_num_threads(),
        cpu_name=cpu_name() or describe_machine().processor,
        features=cpu_features(),
        devices=probe_devices(timed=timed),
    )


def main() -> None:
    """Print the probe of this computer, as JSON or as a short list."""
    parser = argparse.ArgumentParser(description="Probe this computer with torch.")
    parser.add_argument("--json", action="store_true", help="print everything, as JSON")
    parser.add_argument("--fast", action="store_true", help="leave the measured speeds out")
    arguments = parser.parse_args()
    probe = probe_here(timed=not arguments.fast)
    sys.stdout.write((json.dumps(probe.to_json()) if arguments.json else _summary(probe)) + "\n")


def _summary(probe: Probe) -> str:
    lines = [f"torch {probe.torch} on {probe.cpu_name}, {probe.num_threads} threads"]
    for device in probe.devices:
        able = ", ".join(dtype.name for dtype in device.dtypes if dtype.works)
        lines.append(f"{device.torch_name}: {device.name}; works: {able}")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
