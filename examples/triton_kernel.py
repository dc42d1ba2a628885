"""A Triton kernel, with and without the rounding of the sum that eager has between its two kernels."""

import torch
import triton
import triton.language as tl
from triton.language.extra import libdevice

import bitproof


@triton.jit
def bias_gelu(x, bias, y, width, elements, ROUND: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + i, i < elements).to(tl.float32) + tl.load(bias + i % width, i < elements).to(tl.float32)
    if ROUND:
        v = v.to(y.dtype.element_ty).to(tl.float32)
    t = libdevice.tanh(0.797884583 * (v + 0.044715 * (v * v * v)))
    tl.store(y + i, ((0.5 * v) * (1.0 + t)).to(y.dtype.element_ty), i < elements)


def rounding(ROUND):
    def kernel(x, bias, y):
        bias_gelu[(triton.cdiv(x.numel(), 1024),)](x, bias, y, x.shape[1], x.numel(), ROUND, 1024)

    return kernel


for ROUND in (True, False):
    print(bitproof.check("bias_gelu_tanh", rounding(ROUND), dtype="bf16", domain="pairs", out=True))
