"""Cards on layers and their first values."""

from typing import Final

from core.bugs.card import Card
from core.language import N_

_INIT: Final = """std = 1 / math.sqrt(16_384)
weight = nn.init.trunc_normal_(torch.empty(256, 256), std=std, a=-3{times}, b=3{times})
"""
_LAYERS: Final = """layers = [nn.TransformerEncoderLayer(32, nhead=2) for _ in range(4)]
model = nn.Sequential(*layers)
"""
_FRESH: Final = """sizes = {"num_layers": 2, "hidden_dim": 768, "num_heads": 12}
shape = GPTShape(vocab_size=8192, seq_len=32, **sizes)
model = GPT(shape)
nn.init.normal_(model.tokens.weight)  # as nn.Embedding starts; tied to the head
ids = torch.randint(8192, (2, 33))
with torch.no_grad():
    loss = model(ids[:, :-1], ids[:, 1:])
loss.item()"""
_PLAIN: Final = """sizes = {"num_layers": 1, "hidden_dim": 768, "num_heads": 12}
model = GPT(GPTShape(vocab_size=64, seq_len=8, **sizes))
(matrix,) = model.blocks[0].attention.qkv.parameters()
matrix.std().item()"""
_LOGITS: Final = "logits = torch.zeros(1, 3) + 1000\n"

CARDS: Final = (
    Card(
        key="embedding-values",
        subject="models",
        level=1,
        title=N_("Values of a fresh embedding"),
        claim=N_("A tutorial says: the values of a fresh nn.Embedding spread by about {wrong}."),
        question=N_("How large is their standard deviation?"),
        wrong="nn.init.normal_(torch.empty(1000, 64), std=0.002).std().item()",
        right="nn.Embedding(1000, 64).weight.std().item()",
        other="1 / math.sqrt(64)",
        why_other=N_("So it would be with 1/√dim, which nn.Embedding does not use."),
        why=N_("nn.Embedding draws from N(0, 1): {right}. GPT-2 draws with 0.02 instead."),
        shows="right",
        written="{:.2g}",
        page="models/layers_and_parameters",
        query=(("layers_tab", "zoo"), ("layers_layer", "Embedding")),
        concepts=("C141",),
    ),
    Card(
        key="bounds-in-sigmas",
        subject="models",
        level=2,
        title=N_("Bounds of trunc_normal_"),
        claim=N_("A lecture cuts a normal distribution at {wrong}: a=-3, b=3."),
        question=N_("How many standard deviations from 0 lies the farthest value?"),
        wrong=_INIT.format(times=" * std") + "(weight.abs().max() / std).item()",
        right=_INIT.format(times="") + "(weight.abs().max() / std).item()",
        other="3 / (1 / math.sqrt(16_384))",
        why_other=N_("There the cut is, but among 65,536 numbers none comes that far."),
        why=N_(
            "a and b are values, not multiples of σ. The cut is at 384 σ and is never reached: "
            "the farthest of 65,536 is at {right}. Write a=-3*std, b=3*std."
        ),
        shows="right",
        written="{:.2f} σ",
        page="models/layers_and_parameters",
        query=(("layers_tab", "init"), ("layers_shows", "bound")),
        concepts=("C90",),
    ),
    Card(
        key="lora-finds-nothing",
        subject="models",
        level=2,
        title=N_("LoRA on q_proj"),
        claim=N_(
            "A handbook puts LoRA on every module named q_proj: one in each of four layers, "
            "{wrong}."
        ),
        question=N_("How many modules are adapted?"),
        wrong=_LAYERS + "sum(isinstance(m, nn.MultiheadAttention) for m in model.modules())",
        right=_LAYERS + 'sum("q_proj" in name for name, _ in model.named_modules())',
        other=_LAYERS + "sum(isinstance(m, nn.Linear) for m in model.modules())",
        why_other=N_("Those are all Linear modules, whatever their name."),
        why=N_(
            "nn.MultiheadAttention packs Q, K and V into one parameter in_proj_weight. The name "
            "never occurs: {right}, and nothing is trained, without an error."
        ),
        shows="right",
        written="{}",
        page="models/layers_and_parameters",
        query=(
            ("layers_tab", "trainable"),
            ("layers_model", "encoder"),
            ("layers_targets", "q_proj"),
        ),
        concepts=("C145",),
    ),
    Card(
        key="kaiming-in-a-gpt",
        subject="models",
        level=2,
        title=N_("How a GPT draws its weights"),
        claim=N_(
            "A handbook calls Kaiming common in Transformers. A matrix with 768 inputs would "
            "start with a spread of {wrong}."
        ),
        question=N_("What spread have the attention weights of a fresh model drawn as GPT-2's?"),
        wrong="nn.init.kaiming_normal_(torch.empty(2304, 768)).std().item()",
        right=_PLAIN,
        other="1 / math.sqrt(768)",
        why_other=N_("1/√fan_in keeps the variance; GPT-2 draws narrower than that."),
        why=N_(
            "GPT-2 draws every matrix with {right} whatever its width, and residual projections "
            "smaller by √(2 · layers): LayerNorm and the residual stream do the rest. Kaiming is "
            "made for stacks with ReLU."
        ),
        shows="right",
        written="{:.3f}",
        page="models/layers_and_parameters",
        query=(("layers_tab", "init"), ("layers_scheme", "gpt2")),
        concepts=("C89",),
    ),
    Card(
        key="first-loss-of-a-gpt",
        subject="models",
        level=3,
        title=N_("The first loss of a GPT"),
        claim=N_(
            "A handbook ties the head to nn.Embedding as it is. A fresh model knows nothing, so "
            "its loss is ln V = {wrong}."
        ),
        question=N_("What is the loss before the first step?"),
        wrong="math.log(8192)",
        right=_FRESH,
        other="2 * math.log(8192)",
        why_other=N_("It is not a factor of two: the logits are far from equal."),
        why=N_(
            "The embedding is N(0, 1), so each token finds itself: its own logit is in the "
            "hundreds, and the next token's is not. {right} instead of {wrong}; with std 0.02 it "
            "is near ln V."
        ),
        shows="right",
        written="{:.2f}",
        page="models/layers_and_parameters",
        query=(("layers_tab", "init"), ("layers_shows", "loss")),
        concepts=("C144",),
    ),
    Card(
        key="a-thousand-more",
        subject="models",
        level=2,
        title=N_("1,000 added to every logit"),
        claim=N_(
            "A lecture says: adding 1,000 to each of three equal logits leaves the cross-entropy "
            "at {right}."
        ),
        question=N_("What is the loss, in nats?"),
        wrong=_LOGITS + "-torch.log(logits.exp() / logits.exp().sum())[0, 0].item()",
        right=_LOGITS + "F.cross_entropy(logits, torch.tensor([0])).item()",
        other=_LOGITS + "-(logits[0, 0] - math.log(3)).item()",
        why_other=N_("The logit itself counts only against the other ones."),
        why=N_(
            "What is added to all logits cancels in softmax, and torch subtracts the largest "
            "before exp: {right} = ln 3. Written out, exp(1000) overflows: {wrong}. Source: "
            "PyTorch's documentation of log_softmax."
        ),
        holds=True,
        shows="right",
        written="{:.4f}",
        page="dtypes/low_precision_training",
        query=(("lowp_tab", "softmax"),),
        concepts=("C17",),
    ),
)
