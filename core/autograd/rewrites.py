"""A program changed so that autograd accepts it: what `errors` proposes, as text to copy."""

import ast
import itertools
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Final

_SYMBOLS: Final = {"add_": ast.Add, "sub_": ast.Sub, "mul_": ast.Mult, "div_": ast.Div}
_FILLED: Final = {
    "zero_": "torch.zeros_like({x})",
    "fill_": "torch.full_like({x}, {value})",
    "copy_": "{value}.clone()",
}
_BLOCKS: Final = ("torch.no_grad()", "torch.inference_mode()")
Change = Callable[[ast.stmt], Sequence[ast.stmt]]


def is_python(source: str) -> bool:
    """Whether a program can be read at all; of one that cannot, nothing can be rewritten."""
    try:
        ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


def is_write(node: ast.AST) -> bool:
    """Whether a statement or a call changes a tensor in place."""
    match node:
        case ast.AugAssign() | ast.Assign(targets=[ast.Subscript()]):
            return True
        case ast.Call(func=ast.Attribute(attr=method)):
            return method in _SYMBOLS or method in _FILLED
    return False


def text_of(source: str, line: int | None) -> str:
    """Return the statement on a line; empty if there is none."""
    return next((ast.unparse(each) for each in _on(ast.parse(source), line)), "")


def is_in_block(source: str, line: int | None) -> bool:
    """Whether a line stands within `with`."""
    return any(isinstance(each, ast.With) for each in _top_with(ast.parse(source), line))


def out_of_place(source: str, lines: Collection[int]) -> str:
    """Give what is changed on these lines a new tensor: `b.add_(1)` becomes `b = b + 1`."""
    return _changed(source, lines, _out_of_place)


def in_expressions(source: str, lines: Collection[int]) -> str:
    """Have calls that change a tensor give a new one: `x.exp().add_(1)`, `x.exp() + 1`."""
    return _changed(source, lines, lambda each: [_NewResults().visit(each)])


def cloned_between(source: str, line: int, names: Collection[str]) -> Iterator[str]:
    """Go on with a copy of one of these, from each place before a line on, the latest first.

    What was saved until then stays as it was, and views taken later are of the copy.
    """
    lines = [ast.unparse(each) for each in ast.parse(source).body]
    before = sum(each.lineno < line for each in ast.parse(source).body)
    for at in reversed(range(before + 1)):
        for name in names:
            yield "\n".join([*lines[:at], f"{name} = {name}.clone()", *lines[at:]])


def moved_behind(source: str, line: int | None, later: int | None) -> str:
    """Do a statement, with its block, after a later one."""
    tree = ast.parse(source)
    first, second = _top_with(tree, line), _top_with(tree, later)
    if not (first and second) or first == second:
        return ""
    tree.body.remove(first[0])
    tree.body.insert(tree.body.index(second[0]) + 1, first[0])
    return ast.unparse(tree)


def without_tracking(source: str, lines: Collection[int]) -> str:
    """Write under `torch.no_grad()`."""
    return _changed(source, lines, lambda each: [_block("torch.no_grad()", [each])])


def retaining(source: str, line: int | None) -> str:
    """Have every backward before a line keep the graph."""
    tree = ast.parse(source)
    earlier = [call for call in _calls(tree, "backward") if call.lineno < (line or 0)]
    for call in earlier:
        call.keywords = [each for each in call.keywords if each.arg != "retain_graph"]
        call.keywords.append(ast.keyword(arg="retain_graph", value=ast.Constant(value=True)))
    return ast.unparse(tree) if earlier else ""


def calling_first(source: str, line: int | None, method: str, first: str) -> str:
    """Call another method before a method: `y.backward()` becomes `y.sum().backward()`."""
    tree = ast.parse(source)
    calls = [call for call in _calls(tree, method) if call.lineno == line]
    for call in calls:
        if isinstance(call.func, ast.Attribute):
            link = ast.Attribute(value=call.func.value, attr=first, ctx=ast.Load())
            call.func.value = ast.Call(func=link, args=[], keywords=[])
    return ast.unparse(tree) if calls else ""


