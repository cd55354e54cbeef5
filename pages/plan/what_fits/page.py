"""Which model fits on which device, and what fails first?"""

from functools import partial

from core.language import N_
from pages.plan.what_fits.claims import choose_claim, claims
from pages.plan.what_fits.detail import write_code
from pages.plan.what_fits.inputs import ASK, choose_case
from pages.plan.what_fits.map import fits_map
from pages.plan.what_fits.question import ask_about_70b
from pages.plan.what_fits.reach import choose_devices, reach
from pages.shared.tabbed_page import Page, Tab, tabbed_page

tabbed_page(
    __file__,
    __doc__,
    Page(
        inputs=ASK,
        choose=choose_case,
        code=write_code,
        tabs={
            "models_devices": Tab(
                label=N_("Models × devices"),
                show=partial(fits_map, "models_devices"),
                question=ask_about_70b,
            ),
            "ways_devices": Tab(
                label=N_("Formats × devices"), show=partial(fits_map, "ways_devices")
            ),
            "models_ways": Tab(label=N_("Models × formats"), show=partial(fits_map, "models_ways")),
            "reach": Tab(label=N_("Lengths × sequences"), show=reach, choose=choose_devices),
            "claims": Tab(label=N_("Claims"), show=claims, with_inputs=False, choose=choose_claim),
        },
        snippet="fits",
    ),
)
