"""A program on two ranks of this machine: two fresh processes that meet on 127.0.0.1.

They are told who they are as torchrun tells its ranks (RANK, WORLD_SIZE, MASTER_ADDR ...), so that
the same program runs under torchrun. The server that starts them needs no torch.
"""

import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Final

import psutil

from core.language import _
from core.machine.child import error_line

NUM_RANKS: Final = 2
HOST: Final = "127.0.0.1"
SECONDS: Final = 120.0
_LOOK_SECONDS: Final = 0.05


def run_ranks(source: str, *, seconds: float = SECONDS) -> tuple[str, ...]:
    """Run a program on two ranks and return the lines that they print, rank 0 first.

    After so many seconds they are ended.

    Raises:
        ValueError: A rank failed, or they were not done in time.
    """
    deadline = time.monotonic() + seconds
    with tempfile.TemporaryDirectory() as name, started_ranks(source, Path(name)) as ranks:
        while any(rank.poll() is None for rank in ranks):
            if any(rank.poll() for rank in ranks):
                break  # the other one would wait for it for ever
            if time.monotonic() > deadline:
                raise ValueError(
                    _("The ranks were not done in time; try again when the machine is less busy.")
                )
            time.sleep(_LOOK_SECONDS)
        if any(rank.poll() for rank in ranks):
            raise ValueError(_("A rank failed: {reason}").format(reason=_reason(name, ranks)))
        return tuple(line for rank in range(NUM_RANKS) for line in _lines(name, rank, "out"))


@contextmanager
def started_ranks(source: str, folder: Path) -> Iterator[Sequence[subprocess.Popen[bytes]]]:
    """Start the ranks, which print into a folder, and end them with the block."""
    program = folder / "program.py"
    program.write_text(source, encoding="utf-8")
    port = free_port()
    with ExitStack() as files:
        ranks = []
        for rank in range(NUM_RANKS):
            out, err = (
                files.enter_context((folder / f"{rank}.{kind}").open("wb"))
                for kind in ("out", "err")
            )
            command = [sys.executable, str(program)]
            ranks.append(
                subprocess.Popen(  # noqa: S603  our own program
                    command, env=rank_environment(rank, port), stdout=out, stderr=err
                )
            )
        try:
            yield ranks
        finally:
            for process in ranks:
                process.kill()
                process.wait()


def rank_environment(rank: int, port: int) -> Mapping[str, str]:
    """Return the environment of a rank, with what torchrun would set."""
    return os.environ | {
        "RANK": str(rank),
        "LOCAL_RANK": str(rank),
        "WORLD_SIZE": str(NUM_RANKS),
        "LOCAL_WORLD_SIZE": str(NUM_RANKS),
        "MASTER_ADDR": HOST,
        "MASTER_PORT": str(port),
        "OMP_NUM_THREADS": "1",  # each rank would take every core
        "GLOO_SOCKET_IFNAME": loopback_interface(),  # gloo would ask for the public address
        "PYTHONIOENCODING": "utf-8",
    }


def loopback_interface() -> str:
    """Return the name of the interface that reaches this machine only; "" if there is none."""
    for name, addresses in psutil.net_if_addrs().items():
        if any(each.address == HOST for each in addresses):
            return name
    return ""


def free_port() -> int:
    """Return a port of this machine that nobody listens on."""
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        port: int = probe.getsockname()[1]
        return port


def _lines(folder: str, rank: int, kind: str) -> list[str]:
    text = Path(folder, f"{rank}.{kind}").read_text(encoding="utf-8", errors="replace")
    return [line for line in text.splitlines() if line.strip()]


def _reason(folder: str, ranks: Sequence[subprocess.Popen[bytes]]) -> str:
    failed = next(number for number, rank in enumerate(ranks) if rank.poll())
    return error_line("\n".join(_lines(folder, failed, "err")), ranks[failed].returncode)
