"""Phrases that readers stumbled over, and what to write in their place.

A row is a Term without an explanation: what to write in both languages, then what not to write,
as regular expressions. `^` and `$` hold a label whole. Of two Chinese words for one idea one is
chosen here.
"""

from typing import Final

from core.language.glossary import Term

_CARD: Final = r"(?:GPU|显卡|[AHBL]\d{2,3}\b|RTX|MI\d{3}|\d+ GB 的 [AH]\d+)"

_BOLD: Final = r"^(?:[^*]*\*\*[^*]+\*\*)*[^*]*\*\*[^*]+"

# English that a native engineer would not write, and its Chinese.
LABELS: Final = (
    Term("Auto", "自动", "", ("what suits", "as fits"), ("^怎样合适", "按需合适")),
    Term("layers per checkpoint segment", "每个重计算段的层数", "", ("checkpointed run",)),
    Term(
        "selective: recompute all but matmuls",
        "选择性：除矩阵乘法外都重算",
        "",
        ("all but products",),
    ),
    Term("KV cache full at {count}", "到 {count} 个时 KV cache 已满", "", ("memory ends it",)),
    Term(
        "generates {speed} tokens/s", "每秒生成 {speed} 个词元", "", (r"answers? (\w+ ){0,3}with",)
    ),
    Term("Peak memory per device", "每台设备的显存峰值", "", ("most on a device",)),
    Term("stage 0 uses the most memory", "阶段 0 占用显存最多", "", ("stage [^.:]* holds most",)),
    Term("GPUs per node", "每台机器的 GPU 数", "", ("devices of a node", "devices per node")),
    Term("Communication time", "通信时间", "", ("time on links",), ("链路耗时",)),
    Term("Time breakdown", "时间构成", "", ("^(time )?in lines$",), ("时间分行", "时间分成几行")),
    Term("possible overhead", "可能的额外开销", "", ("may come on top",), ("可能再多出来",)),
    Term("nominal", "标称", "", ("on the box",), ("包装上",)),
    Term("communication buffers", "通信缓冲区", "", ("what the network keeps",)),
    Term(
        "attention equals matmul cost at",
        "注意力与矩阵计算量相等处",
        "",
        (),
        ("分数 = 矩阵", "矩阵于$"),
    ),
    Term("Loss chunks", "损失的分块数", "", ("pieces of the loss",)),
    Term("Addend", "加数", "", ("number that is added",)),
    Term("Repetitions", "重复次数", "", ("(?-i:^How often$)",)),
    Term("Growth interval", "增长间隔", "", ("clean steps before it grows",)),
    Term("code entropy", "编码的熵", "", ("a code tells",)),
    Term("probe values", "试探值", "", ("telling numbers",), ("试探数",)),
    Term(
        "all libraries follow the specification",
        "所有库都符合规范",
        "",
        ("leaves the specification",),
    ),
    Term("Tokenizer", "分词器", "", ("^a token is an?$",), ("^一个词元是一个?$",)),
    Term("View (how it is shown)", "视图", "", ("^as$",), ("^形式$",)),
    Term("X-axis", "横轴", "", ("^memory over$",), ("^显存随$",)),
    Term("Attribute change by", "差异分解方式", "", ("^the change by$",), ("^变化按$",)),
    Term("stops shrinking", "不再变小", "", ("stops to shrink",)),
    Term("4 bytes each, 8 together", "各 4 字节，共 8 字节", "", ("moments: 8 bytes each",)),
    Term(
        "If you have measured your own speed, enter it",
        "若测过自己的速度，请填入",
        "",
        ("an own speed",),
    ),
    Term("7.00 billion x 16 bytes", "7.00 B × 16 字节", "", (r"\bB [x×] \d+ B\b",)),
    Term("CUDA GPU", "CUDA GPU", "", ("GPU of CUDA('s)?",)),
    Term(
        "corrected version", "更正后的写法", "", ("errors put right", "what ought to stand there")
    ),
    Term(
        "separate process",
        "独立进程",
        "",
        ("process of (its|their) own", "in its own process"),
        ("单独的进程", "独立的进程", "在另一个进程中"),
    ),
    Term("tokenizes", "分词", "", (r"cuts? (the|your|a) text",), ("切分文本",)),
    Term("is stored at", "存放在", "", ("lies? at",)),
    Term("once", "一次", "", (r"(?<![\d.,])1 times",)),
)

