"""What a bit pattern means: the number formats by name and size."""

from core.dtypes.formats import FORMATS, Format

__all__ = ["FORMATS", "Format"]
