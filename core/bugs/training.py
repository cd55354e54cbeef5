"""Cards on training loops."""

from typing import Final

from core.bugs.card import Card
from core.language import N_

_COSINE: Final = """optimizer = torch.optim.SGD([nn.Parameter(torch.zeros(1))], lr=1e-3)
schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max={t_max})
for epoch in range(20):
    optimizer.step()
    schedule.step()
schedule.get_last_lr()[0]"""
_LOSSES: Final = """losses = torch.cat([torch.ones(96), torch.full((8,), 5.0)])
batches = losses.split(32)  # 32, 32, 32 and 8 rows
"""
_GUESS: Final = """model = nn.Linear(16, 3)
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
x, y = torch.randn(8, 16), torch.randint(3, (8,))
for _ in range(300):
{draw}    loss = F.cross_entropy(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
{seen}"""
_AGAIN: Final = "    x, y = torch.randn(256, 16), torch.randint(3, (256,))\n"
_LINE: Final = """x = torch.tensor([[1.0], [2.0], [3.0], [4.0]])
y, model = 2 * x + 1, nn.Linear(1, 1)
nn.init.zeros_(model.weight)
nn.init.zeros_(model.bias)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for epoch in range({epochs}):
    optimizer.zero_grad()
    F.mse_loss(model(x), y).backward()
    optimizer.step()
f"y = {{model.weight.item():.2f}}x + {{model.bias.item():.2f}}\""""
_EXACT: Final = """x = torch.tensor([[1.0, 1.0], [2.0, 1.0], [3.0, 1.0], [4.0, 1.0]])
slope, shift = torch.linalg.lstsq(x, 2 * x[:, :1] + 1).solution.flatten().tolist()
f"y = {slope:.2f}x + {shift:.2f}\""""
_TUNED: Final = """x = torch.randn(64, 4)
y = x @ torch.arange(4.0)

def train(lr):
    w = torch.zeros(4, requires_grad=True)
    optimizer = torch.optim.SGD([w], lr={used})
    for _ in range(20):
        optimizer.zero_grad()
        loss = ((x @ w - y) ** 2).mean()
        loss.backward()
        optimizer.step()
    return loss.item()

train(lr={given})"""
_BUILD: Final = """def build(num_layers):
    layers = [nn.Linear(8, 8) for _ in range({used})]
    return nn.Sequential(*layers, nn.Linear(8, 1))

sum(p.numel() for p in build(num_layers={given}).parameters())"""
_FIRST_STEP: Final = """w = torch.zeros(1, requires_grad=True)
optimizer = torch.optim.{optimizer}([w], lr=0.001)
(1000 * w).sum().backward()
optimizer.step()
-w.item()"""

