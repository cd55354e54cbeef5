"""Texts that must be refused: ways out of the language, and requests that are too large.

The first table is a list of attacks on expression libraries, most of them once successful; the
others vary it. `x` is a tensor of shape (4, 6).
"""

ESCAPES = [
    "x.__class__",
    "().__class__.__bases__[0].__subclasses__()",
    "''.__class__",
    "x.view.__func__",
    "x.numpy().tofile('p')",
    "x.numpy().dump('p')",
    "x.data_ptr()",
    "x.apply_(lambda v: v)",
    "x.register_hook(print)",
    "x.untyped_storage().resize_(9)",
    "x.untyped_storage().from_file('p',True,16)",
    "x.set_(x)",
    "x.share_memory_()",
    "x.grad_fn",
    "torch.load('/etc/passwd')",
    "torch.ops.aten",
    "getattr(x,'view')",
    "__import__('os').system('id')",
    "eval('1')",
    "open('/etc/passwd').read()",
    "globals()",
    "type(x)",
    "lambda: 0",
    "(lambda: x)()",
    "[x for _ in range(10**9)]",
    "{k:1 for k in range(9)}",
    "(i for i in [1])",
    'f"{x.__class__}"',
    'f"{x!r:>1000000000}"',
    "'%s' % x",
    "'a'*1000000000",
    "'{0.__class__}'.format(x)",
    "x.view(*[2,3])",
    "x.view(**{'a':1})",
    "(y := x)",
    "x if x else x",
    "x and x",
    "9**9**9",
    "1 << 1000000",
    "x.expand(1000000,4,6)",
    "x.repeat(1000000,1000000)",
    "arange(1000000)",
    "x.reshape(2, 99999999999999999999)",
    "x[[0]*1000000]",
    "x.as_strided((1000,),(1,),0)",
    "x.as_strided((2,),(-1,),3)",
    "x.view(1,1,1,1,1,1,1,1,1,4,6)",
    "repeat(x,'a b -> (a r) b', r=999999)",
    "rearrange(x,'{0.__class__} -> a')",
    "rearrange(x,'a b -> b a', __class__=1)",
    "reduce(x,'a b -> a', print)",
    "x['__class__']",
    "x[lambda: 0]",
    "import os",
    "x = 1; import os",
    "del x",
    "_x = x",
    "rearrange = x",
    "x.view = 1",
    "def f(): pass",
    "class A: pass",
    "while True: x",
    "with x: x",
    "raise x",
    "await x",
    "yield x",
    "x.t",
    "x.\uff56\uff49\uff45\uff57(6,4)",
    "b'a'",
    "1j",
    "x.to('cuda')",
    "(" * 300 + "x" + ")" * 300,
    "-" * 400 + "x",
    "x" + ".t()" * 100,
    "x" + "[0]" * 160,
    "x" + " " * 499 + "+x",
    "x\0",
    "x + " + "9" * 495,
    "+".join(["x"] * 150),
]
WORDS_OF_OBJECTS = [
    f"x.{word}"
    for word in (
        "__dict__ __init__ __reduce__ __getattribute__ __globals__ __code__ __mro__ _base _cdata"
        " backward() grad requires_grad_() retain_grad() numpy() tolist() item() cpu() cuda()"
        " storage() untyped_storage() resize_(9) resize_as_(x) map_(x,x) module_load(x) to_mkldnn()"
        " names is_cuda device layout register_post_accumulate_grad_hook(x) pin_memory() put_(x)"
        " index_put_(x,x) uniform_() normal_() random_() bernoulli_() add_(1) zero_() fill_(1)"
        " set_data(x) new_empty(9) new_tensor(9) as_subclass(x) dim_order() is_shared() log_()"
        " data_ptr to_sparse() cauchy_() histc() bincount() lu() svd() inverse() det()"
    ).split()
]
FUNCTIONS_ELSEWHERE = [
    f"torch.{word}"
    for word in (
        "save(x,'p') load('p') from_file('p',True,9) hub.load('a','b') jit.script(x) compile(x)"
        " set_num_threads(99) manual_seed(1) utils.data get_default_dtype() classes.load_library(x)"
        " multiprocessing.Process() serialization.load(x) _C.x cuda.memory() distributed.init(x)"
        " set_default_device('cuda') frombuffer(x) from_numpy(x) from_dlpack(x) Generator() Size"
        " Tensor([1]) nn.Module() autograd.grad(x,x) ops.load_library('p') library.Library('a','b')"
        " overrides fx.wrap('x') onnx.export(x,x,x) package.Importer('p') futures.Future() os sys"
    ).split()
]
BUILT_IN = [
    *("exec('1')", "compile('1','a','eval')", "print(x)", "input()", "breakpoint()", "exit()"),
    *("vars(x)", "dir(x)", "locals()", "setattr(x,'a',1)", "object()", "range(9)", "len(x)"),
    *("super()", "memoryview(x)", "bytes(9)", "str(x)", "iter(x)", "map(x,x)", "id(x)", "help()"),
    *("os.system('id')", "sys.exit()", "subprocess.run('id')", "np.load('p')", "pathlib.Path('p')"),
]
GRAMMAR = [
    *("x; yield", "async def f(): x", "for i in x: x", "if x: x", "try:\n  x\nexcept: x", "assert x"),
    *("global x", "return x", "pass", "x += 1", "x: int = 1", "x = y = x", "(x).y = 1", "x[0].a = 1"),
    *("x < x < x", "x is x", "x in x", "not x", "x or x", "x ^ x", "x << 1", "+x", "{1, 2}", "{1: 2}"),
    *("[*x]", "print(*x)", "x.view(2, 3, 4, shape=1)", "x.view(shape=1, shape=2)", "match x:\n  case _: x"),
    *("@x\ndef f(): x", "from os import path", "type A = int", "x[*x]", "x.\nt", "x.t(", "'a' 'b'"),
    *("x\\\n.t()", "x.t(\t)", "x # a\u2028b", "\u0445.t()", "x\u200b.t()", "\u2028", "x['a']", "x[1.5]"),
    *("x[{}]", "x['a':'b']", "x[x.t()]", "x.shape[9]", "x.shape.index(4)", "(1, 2).count(1)", "1.5.hex()"),
    *("", "   ", "\n", "#", "1", "None", "True", "'text'", "torch", "F", "rearrange", "x.shape", "()"),
    *("torch.float32", "torch.float99", "a_name_that_is_long = x", "x.view(True)", "x.view('a')"),
]
TOO_LARGE = [
    *("torch.zeros(10**12)", "torch.zeros(1000000000)", "torch.ones(65536, 65536)", "torch.eye(99999)"),
    *("torch.arange(0, 1, 0.0000001)", "torch.linspace(0, 1, 999999999)", "x.tile(999999, 999)"),
    *("torch.empty(2**62)", "torch.empty_strided((2,), (9223372036854775807,))", "x.repeat(9999, 9999)"),
    *("torch.full((99999, 99999), 1)", "x.expand(9223372036854775807, 4, 6)", "x.unfold(0, 1, 0)"),
    *("x[None, None, None, None, None, None, None]", "x.chunk(-1)", "x.split(0)", "x.repeat_interleave(99999999)"),
    *("torch.einsum('ab,cd,ef->abcdef', x, x, x).repeat(99, 99, 99, 99, 99, 99)", "x.new_zeros(9)"),
    *("repeat(x, 'a b -> a b c d', c=99999, d=99999)", "rearrange(x, 'a b -> a b' * 999)", "x ** 10 ** 99"),
    *("torch.cat([x] * 99999)", "torch.stack([x, x], 99)", "x.view(2 ** 70)", "1 // 0", "1e308 * 1e308"),
    *("torch.randn(99999999)", "torch.rand(2000, 2000) @ torch.rand(2000, 2000)", "x.roll(2 ** 70)"),
    "\n".join(f"y{n} = x + x" for n in range(30)),
    "torch.zeros(512, 512) @ torch.zeros(512, 512)",
]
REFUSED = [*ESCAPES, *WORDS_OF_OBJECTS, *FUNCTIONS_ELSEWHERE, *BUILT_IN, *GRAMMAR, *TOO_LARGE]
