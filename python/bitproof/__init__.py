"""Checks a fused half-precision kernel against a contract, bit for bit.

    import bitproof
    report = bitproof.check("bias_gelu_tanh", my_kernel, dtype="bf16", domain="pairs")
    bitproof.assert_bit_exact("gelu_tanh", my_kernel, dtype="fp16")  # for pytest

The kernel is any callable on tensors of PyTorch, CuPy, NumPy with ml_dtypes, or anything that speaks DLPack. The inputs
are made, the expected bits computed and the outputs compared by libbitproof.so, which comes with this package.

`bitproof.ops` holds the production kernels as PyTorch custom operators; `python -m bitproof` is the command line.
"""

from __future__ import annotations

from typing import Any

from ._check import assert_bit_exact, check
from ._library import BitproofError, Contract, Refused, contracts, include_directory, library_version
from ._report import Counterexample, Record, Report

__all__ = [
    "BitproofError",
    "Contract",
    "Counterexample",
    "Record",
    "Refused",
    "Report",
    "assert_bit_exact",
    "check",
    "contracts",
    "include_directory",
    "ops",
]


def __getattr__(name: str) -> Any:
    # PyTorch is imported by who asks for its operators and the library loaded by who needs it, and not before.
    if name == "ops":
        import importlib

        return importlib.import_module(".ops", __name__)
    if name == "__version__":
        return library_version()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
