"""From a weight of a model to the bits that it is made of."""

from core.dtypes import FORMATS
from pages.components.bit_grid.bit_grid import hex_code
from pages.shared.page_links import show_link


def show_bits_link(label: str, value: float) -> None:
    """Show a link to the bits of a number in float32; the label holds "{value}"."""
    fmt = FORMATS["float32"]
    code = hex_code(fmt, int(fmt.encode(value)))
    query = {"bits_tab": "grid", "bits_format": fmt.name, "bits_code": code}
    show_link("dtypes/bit_layouts", label.format(value=f"{value:.6g}"), query)
