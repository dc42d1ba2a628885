"""The production kernels as PyTorch custom operators, for inference.

    bitproof.ops.gelu_tanh(x)                        gelu(x, approximate="tanh")
    bitproof.ops.bias_gelu_tanh(x, bias)             gelu(x + bias, approximate="tanh")
    bitproof.ops.linear_gelu_tanh(x, weight, bias)   gelu(linear(x, weight, bias), approximate="tanh")

with the bits of PyTorch 2.11 eager on CUDA, in one pass. linear_gelu_tanh is a GEMM of one split followed by the
production GELU: the bits of eager wherever eager's GEMM has one split too.

torch.compile keeps them whole, without a graph break, and CUDA graphs capture them. They run on the current stream.
Tensors that a kernel's predicate refuses (a dtype, a width, an alignment, a layout) raise bitproof.Refused, a
ValueError, with its reason: nothing is copied or computed another way behind the caller's back.
"""

from __future__ import annotations

import ctypes
from typing import Any

import torch

from ._dlpack import CPU, CUDA, Described, describe
from ._library import Refused, library, raise_for

__all__ = ["bias_gelu_tanh", "gelu_tanh", "linear_gelu_tanh"]

_DTYPES = {torch.bfloat16: "bf16", torch.float16: "fp16"}


def _described(name: str, tensor: torch.Tensor) -> Described:
    dtype = _DTYPES.get(tensor.dtype)
    if dtype is None:
        raise Refused(f"{name} is neither bf16 nor fp16")
    device = (CUDA, tensor.device.index) if tensor.is_cuda else (CPU, 0)
    if not tensor.is_cuda and tensor.device.type != "cpu":
        raise Refused(f"{name} is on {tensor.device}; CPU and CUDA are served")
    return describe(tensor.data_ptr(), tuple(tensor.shape), tensor.stride(), dtype, device, tensor)


def _call(function: Any, **tensors: torch.Tensor) -> None:
    described = [_described(name, tensor) for name, tensor in tensors.items()]
    first = next(iter(tensors.values()))
    stream = torch.cuda.current_stream(first.device).cuda_stream if first.is_cuda else None
    raise_for(function(*(ctypes.byref(each.tensor) for each in described), stream))


@torch.library.custom_op("bitproof::gelu_tanh", mutates_args=())
def gelu_tanh(x: torch.Tensor) -> torch.Tensor:
    """gelu(x, approximate="tanh") of a bf16 or fp16 tensor [..., width]."""
    output = torch.empty_like(x)
    _call(library().bitproof_gelu_tanh, input=x, output=output)
    return output


@gelu_tanh.register_fake
def _(x: torch.Tensor) -> torch.Tensor:
    return torch.empty_like(x)


@torch.library.custom_op("bitproof::bias_gelu_tanh", mutates_args=())
def bias_gelu_tanh(x: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
    """gelu(x + bias, approximate="tanh") of x [..., width] and bias [width], the sum rounded to the dtype."""
    output = torch.empty_like(x)
    _call(library().bitproof_bias_gelu_tanh, input=x, bias=bias, output=output)
    return output


@bias_gelu_tanh.register_fake
def _(x: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
    return torch.empty_like(x)


@torch.library.custom_op("bitproof::linear_gelu_tanh", mutates_args=())
def linear_gelu_tanh(x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
    """gelu(x @ weight.T + bias, approximate="tanh") of x [..., K], weight [N, K] and bias [N], on a GPU."""
    if weight.ndim != 2:
        raise Refused(f"weight has rank {weight.ndim}; rank 2 is needed")
    output = x.new_empty((*x.shape[:-1], weight.shape[0]))
    _call(library().bitproof_linear_gelu_tanh, x=x, weight=weight, bias=bias, output=output)
    return output


@linear_gelu_tanh.register_fake
def _(x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
    return x.new_empty((*x.shape[:-1], weight.shape[0]))
