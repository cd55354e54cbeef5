"""The words of the field: what each is called in both languages, and what it means.

On a control, a tab, an axis and a headline stands the word that a reader would search for in the
literature. The table explains words where they are read and is what a test holds all texts against.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from core.language.catalogue import N_, _, current_language


@dataclass(frozen=True, slots=True)
class Term:
    """A word of the field, or a phrase, and what not to write in its place.

    `not_english` and `not_chinese` are regular expressions; `explanation` is a message of the
    catalogue, empty for a word that only has to be the same everywhere.
    """

    english: str
    chinese: str
    explanation: str = ""
    not_english: tuple[str, ...] = ()
    not_chinese: tuple[str, ...] = ()

    def word(self) -> str:
        """Return the word in the current language."""
        return self.chinese if current_language() == "zh" else self.english

    def explained(self) -> str:
        """Return one plain sentence about the word in the current language."""
        return _(self.explanation)


TERMS: Final = (
    Term("tensor", "张量", N_("A block of numbers of one type, with a shape.")),
    Term(
        "token", "词元", N_("A piece of text that the model sees as one number: here a character.")
    ),
    Term("parameter", "参数", N_("A number of the model that training changes.")),
    Term("weights", "权重", N_("The numbers of the model that training changes.")),
    Term(
        "gradient",
        "梯度",
        N_("For each weight: how much the loss changes when the weight changes a little."),
    ),
    Term(
        "gradient norm",
        "梯度范数",
        N_("How large the gradient is: the root of the sum of the squares over all weights."),
        not_english=("length of the gradient",),
        not_chinese=("梯度的?长度",),
    ),
    Term(
        "gradient clipping",
        "梯度裁剪",
        N_("A gradient with a larger norm than this is scaled down to it before the step."),
        not_english=("longest gradient",),
        not_chinese=("最长的?梯度", "放行的.*梯度"),
    ),
    Term(
        "gradient accumulation",
        "梯度累积",
        N_("Several micro-batches add up their gradients before one optimizer step."),
        not_english=("^Accumulation$",),
    ),
    Term(
        "optimizer",
        "优化器",
        N_("The rule that turns gradients into the next weights: AdamW, for example."),
    ),
    Term(
        "optimizer state",
        "优化器状态",
        N_("What the optimizer remembers: AdamW keeps two numbers for each weight."),
    ),
    Term(
        "activations",
        "激活值",
        N_("Results of the forward pass that are kept because the backward pass needs them."),
    ),
    Term(
        "activation checkpointing",
        "激活重计算",
        N_("Activations are dropped in the forward pass and computed again in the backward pass."),
        not_english=(
            "computed again$",
            "(?<!Reducing )activation recomputation",
            "gradient checkpointing",
        ),
        not_chinese=("激活检查点", "梯度检查点", "重新计算激活"),
    ),
    Term(
        "loss",
        "损失",
        N_("How surprised the model is by the next token, in nats; lower is better."),
    ),
    Term(
        "entropy",
        "熵",
        N_("The average surprise, in nats, of someone who knows only how often things occur."),
    ),
    Term(
        "unigram entropy",
        "一元语法（unigram）熵",
        N_("The loss of a guess that knows only how often each token occurs."),
        not_chinese=("[一二]元熵", r"词元频率(：| \{)"),
    ),
    Term(
        "bigram entropy",
        "二元语法（bigram）熵",
        N_("The loss of a guess that also knows the token just before."),
    ),
    Term(
        "initial loss",
        "初始损失",
        N_("The loss before the first step: ln V if every token is equally likely."),
        not_chinese=(r"(最初的|第一个)(\[\[loss|损失)",),
    ),
    Term(
        "overfitting",
        "过拟合",
        N_("The training loss still falls while the validation loss no longer does."),
        not_english=("learn(s|ed|t|ing)? by heart",),
        not_chinese=("死记硬背",),
    ),
    Term("learning rate", "学习率", N_("How far one step moves the weights against the gradient.")),
    Term("batch", "批次", N_("The examples that one step looks at together.")),
    Term(
        "micro-batch size",
        "微批次大小",
        N_("How many sequences a device takes through the model at a time."),
        not_chinese=("微批大小", "微批量"),
    ),
    Term(
        "sequence length",
        "序列长度",
        N_("How many tokens the model sees at once."),
        not_english=("tokens of a sequence",),
        not_chinese=("一个序列的词元数",),
    ),
    Term("checkpoint", "检查点", N_("A file with all that is needed to continue a run exactly.")),
    Term("embedding", "嵌入", N_("The list of numbers that stands for one token.")),
    Term(
        "attention",
        "注意力",
        N_("Each token gathers from earlier tokens what it needs from them."),
        not_chinese=("潜注意力",),
    ),
    Term(
        "attention scores",
        "注意力分数",
        N_("One number for each pair of tokens: how much the one attends to the other."),
        not_english=("scores = matrices",),
        not_chinese=("(?<!注意力)(?<!路由)分数",),
    ),
    Term(
        "KV cache",
        "KV cache",
        N_("Keys and values of all tokens so far, kept so that none is computed twice."),
        not_chinese=("KV 缓存", "键值缓存"),
    ),
    Term(
        "exponent", "指数", N_("The bits of a number that say between which powers of two it lies.")
    ),
    Term(
        "mantissa", "尾数", N_("The bits of a number that say where between those powers it lies.")
    ),
    Term("overflow", "溢出", N_("A value is beyond the largest number of its format.")),
    Term(
        "underflow",
        "下溢",
        N_("A value is so small that its format stores zero."),
        not_chinese=("下溢出",),
    ),
    Term(
        "subnormal",
        "次正规数",
        N_("A number below the smallest normal one: it has no hidden 1 and fewer bits."),
        not_english=("denormals?",),
        not_chinese=("非正规数", "非规格化数"),
    ),
    Term(
        "quantization",
        "量化",
        N_("Numbers are stored in few bits, with a scale factor for each block of them."),
    ),
    Term(
        "scale factor",
        "缩放因子",
        N_("What the small numbers of a block are multiplied with to get their size back."),
        not_chinese=("缩放系数", "比例因子"),
    ),
    Term(
        "outlier",
        "离群值",
        N_("A value much larger than the ones beside it."),
        not_chinese=("异常值",),
    ),
    Term(
        "SQNR",
        "SQNR",
        N_("Power of the values over power of their quantization error, in decibels."),
        not_english=(r"\bdB above the error", r"\{\w+\} above the error"),
    ),
    Term("FLOPs", "浮点运算次数", N_("How many additions and multiplications: a count.")),
    Term("FLOP/s", "FLOP/s", N_("Additions and multiplications in a second: a rate.")),
    Term(
        "arithmetic intensity",
        "算术强度",
        N_("The FLOPs of an operation over the bytes that it moves to and from memory."),
        not_english=("FLOPs (for each|per|a) byte",),
        not_chinese=("每字节的? ?FLOPs?", "每字节浮点运算", "计算强度"),
    ),
    Term(
        "roofline",
        "屋顶线",
        N_("The most FLOP/s that a device can reach at each arithmetic intensity."),
        not_english=("roof with two slopes", "a roof of two slopes"),
        not_chinese=("的屋顶(?!线)", "两段斜率"),
    ),
    Term(
        "ridge point",
        "拐点",
        N_("The arithmetic intensity at which a device goes from memory-bound to compute-bound."),
        not_english=("turns? at",),
        not_chinese=("转折点",),
    ),
    Term(
        "memory-bound",
        "受限于显存带宽",
        N_("Moving the bytes takes longer than the arithmetic on them."),
        not_english=("waits? for (the )?memory", "waiting for (the )?memory"),
        not_chinese=("等(待)?(内存|显存)", "受限于内存带宽"),
    ),
    Term(
        "compute-bound",
        "受限于计算",
        N_("The arithmetic takes longer than moving its bytes."),
        not_english=("comput(e|es|ing) all the time",),
        not_chinese=("一直在计算",),
    ),
    Term("throughput", "吞吐量", N_("How much is done in a second: tokens/s.")),
    Term("latency", "延迟", N_("How long one answer, or one token of it, takes.")),
    Term(
        "MFU",
        "MFU",
        N_("Model FLOPs utilization: the share of the peak FLOP/s that the model's FLOPs use."),
    ),
    Term(
        "concurrent sequences",
        "并发序列数",
        N_("How many sequences a device generates at the same time."),
        not_english=("sequences at once",),
        not_chinese=("同时的序列数",),
    ),
    Term(
        "concurrent users",
        "并发用户数",
        N_("How many people a device answers at the same time."),
        not_english=("readers", "(one|per|a single|each) reader", "many readers"),
        not_chinese=("[少个位单多]读者",),
    ),
    Term(
        "workspace",
        "工作空间",
        N_("Memory that a kernel or a pass needs only while it computes."),
        not_english=("work space",),
        not_chinese=("工作区",),
    ),
    Term(
        "sharding",
        "分片",
        N_("Each device stores only its part of the weights, gradients or optimizer state."),
    ),
    Term(
        "tensor-parallel size (TP)",
        "张量并行数 (TP)",
        N_("How many devices share each matrix."),
        not_english=("tensor ranks",),
    ),
    Term(
        "data-parallel size (DP)",
        "数据并行数 (DP)",
        N_("How many copies of the model train on different data."),
        not_english=(r"replicas \(data\)",),
    ),
    Term(
        "pipeline-parallel size (PP)",
        "流水线并行数 (PP)",
        N_("Into how many stages of layers the model is cut."),
        not_english=("^Pipeline stages$",),
    ),
    Term(
        "expert-parallel size (EP)",
        "专家并行数 (EP)",
        N_("Over how many devices the experts of a layer are spread."),
        not_english=("expert ranks?",),
    ),
    # Words that need no explanation here, only the same translation everywhere.
    Term("stride", "步长"),
    Term("view", "视图"),
    Term("storage", "存储区"),
    Term("contiguous", "连续"),
    Term("broadcasting", "广播"),
    Term("leaf", "叶子节点"),
    Term("rounding", "舍入"),
    Term("saturate", "饱和"),
    Term("compute capacity", "算力"),
    Term("amount of compute", "计算量"),
    Term(
        "breakdown",
        "构成",
        not_english=("^lines$",),
        not_chinese=("分行", r"拆成 \{count\} 行", "^明细$"),
    ),
    Term("precision", "精度"),
    Term("weight format", "权重格式"),
    Term("KV cache format", "KV cache 格式"),
    Term("number format", "数值格式"),
    Term("rounding mode", "舍入模式"),
    Term("seed", "随机种子"),
    Term("device", "设备"),
)
GLOSSARY: Final[Mapping[str, Term]] = MappingProxyType(
    {term.english: term for term in TERMS if term.explanation}
)
