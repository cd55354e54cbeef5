"""Cards on bytes: units, weights, training state, activations."""

from typing import Final

from core.bugs.card import Card
from core.language import N_

_TRAINED: Final = """def trained(autocast):
    model = nn.Linear(512, 512)
    optimizer = torch.optim.AdamW(model.parameters())
    with torch.autocast("cpu", torch.bfloat16, enabled=autocast):
        model(torch.ones(8, 512)).sum().backward()
    optimizer.step()
    state = [t for each in optimizer.state.values() for t in each.values()]
    return [*model.parameters(), *(p.grad for p in model.parameters()), *state]

plain = trained(autocast=False)
mixed = trained(autocast=True)
"""
_KEPT: Final = """B, D, L = 2, 4, 2
x, target = torch.randn(B, D), torch.randn(B, 1)
layers = [nn.Linear(D, D, bias=False) for _ in range(L)]
model = nn.Sequential(*layers, nn.Linear(D, 1, bias=False))
kept = {}

def keep(tensor):
    kept[tensor.untyped_storage().data_ptr()] = tensor
    return tensor

with torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
    loss = F.mse_loss(model(x), target)
own = {w.untyped_storage().data_ptr() for w in model.parameters()}
"""
_ROWS: Final = "tokens = nn.Embedding(32_000, 4096, device='meta')\n"
_COUNT: Final = "tokens.weight.numel() + positions.weight.numel()"
_FITS: Final = "max(n for n in (7, 13, 34, 70) if n * 1e9 * {bits} / 8 <= 24e9)"

