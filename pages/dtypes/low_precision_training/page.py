"""Why do sums, updates and gradients get lost in 16 bits?"""

from core.language import N_
from pages.dtypes.low_precision_training.inputs import ASK
from pages.dtypes.low_precision_training.loss_scale import choose_loss_scale, loss_scale
from pages.dtypes.low_precision_training.matmul import choose_matmul, matmul
from pages.dtypes.low_precision_training.pictures import choose_pictures, pictures
from pages.dtypes.low_precision_training.question import (
    ask_chance,
    ask_exp,
    ask_loss_scale,
    ask_matmul,
    ask_picture,
    ask_scaler,
    ask_sum,
    ask_update,
)
from pages.dtypes.low_precision_training.scaler import choose_scaler, scaler
from pages.dtypes.low_precision_training.softmax import choose_softmax, softmax
from pages.dtypes.low_precision_training.sums import choose_sums, sums
from pages.dtypes.low_precision_training.updates import (
    choose_stochastic,
    choose_updates,
    stochastic,
    updates,
)
from pages.shared.tabbed_page import Page, Tab, tabbed_page

tabbed_page(
    __file__,
    __doc__,
    Page(
        inputs=ASK,
        tabs={
            "sums": Tab(
                label=N_("Sums"),
                show=sums,
                choose=choose_sums,
                question=ask_sum,
                reading="sums",
            ),
            "updates": Tab(
                label=N_("Updates"),
                show=updates,
                choose=choose_updates,
                question=ask_update,
                reading="updates",
            ),
            "softmax": Tab(
                label=N_("Softmax"),
                show=softmax,
                choose=choose_softmax,
                question=ask_exp,
                reading="softmax",
            ),
            "scale": Tab(
                label=N_("Loss scaling"),
                show=loss_scale,
                choose=choose_loss_scale,
                question=ask_loss_scale,
                reading="scale",
            ),
            "scaler": Tab(
                label=N_("GradScaler"),
                show=scaler,
                choose=choose_scaler,
                question=ask_scaler,
                reading="scaler",
            ),
        },
        more={
            "stochastic": Tab(
                label=N_("Stochastic rounding"),
                show=stochastic,
                choose=choose_stochastic,
                question=ask_chance,
                reading="stochastic",
            ),
            "matmul": Tab(
                label=N_("Matmul"),
                show=matmul,
                choose=choose_matmul,
                question=ask_matmul,
                reading="matmul",
            ),
            "pictures": Tab(
                label=N_("Picture"),
                show=pictures,
                choose=choose_pictures,
                question=ask_picture,
                reading="pictures",
            ),
        },
    ),
)
