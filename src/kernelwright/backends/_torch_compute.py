"""Which operation, if any, an expression leaves to PyTorch. Goes by names: it knows no type of any value."""

import ast

from kernelwright.backends._names import Names

# Calls on `torch` that make room, describe or switch, and compute nothing of a result.
_NO_COMPUTE = frozenset(
    """
    as_strided as_tensor compile device dtype empty empty_like empty_strided enable_grad finfo from_numpy full
    full_like get_num_threads iinfo inference_mode is_tensor load manual_seed no_grad numel ones ones_like
    promote_types result_type save set_default_dtype set_grad_enabled set_num_threads tensor zeros zeros_like
    """.split()
)
# Torch folders whose calls are not operations on tensors.
_NO_COMPUTE_PARTS = frozenset({"autograd", "backends", "cuda", "init", "jit", "library", "utils", "_C", "_dynamo"})
# Methods that name a computation on whatever object they are called; in place or not.
_METHODS = frozenset(
    """
    abs addmm amax amin argmax argmin baddbmm bmm clamp conv1d conv2d conv3d cumprod cumsum div dot einsum erf
    exp expm1 gather gelu index_add index_select log log1p log_softmax logsumexp masked_fill matmul max mean
    min mm mul mv neg norm pow prod reciprocal relu rsqrt scatter scatter_add sigmoid silu softmax sort sqrt
    std sub sum tanh topk var
    """.split()
)


def torch_operation(node: ast.AST, names: Names) -> str | None:
    """Its name: `matmul` for `a @ b`, `softmax` for `F.softmax(x)`, `Linear` for a layer that is called."""
    match node:
        case ast.BinOp(op=ast.MatMult()) | ast.AugAssign(op=ast.MatMult()):
            return "matmul"
        case ast.Call(func=ast.Attribute(attr=method) as function):
            origin = names.of(function)
            return _by_origin(origin, method) if origin else _by_method(method)
        case ast.Call(func=function):
            return _by_origin(names.of(function) or "", "")
    return None


def _by_origin(origin: str, method: str) -> str | None:
    parts = origin.split(".")
    if parts[0] != "torch" or _NO_COMPUTE_PARTS.intersection(parts):
        return None
    if origin.startswith("torch.nn.") and origin.endswith("()"):
        return parts[-1].removesuffix("()")
    if "()" in origin:
        return _by_method(method)
    return None if parts[-1] in _NO_COMPUTE or _is_type(parts) else parts[-1]


def _is_type(parts: list[str]) -> bool:
    """Making a layer or a parameter computes nothing; calling it does."""
    return parts[-1][:1].isupper()


def _by_method(method: str) -> str | None:
    operation = method.removesuffix("_")
    return operation if operation in _METHODS else None
