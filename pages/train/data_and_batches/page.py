"""What does a training step read?"""

from functools import partial

from core.language import N_
from pages.shared.tabbed_page import Page, Tab, tabbed_page
from pages.shared.tensors.refused_inputs import refused_inputs
from pages.train.data_and_batches.files import choose_file, files_tab
from pages.train.data_and_batches.inputs import ASK, choose_case
from pages.train.data_and_batches.loader import choose_loader, loader_tab
from pages.train.data_and_batches.mnist import choose_script, mnist_tab
from pages.train.data_and_batches.question import ask_batches, ask_last_token
from pages.train.data_and_batches.ranks import choose_ranks, ranks_tab
from pages.train.data_and_batches.seeds import choose_seeds, seeds_tab
from pages.train.data_and_batches.windows import windows_tab

tabbed_page(
    __file__,
    __doc__,
    Page(
        inputs=ASK,
        choose=choose_case,
        question=ask_last_token,
        refusal=partial(refused_inputs, N_("There is no such batch.")),
        tabs={
            "windows": Tab(label=N_("Windows"), show=windows_tab),
            "ranks": Tab(
                label=N_("Shuffling and ranks"),
                show=ranks_tab,
                choose=choose_ranks,
                with_inputs=False,
                question=ask_batches,
            ),
            "loader": Tab(
                label="DataLoader", show=loader_tab, choose=choose_loader, with_inputs=False
            ),
            "files": Tab(
                label=N_("Files and checkpoints"),
                show=files_tab,
                choose=choose_file,
                with_inputs=False,
            ),
            "seeds": Tab(label=N_("Seeds"), show=seeds_tab, choose=choose_seeds, with_inputs=False),
            "mnist": Tab(label="MNIST", show=mnist_tab, choose=choose_script, with_inputs=False),
        },
    ),
)
