"""A run's steps as a table of pandas, with the columns and values of the CSV."""

from pathlib import Path
from typing import TYPE_CHECKING

from core.train.run.reader import RunReader
from core.train.run.records import COLUMNS, Records, newest

if TYPE_CHECKING:
    import pandas as pd


def read_frame(run_directory: Path) -> "pd.DataFrame":
    """Return the steps of a run: a row for each, of the newest attempt that did it.

    The columns are the fields of `StepRecord` and the attempt, in the order of metrics.bin:
    step and resident_bytes are uint64, attempt and flags uint32, all others float64.

    Raises:
        ValueError: the directory holds no run that can be read, or one of a newer format.
    """
    return to_frame(newest(RunReader(run_directory).read_new().records))


def to_frame(records: Records) -> "pd.DataFrame":
    """Return records as a table, a row for each."""
    import pandas as pd

    return pd.DataFrame({name: records[name] for name in COLUMNS})
