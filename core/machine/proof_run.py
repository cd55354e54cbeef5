"""The proof of the codec, run in a fresh child process; never imports torch here."""

import json
from collections.abc import Callable
from typing import Final

from core.dtypes.libraries.proof_row import ProofRow, row_from_json
from core.machine.child import lines_of

PROOF_SECONDS: Final = 300


def run_proof(on_row: Callable[[ProofRow], None] = lambda _row: None) -> tuple[ProofRow, ...]:
    """Prove the codec against what is installed here; calls `on_row` after each comparison.

    Raises:
        ValueError: If the child process failed.
    """
    rows = []
    for line in lines_of("core.dtypes.libraries.proof", ["--json"], seconds=PROOF_SECONDS):
        rows.append(row_from_json(json.loads(line)))
        on_row(rows[-1])
    return tuple(rows)