# Chinese that reads as a translation.
CALQUES: Final = (
    Term("no run yet", "还没有训练记录", "", (), ("还没有运行(?!过)", "尚无运行")),
    Term(
        "a run",
        "训练、训练任务、训练记录",
        "",
        (),
        (
            r"(个|次|自己的|课堂的|另一个|这些|该|每次|此|尚未完成的)运行(?!时)",
            r"(?<!\} )运行(记录|目录|列表|将|因| \{)",
            "(控制|写入|读取|删除|比较|显示整个|跟随最新的|下一次|真实)运行",
        ),
    ),
    Term("page by its name in the menu", "以菜单中的页名为准", "", (), ("“推理部署”",)),
    Term(
        "ties to even",
        "恰在正中时取偶数；就近舍入，中点取偶",
        "",
        (),
        ("平局", "正中取偶", "正中远离零"),
    ),
    Term("flush to zero", "把次正规数变成零；清零", "", (), ("冲刷",)),
    Term(
        "moments of AdamW", "一阶矩、二阶矩", "", (), (r"(两个|fp32|bf16) ?(8 位)?动量", "的动量")
    ),
    Term("tokens/s per user", "单用户生成速度", "", (), ("每个读者",)),
    Term("roofline: a slope, then flat", "屋顶线：一段斜，一段平", "", (), ("取来的每个字节只够",)),
    Term(
        "the number that surprised you", "真正该学的，正是让你意外的那个数", "", (), ("就是这一课",)
    ),
    Term("more wrong", "错得更离谱", "", (), ("错得更多",)),
    Term("no sign for a negative exponent", "负指数不必另设符号位", "", (), ("不必另设负号",)),
    Term(
        "nothing is faster",
        "这是用时下限",
        "",
        ("nothing is faster", "no transfer is faster"),
        ("没有更快的",),
    ),
    Term("not needed", "结果用不到", "", (), ("没有人需要",)),
    Term(
        "matmul",
        "矩阵乘法",
        "",
        (),
        (r"(\d 个|矩阵|重做的|逐个|窄|各个|前一个|最后一个|两个)乘积",),
    ),
    Term(
        "a hole of 30 MiB",
        "放不进 30 MiB 的空洞，只能再向驱动申请",
        "",
        (),
        ("30 的空洞", "驱动必须再给"),
    ),
    Term("of the forward pass", "占前向计算量的", "", (), ("占前向的",)),
    Term("full attention matrix", "按完整的注意力分数矩阵计", "", (), ("分数方阵",)),
    Term("in name only", "只有名字，没有实现", "", (), ("徒有其名",)),
    Term("Ask torch about {number}", "看 torch 怎样处理 {number}", "", (), ("问问 torch",)),
    Term("Does it fit?", "能放下吗", "", (), ("什么放得下",)),
    Term("no claim to check", "没有可核查的说法", "", (), ("可裁定",)),
    Term("five kinds of memory", "显存的五类占用", "", (), ("住户",)),
    Term("with the CUDA context", "含 CUDA 上下文", "", (), ("含上下文$",)),
    Term(
        "Train a GPT now: about 1 minute",
        "立即训练一个 GPT：约 1 分钟",
        "",
        (),
        (r"\d+ min \d+ s",),
    ),
    Term("all there", "几乎都在", "", (), ("格言：格言",)),
)

# Two Chinese words for one idea: the one that was chosen, and the other.
PAIRS: Final = (
    Term("code", "编码", "", (), (r"(?<![编代解掩密源维器])(?<!PIN )码(?!本)",)),
    Term("spacing", "间隔", "", (), ("间距",)),
    Term("neighbour", "相邻的数", "", (), ("邻居", "(?<!相)邻数")),
    Term("master weights", "主权重", "", (), ("主副本",)),
    Term(
        "reserved",
        "已预留",
        "",
        (),
        ("(^|、)已保留(?=$|、)", r"已保留( \{reserved\}|但未分配|仍)", "不等于已保留"),
    ),
    Term(
        "stage of a pipeline",
        "阶段",
        "",
        (),
        ("流水线各?级", "各级", "(这|那|的)一级(的一台)?(?=设备|$)", "自己这一级"),
    ),
    Term("node", "机器", "", (), ("(?:单|跨|多)节点|节点(?:内|间)|节点数",)),
    Term("recipe", "配方", "", (), ("一种方案", "放得下的方案")),
    Term("claim", "说法", "", (), ("论断",)),
    Term("nat", "奈特", "", (), (r"\bnats\b",)),
    Term("this app", "本应用", "", (), ("本仪表盘", "本面板")),
    Term("data sheet", "数据手册", "", (), ("规格书", "数据表")),
    Term("error band", "误差范围", "", (), ("误差带", "^区间$", "我们的区间")),
    Term("device memory", "显存", "", (), ("设备内存", "内存的?带宽")),
    Term("et al. 2020", "等，2020", "", (), (r"\bet al\b", r"等 \d{4}", r"等 ，")),
    Term(
        "8 cards",
        "8 张卡",
        "",
        (),
        (
            rf"[\d}}一二两三四五六七八九十几] ?[块台个颗片] ?{_CARD}(?! ?(机器|服务器))",
            r"台 ?\d+ GB 的设备",
            "[这那每]块 ?(GPU|显卡)",
        ),
    ),
    Term(
        "8 devices",
        "8 台设备",
        "",
        (),
        (r"[\d}一二两三四五六七八九十几每] ?[个张块]设备", "[单各]个设备"),
    ),
    Term("8 machines", "8 台机器", "", (), ("[个张](机器(?!码)|服务器|计算机|电脑)",)),
)

# What separates and joins Chinese words. Code and what stands in braces is not looked at.
PUNCTUATION: Final = (
    Term("a full-width mark", "，：；（）？！", "", (), (r"[一-龥][,:;()?!]", r"[,:;()?!][一-龥]")),
    Term("curly quotes", "“”", "", (), (r'[一-龥]"', r'"[一-龥]')),
    Term(
        "no blank beside a full-width mark",
        "。后不空格",
        "",
        (),
        ("[，。；：、！？）] +(?![*|])", " +[，。；：、！？（）]"),
    ),
    Term("one blank", "一个空格", "", (), (r"\S {2,}\S",)),
    Term("% without a blank", "5%", "", (), (r"[\d}] %",)),
    # Markdown does not close bold text between a mark and a letter.
    Term(
        "the mark behind bold text",
        "**粗体**。",
        "",
        (),
        (_BOLD + r"[，。：；、！？）”]\*\*(?=[^\W_])",),
    ),
    Term("a full stop", "。", "", (), (r"[一-龥]\.(\s|$)",)),
    Term("six dots", "……", "", (), ("[一-龥]…(?!…)",)),
    # No typeface has slanted Chinese.
    Term(
        "**bold**", "**粗体**", "", (), (r"(?<!\*)\*(?![*\s])[^*|]*[一-龥][^*|]*(?<!\*)\*(?!\*)",)
    ),
)
PHRASES: Final = (*LABELS, *CALQUES, *PAIRS)