def guarded(source: str, line: int, text: str, selection: int) -> Iterator[str]:
    """Give an operation another operand where its value is not selected: a second `torch.where`.

    Args:
        source: The program.
        line: Of the operation.
        text: What the reader wrote for it, as far as that is known.
        selection: The line of the `where` that selects.
    """
    place = _on(ast.parse(source), selection)
    calls = [node for each in place for node in ast.walk(each) if isinstance(node, ast.Call)]
    for condition in (test for call in calls for test in _conditions_of(call, source)):
        operands = len(_operands(ast.parse(source), line, text))
        for at, safe, is_other in itertools.product(range(operands), (1, 0), (False, True)):
            tree = ast.parse(source)
            x = _operands(tree, line, text)[at]
            words = (f"{safe}", ast.unparse(x)) if is_other else (ast.unparse(x), f"{safe}")
            guard = f"torch.where({ast.unparse(condition)}, {', '.join(words)})"
            yield ast.unparse(_Replaced(x, ast.parse(guard, mode="eval").body).visit(tree))


def ending_in(source: str, call: str) -> str:
    """Call something on the last value; "" if the last statement names or gives none."""
    *before, last = ast.parse(source).body
    lines = [*map(ast.unparse, before), ast.unparse(last)]
    match last:
        case ast.Assign(targets=[ast.Name(id=name)]):
            return "\n".join([*lines, name + call])
        case ast.Expr(value=ast.Name() | ast.Call() | ast.Attribute()):
            return "\n".join(lines) + call
        case ast.Expr():
            return "\n".join([*lines[:-1], f"({lines[-1]}){call}"])
    return ""


def without_inference_mode(source: str) -> str:
    """Use `torch.no_grad()` where `torch.inference_mode()` stood."""
    changed = source.replace("torch.inference_mode()", "torch.no_grad()")
    return changed if changed != source else ""


def connected(source: str, leaf: str) -> str:
    """Undo what cuts the graph: `detach()`, blocks without gradients; else have a leaf tracked."""
    tree = _WithoutCuts().visit(ast.parse(source))
    changed = ast.unparse(ast.fix_missing_locations(tree))
    if changed != ast.unparse(ast.parse(source)):
        return changed
    return f"{leaf}.requires_grad_()\n{source}" if leaf else ""


def retained(source: str) -> str:
    """Have every computed tensor keep its gradient whose `.grad` is read."""
    tree = ast.parse(source)
    read = {
        node.value.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and node.attr == "grad"
        if isinstance(node.value, ast.Name)
    }
    lines: list[str] = []
    for each in tree.body:
        lines.append(ast.unparse(each))
        match each:
            case ast.Assign(targets=[ast.Name(id=name)]) if name in read:
                lines.append(f"{name}.retain_grad()")
    return "\n".join(lines) if len(lines) > len(tree.body) else ""


class _WithoutCuts(ast.NodeTransformer):
    """Takes away `.detach()` and the blocks that switch gradients off; their lines stay."""

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        match node.func:
            case ast.Attribute(value=value, attr="detach"):
                return value
        return node

    def visit_With(self, node: ast.With) -> ast.AST | list[ast.stmt]:
        self.generic_visit(node)
        is_cut = any(ast.unparse(item.context_expr) in _BLOCKS for item in node.items)
        return node.body if is_cut else node


class _NewResults(ast.NodeTransformer):
    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        match node:
            case ast.Call(func=ast.Attribute(value=x, attr=method)) if is_write(node):
                return _result(x, method, node.args)
        return node


def _out_of_place(statement: ast.stmt) -> list[ast.stmt]:
    match statement:
        case ast.AugAssign(target=ast.Name(id=name), op=op, value=value):
            return _assigned(name, ast.BinOp(left=ast.Name(id=name), op=op, right=value))
        case ast.Expr(
            value=ast.Call(func=ast.Attribute(value=ast.Name(id=name) as x, attr=method)) as call
        ) if is_write(call):
            return _assigned(name, _result(x, method, call.args))
    names = dict.fromkeys(_written(each) for each in ast.walk(statement) if is_write(each))
    copies = (ast.parse(f"{name}.clone()", mode="eval").body for name in filter(None, names))
    return [
        *(each for name, copy in zip(names, copies, strict=True) for each in _assigned(name, copy)),
        statement,
    ]


