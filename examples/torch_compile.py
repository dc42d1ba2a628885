"""What torch.compile makes of bias + GELU, and the production kernel in its place."""

import torch
import torch._inductor.config
import torch.nn.functional as F

import bitproof


def eager(x, bias):
    return F.gelu(x + bias, approximate="tanh")


def fused(x, bias):
    return bitproof.ops.bias_gelu_tanh(x, bias)


print(bitproof.check("bias_gelu_tanh", eager, dtype="bf16", domain="pairs"))
for emulate in (False, True):
    torch._inductor.config.emulate_precision_casts = emulate
    torch._dynamo.reset()
    print("torch.compile, emulate_precision_casts", emulate)
    print(bitproof.check("bias_gelu_tanh", torch.compile(eager), dtype="bf16", domain="pairs"))
print("bitproof.ops under torch.compile")
bitproof.assert_bit_exact("bias_gelu_tanh", torch.compile(fused, fullgraph=True), dtype="bf16", domain="pairs")