CARDS: Final = (
    Card(
        key="gib-called-gb",
        subject="memory",
        level=1,
        title=N_("7 billion parameters in GB"),
        claim=N_("A table says: 7 billion parameters in float32 take {wrong}."),
        question=N_("How many GB are they?"),
        wrong="7e9 * 4 / 1024**3",
        right="7e9 * 4 / 1e9",
        other="7e9 * 4 / (1024**2 * 1000)",
        why_other=N_("That mixes both: 1024 twice, then 1000."),
        why=N_("Dividing by 1024³ gives GiB. A GB is 10⁹ bytes: {right}."),
        written="{:.1f} GB",
        page="plan/model_sizes",
        query=(("sizes_several", "true"),),
        concepts=("C14",),
    ),
    Card(
        key="embedding-in-gb",
        subject="memory",
        level=1,
        title=N_("An embedding table in GB"),
        claim=N_("A tutorial says: an embedding table of 32,000 × 4,096 in float32 takes {wrong}."),
        question=N_("How many GB are they?"),
        wrong=_ROWS + "tokens.weight.nbytes / 2**30",
        right=_ROWS + "tokens.weight.nbytes / 1e9",
        other=_ROWS + "tokens.weight.nbytes / 2 / 1e9",
        why_other=N_("That would be 2 bytes a number: float16."),
        why=N_("32,000 · 4,096 · 4 bytes are {right}; divided by 2³⁰ they are GiB."),
        written="{:.2f} GB",
        page="plan/model_sizes",
        query=(("sizes_tab", "parts"), ("sizes_tensor", "embedding")),
        concepts=("C114",),
    ),
    Card(
        key="positions-counted",
        subject="memory",
        level=1,
        title=N_("Parameters of two embeddings"),
        claim=N_("Below this code a tutorial prints {wrong} parameters."),
        question=N_("How many parameters are there?"),
        wrong=_ROWS + "positions = nn.Embedding(512, 4096, device='meta')\n" + _COUNT,
        right=_ROWS + "positions = nn.Embedding(2048, 4096, device='meta')\n" + _COUNT,
        other=_ROWS + "tokens.weight.numel()",
        why_other=N_("Those are the token embeddings alone."),
        why=N_(
            "A row for each of 2,048 positions makes {right}. The printed number belongs to 512 "
            "positions: it came from another version of the code."
        ),
        shows="right",
        written="{:,}",
        page="plan/model_sizes",
        query=(("sizes_tab", "parts"), ("sizes_tensor", "embedding")),
        concepts=("C114",),
    ),
    Card(
        key="thirteen-billion",
        subject="memory",
        level=2,
        title=N_("13 billion, or nearly"),
        claim=N_("A table says: exactly 13 billion parameters in float32 take {wrong}."),
        question=N_("How many GiB are they?"),
        wrong='counts(MODELS["llama-2-13b"]).total * 4 / 2**30',
        right="13e9 * 4 / 2**30",
        other="13e9 * 4 / 1e9",
        why_other=N_("That is the number of GB."),
        why=N_(
            "{wrong} are the weights of Llama-2 13B, which has 13.016 billion parameters. The "
            "other rows of such a table count round billions: {right}."
        ),
        written="{:.2f} GiB",
        page="plan/model_sizes",
        query=(("sizes_several", "true"),),
        concepts=("C105",),
    ),
    Card(
        key="seventy-billion-cards",
        subject="memory",
        level=1,
        title=N_("Cards for 70 billion parameters"),
        claim=N_("A guide says: 70 billion float16 weights need at least {wrong} of 80 GB."),
        question=N_("How many cards hold the weights?"),
        wrong="math.ceil(70e9 * 4 / 80e9)",
        right="math.ceil(70e9 * 2 / 80e9)",
        other="math.ceil(70e9 * 1 / 80e9)",
        why_other=N_("One card holds them in 8 bits, with little left for the KV cache."),
        why=N_("float16 takes 2 bytes each: 140 GB, {right}. Four bytes each would be float32."),
        written="{} × GPU",
        page="plan/what_fits",
        query=(("fits_tab", "map"), ("fits_model", "llama-2-70b"), ("fits_device", "a100-80gb")),
        concepts=("C110",),
    ),
    Card(
        key="thirteen-billion-card",
        subject="memory",
        level=1,
        title=N_("A card for 13 billion parameters"),
        claim=N_(
            "A guide says: 13 billion weights in bfloat16 take {wrong}, so use an 80-GB card."
        ),
        question=N_("How much do the weights take?"),
        wrong="13e9 * 4 / 1e9",
        right="13e9 * 2 / 1e9",
        other="13e9 * 1 / 1e9",
        why_other=N_("That is one byte each: INT8."),
        why=N_("bfloat16 takes 2 bytes each: {right}, which fit a card of 40 GB."),
        written="{:.0f} GB",
        page="plan/what_fits",
        query=(("fits_tab", "map"), ("fits_model", "llama-2-13b"), ("fits_device", "a100-40gb")),
        concepts=("C110",),
    ),
    Card(
        key="largest-on-24-gb",
        subject="memory",
        level=2,
        title=N_("The largest model of a 24-GB card"),
        claim=N_("A guide says: a 24-GB card holds {wrong} parameters at most."),
        question=N_("Which of 7, 13, 34 and 70 billion still fits, with weights of 4 bits?"),
        wrong=_FITS.format(bits=16),
        right=_FITS.format(bits=4),
        other=_FITS.format(bits=8),
        why_other=N_("That is the answer for 8 bits."),
        why=N_("In 4 bits {right} take half a byte each, and leave room for the KV cache."),
        written="{} B",
        page="plan/what_fits",
        query=(
            ("fits_tab", "map"),
            ("fits_format", "int8"),
        ),
        concepts=("C110",),
    ),
    Card(
        key="training-factor",
        subject="memory",
        level=2,
        title=N_("Training against inference"),
        claim=N_("A guide says: training takes at most {wrong} the memory of the bf16 weights."),
        question=N_("Mixed precision with AdamW, before activations: how many times?"),
        wrong="(4 + 4 + 4 + 4) / 4  # weight, gradient, two moments: all in float32",
        right="(2 + 2 + 4 + 4 + 4) / 2  # weight, gradient, fp32 copy, two moments",
        other="(2 + 2) / 2  # weight, gradient",
        why_other=N_("AdamW keeps an fp32 copy and two moments besides."),
        why=N_(
            "A bf16 weight of 2 bytes comes with 14 more: its gradient, a float32 copy and two "
            "float32 moments. {right}, and activations on top."
        ),
        written="{:g} ×",
        page="plan/training_memory",
        concepts=("C108",),
    ),
    Card(
        key="largest-on-eight-h100",
        subject="memory",
        level=2,
        title=N_("The largest training on eight H100"),
        claim=N_(
            "A lecture asks what 8 cards of 80 GB can train with AdamW and answers {wrong} "
            "parameters, activations aside, whatever the precision."
        ),
        question=N_("With weights and gradients in bf16, moments in float32: how many?"),
        wrong="8 * 80e9 / (4 + 4 + 4 + 4) / 1e9  # weight, gradient, two moments in float32",
        right="8 * 80e9 / (2 + 2 + 4 + 4) / 1e9  # weight and gradient in bf16",
        other="8 * 80e9 / (2 + 2 + 2 + 2) / 1e9  # moments in bf16, too",
        why_other=N_("The moments stay in float32."),
        why=N_(
            "16 bytes a parameter hold for float32, and for bf16 with a float32 copy of the "
            "weights. Without that copy it is 12 bytes: {right}."
        ),
        written="{:.1f} B",
        page="plan/training_memory",
        query=(("memory_tab", "recipes"), ("memory_precision", "cs336_12")),
        concepts=("C106",),
    ),
    Card(
        key="h100-bytes",
        subject="memory",
        level=2,
        title=N_("The memory of an H100"),
        claim=N_(
            "A script takes an H100 for {wrong}. On that card nvidia-smi prints 81559MiB in all."
        ),
        question=N_("How many GB does nvidia-smi name?"),
        wrong="80e9 / 1e9",
        right="81_559 * 2**20 / 1e9",
        other="81_559 / 1e3",
        why_other=N_("A MiB is 1,048,576 bytes, not a million."),
        why=N_("81,559 MiB are {right}: makers count memory in 2³⁰ bytes and write GB."),
        written="{:.1f} GB",
        page="plan/what_fits",
        query=(("fits_tab", "map"), ("fits_model", "llama-2-70b"), ("fits_device", "h100-sxm")),
        concepts=("C110",),
    ),
    Card(
        key="gradients-under-autocast",
        subject="memory",
        level=2,
        title=N_("Gradients under autocast"),
        claim=N_(
            "A handbook says: under bf16 autocast gradients are kept in {wrong}, half of fp32."
        ),
        question=N_("Which dtype has the gradient of a weight?"),
        wrong='with torch.autocast("cpu", dtype=torch.bfloat16):\n'
        "    y = nn.Linear(4, 4)(torch.ones(2, 4))\ny.dtype",
        right="layer = nn.Linear(4, 4)\n"
        'with torch.autocast("cpu", dtype=torch.bfloat16):\n'
        "    loss = layer(torch.ones(2, 4)).sum()\nloss.backward()\nlayer.weight.grad.dtype",
        other="torch.float16",
        why_other=N_("Nothing here is float16."),
        why=N_(
            "Autocast computes products in bfloat16 and leaves parameters alone: weight and "
            "gradient are {right}. Only part of the activations becomes smaller."
        ),
        shows="right",
        page="plan/training_memory",
        concepts=("C116",),
    ),
    Card(
        key="two-models-alive",
        subject="memory",
        level=3,
        title=N_("Memory of two trainings"),
        claim=N_(
            "A script trains in float32, then under bf16 autocast, and reads the memory after "
            "each. It prints {wrong} for autocast."
        ),
        question=N_("What do weights, gradients and AdamW under autocast take by themselves?"),
        wrong=_TRAINED + "sum(t.nbytes for t in [*plain, *mixed]) / 2**20",
        right=_TRAINED + "sum(t.nbytes for t in mixed) / 2**20",
        other=_TRAINED + "sum(t.nbytes for t in mixed) / 2 / 2**20",
        why_other=N_("Autocast keeps weights, gradients and moments in float32."),
        why=N_(
            "The first model is still referenced when the second is measured. Alone it takes "
            "{right}, as much as in float32."
        ),
        written="{:.1f} MiB",
        page="plan/training_memory",
        concepts=("C121",),
    ),
    Card(
        key="activations-b-d-l",
        subject="memory",
        level=3,
        title=N_("Activations of B·D·L"),
        claim=N_(
            "A lecture says: L layers of width D, before a last one of width 1, keep B·D·L "
            "activations; with B = 2, D = 4, L = 2 that is {wrong}."
        ),
        question=N_("How many numbers does torch keep for backward, weights not counted?"),
        wrong="B, D, L = 2, 4, 2\nB * D * L",
        right=_KEPT + "sum(t.numel() for place, t in kept.items() if place not in own)",
        other="B, D, L = 2, 4, 2\nB * D",
        why_other=N_("That is one layer."),
        why=N_(
            "B·D·L counts one tensor a layer. The input is kept too, and the loss keeps the "
            "prediction and its target: {right}."
        ),
        written="{}",
        page="autograd/computation_graph",
        query=(("graph_tab", "saved"),),
        concepts=("C62",),
    ),
    Card(
        key="kv-cache-of-seventy",
        subject="memory",
        level=2,
        title=N_("KV cache of a large model"),
        claim=N_(
            "A lecture says: a token takes {right} of KV cache in Llama-2 70B, less than in "
            "Llama-2 7B."
        ),
        question=N_("How much KV cache does a token take in 16 bits?"),
        wrong='m = MODELS["llama-2-70b"]\nm.num_layers * 2 * m.num_heads * m.head_dim * 2 / 1024',
        right='m = MODELS["llama-2-70b"]\n'
        "m.num_layers * 2 * m.num_kv_heads * m.head_dim * 2 / 1024",
        other='m = MODELS["llama-2-7b"]\nm.num_layers * 2 * m.num_kv_heads * m.head_dim * 2 / 1024',
        why_other=N_("That is Llama-2 7B, which keeps a key and a value for each of its 32 heads."),
        why=N_(
            "Eight query heads share one key and one value: {right} instead of {wrong}. Source: "
            "Ainslie et al. 2023, grouped-query attention."
        ),
        holds=True,
        shows="right",
        written="{:,.0f} KiB",
        page="plan/serving",
        query=(("serving_tab", "heads"), ("plan_model", "llama-2-70b")),
        concepts=("C112",),
    ),
)