def _result(x: ast.expr, method: str, arguments: list[ast.expr]) -> ast.expr:
    if method in _SYMBOLS and arguments:
        return ast.BinOp(left=x, op=_SYMBOLS[method](), right=arguments[0])
    value = ast.unparse(arguments[0]) if arguments else ""
    pattern = _FILLED.get(method, f"{{x}}.{method.rstrip('_')}({{value}})")
    return ast.parse(pattern.format(x=ast.unparse(x), value=value), mode="eval").body


def _assigned(name: str, value: ast.expr) -> list[ast.stmt]:
    return list(ast.parse(f"{name} = {ast.unparse(value)}").body)


def _block(head: str, body: list[ast.stmt]) -> ast.stmt:
    block = ast.parse(f"with {head}:\n    pass").body[0]
    if isinstance(block, ast.With):
        block.body = body
    return block


def _written(node: ast.AST) -> str:
    """Return the name whose tensor, or a view of it, is changed; "" if it has none."""
    while not isinstance(node, ast.Name):
        match node:
            case ast.AugAssign(target=node) | ast.Assign(targets=[node]) | ast.Call(func=node):
                continue
            case ast.Attribute(value=node) | ast.Subscript(value=node):
                continue
        return ""
    return node.id


def _statements(tree: ast.Module) -> Iterator[ast.stmt]:
    for each in tree.body:
        yield from (node for node in ast.walk(each) if isinstance(node, ast.stmt))


def _on(tree: ast.Module, line: int | None) -> list[ast.stmt]:
    """Return the statement on a line, as small as possible."""
    return [
        each
        for each in _statements(tree)
        if not isinstance(each, ast.With)
        if line is not None and each.lineno <= line <= (each.end_lineno or each.lineno)
    ]


def _top_with(tree: ast.Module, line: int | None) -> list[ast.stmt]:
    """Return the statement on a line, with the block that it stands in."""
    return [
        each
        for each in tree.body
        if line is not None and each.lineno <= line <= (each.end_lineno or each.lineno)
    ]


def _conditions_of(call: ast.Call, source: str) -> list[ast.expr]:
    """Return what selects: of a name, also what it stands for."""
    match call:
        case (
            ast.Call(func=ast.Attribute(attr="where"), args=[test, _, _])
            | ast.Call(func=ast.Attribute(attr="where" | "masked_fill"), args=[test, _])
        ):
            given = [each for each in ast.parse(source).body if isinstance(each, ast.Assign)]
            names = {ast.unparse(each.targets[0]): each.value for each in given}
            return [test, names.get(ast.unparse(test), test)]
    return []


def _operands(tree: ast.Module, line: int, text: str) -> list[ast.expr]:
    """Return what an operation works on; if no text is like its own, what all on its line do."""
    nodes = [node for each in _on(tree, line) for node in ast.walk(each)]
    alike = [node for node in nodes if isinstance(node, ast.expr) and ast.unparse(node) == text]
    found: list[ast.expr] = []
    for node in alike or nodes:
        match node:
            case ast.BinOp(left=left, right=right):
                found += [left, right]
            case ast.Call(func=ast.Attribute(value=ast.Name(id="torch" | "F")), args=[x, *_]):
                found.append(x)
            case ast.Call(func=ast.Attribute(value=x)):
                found.append(x)
    return [x for x in found if not isinstance(x, ast.Constant)]


class _Replaced(ast.NodeTransformer):
    def __init__(self, old: ast.expr, new: ast.expr) -> None:
        self._old, self._new = old, new

    def visit(self, node: ast.AST) -> ast.AST:
        return self._new if node is self._old else super().visit(node)


def _calls(tree: ast.Module, method: str) -> list[ast.Call]:
    return [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        if isinstance(node.func, ast.Attribute) and node.func.attr == method
    ]


def _changed(source: str, lines: Collection[int], change: Change) -> str:
    """Return the program with the statements on lines changed; empty if that changes nothing."""
    tree = ast.parse(source)
    guilty = [each for line in lines for each in _on(tree, line)]
    blocks = [each for each in _statements(tree) if isinstance(each, ast.With)]
    bodies = [tree.body, *(block.body for block in blocks)]
    for body in bodies:
        body[:] = [new for each in body for new in (change(each) if each in guilty else [each])]
    changed = ast.unparse(ast.fix_missing_locations(tree))
    return changed if changed != ast.unparse(ast.parse(source)) else ""