CARDS: Final = (
    Card(
        key="last-batch-counts-too-much",
        subject="training",
        level=1,
        title=N_("The mean loss of an epoch"),
        claim=N_("A loop averages the loss over its batches and prints {wrong}."),
        question=N_("What is the mean loss of a row?"),
        wrong=_LOSSES + "(sum(batch.mean() for batch in batches) / len(batches)).item()",
        right=_LOSSES + "losses.mean().item()",
        other=_LOSSES + "batches[0].mean().item()",
        why_other=N_("That is the first batch alone."),
        why=N_(
            "The last batch has 8 rows and weighs as much as one of 32. Weighted by rows it is "
            "{right}."
        ),
        written="{:.2f}",
        page="train/optimizers_and_schedules",
        query=(("optim_tab", "loop"),),
        concepts=("C155",),
    ),
    Card(
        key="num-layers-ignored",
        subject="training",
        level=1,
        title=N_("A model of four hidden layers"),
        claim=N_("A lecture builds a model of four hidden layers; it has {wrong} parameters."),
        question=N_("How many parameters have four hidden layers of 8 × 8 and a last one?"),
        wrong=_BUILD.format(used="0", given="4"),
        right=_BUILD.format(used="num_layers", given="4"),
        other=_BUILD.format(used="num_layers", given="1"),
        why_other=N_("That is one hidden layer."),
        why=N_(
            "`build` loops over `range(0)` whatever it is given. With num_layers it is {right}."
        ),
        written="{}",
        page="models/layers_and_parameters",
        query=(("layers_model", "cruncher"),),
        concepts=("C91",),
    ),
    Card(
        key="a-line-after-100-epochs",
        subject="training",
        level=1,
        title=N_("y = 2x + 1 after 100 epochs"),
        claim=N_("A course trains 100 epochs with lr = 0.01 on four points and says: {wrong}."),
        wrong=_EXACT,
        right=_LINE.format(epochs=100),
        other=_LINE.format(epochs=0),
        why_other=N_("That is the model before training."),
        why=N_(
            "The bias comes slowly: the loss is flat along that valley. After 100 epochs: {right}."
        ),
        shows="right",
        page="train/optimizers_and_schedules",
        query=(("optim_tab", "loop"),),
        concepts=("C72",),
    ),
    Card(
        key="lr-ignored",
        subject="training",
        level=2,
        title=N_("Tuning the learning rate"),
        claim=N_("A lecture tunes the learning rate: train(lr=0.1) ends at a loss of {wrong}."),
        question=N_("Where does it end if lr is really 0.1?"),
        wrong=_TUNED.format(used="0.01", given="0.1"),
        right=_TUNED.format(used="lr", given="0.1"),
        other=_TUNED.format(used="lr", given="0.001"),
        why_other=N_("That is lr = 0.001: slower still."),
        why=N_(
            "The optimizer is built with 0.01 whatever is passed. With lr=lr it ends at {right}."
        ),
        written="{:.3g}",
        page="train/optimizers_and_schedules",
        query=(("optim_tab", "loop"), ("optim_problem", "sixteen"), ("optim_loop_lr", "0.1")),
        concepts=("C94",),
    ),
    Card(
        key="cosine-too-short",
        subject="training",
        level=2,
        title=N_("Cosine annealing over 20 epochs"),
        claim=N_("Training lasts 20 epochs. A tutorial anneals the learning rate to {wrong} with:"),
        question=N_("What is the learning rate after 20 epochs?"),
        wrong=_COSINE.format(t_max=20),
        right=_COSINE.format(t_max=10),
        other=_COSINE.format(t_max=40),
        why_other=N_("That is T_max=40: half way down."),
        why=N_("T_max is half a period. At epoch 10 it is zero, then it climbs back to {right}."),
        shows="right",
        written="{:.1e}",
        page="train/optimizers_and_schedules",
        query=(
            ("optim_tab", "schedules"),
            ("optim_schedule", "cosine"),
            ("optim_epochs", "20"),
            ("optim_t_max", "10"),
        ),
        concepts=("C85",),
    ),
    Card(
        key="random-labels",
        subject="training",
        level=2,
        title=N_("Labels drawn at random"),
        claim=N_(
            "A demo draws rows and one of three labels at random in every step, and expects the "
            "loss to fall to about {wrong}."
        ),
        question=N_("What is the loss on rows it has not seen?"),
        wrong=_GUESS.format(draw="", seen="F.cross_entropy(model(x), y).item()"),
        right=_GUESS.format(
            draw=_AGAIN,
            seen="F.cross_entropy(model(torch.randn(9000, 16)), torch.randint(3, (9000,))).item()",
        ),
        other="math.log(2)",
        why_other=N_("That is ln 2: guessing between two classes."),
        why=N_(
            "There is nothing to learn: no model beats ln 3 = 1.10 on labels that follow no rule. "
            "A loss that falls says that the same rows came again."
        ),
        shows="right",
        written="{:.2f}",
        page="models/layers_and_parameters",
        query=(("layers_tab", "init"), ("layers_shows", "labels")),
        concepts=("C101",),
    ),
    Card(
        key="batchnorm-of-one",
        subject="training",
        level=2,
        title=N_("BatchNorm with a batch of one"),
        claim=N_("A demo sends one row through BatchNorm in training and expects the sum {wrong}."),
        wrong="nn.BatchNorm1d(4).eval()(torch.ones(1, 4)).sum().item()",
        right="nn.BatchNorm1d(4)(torch.ones(1, 4)).sum().item()",
        other="nn.BatchNorm1d(4)(torch.ones(2, 4)).sum().item()",
        why_other=N_("So it is with two equal rows."),
        why=N_(
            "One row has no variance over the batch: {right}. In eval mode running averages do."
        ),
        shows="right",
        written="{:.2f}",
        page="models/layers_and_parameters",
        query=(("layers_tab", "zoo"), ("layers_layer", "BatchNorm1d"), ("layers_batch", "1")),
        concepts=("C87",),
    ),
    Card(
        key="old-grad-scaler",
        subject="training",
        level=3,
        title=N_("torch.cuda.amp"),
        claim=N_(
            "A handbook writes `torch.cuda.amp.GradScaler(...)` and expects {wrong}, no more."
        ),
        wrong='torch.amp.GradScaler("cuda", enabled=False).get_scale()',
        right="torch.cuda.amp.GradScaler(enabled=False).get_scale()",
        other='"AttributeError"',
        why_other=N_("The old name is still there."),
        why=N_('It runs with a {right}. The name of today is `torch.amp.GradScaler("cuda")`.'),
        shows="right",
        hears_warnings=True,
        page="dtypes/low_precision_training",
        query=(("lowp_tab", "scale"), ("lowp_scale_by", "scaler")),
        concepts=("C18",),
    ),
    Card(
        key="first-step-of-adam",
        subject="training",
        level=2,
        title=N_("Adam's first step"),
        claim=N_(
            "A lecture says: with lr = 0.001 and a gradient of 1,000, Adam's first step moves a "
            "weight by {right}."
        ),
        question=N_("How far does the weight move?"),
        wrong=_FIRST_STEP.format(optimizer="SGD"),
        right=_FIRST_STEP.format(optimizer="Adam"),
        other="0.001 * math.sqrt(1000)",
        why_other=N_("It is divided by the root of its own square, so nothing of it is left."),
        why=N_(
            "After bias correction the moments are g and g², and g / √g² is 1: the step is the "
            "learning rate, {right}, whatever the gradient. SGD moves by {wrong}. Source: Kingma "
            "and Ba 2015, section 2.1."
        ),
        holds=True,
        shows="right",
        written="{:.3f}",
        page="train/optimizers_and_schedules",
        query=(("optim_tab", "rule"), ("optim_wd", "none"), ("optim_lr", "0.1")),
        concepts=("C79",),
    ),
)
