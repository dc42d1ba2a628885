"""check() and assert_bit_exact()."""

from __future__ import annotations

import contextlib
import ctypes
import sys
import threading
from typing import Any, Callable, Iterator, Optional, Sequence, Union

from ._dlpack import CUDA, Tensor
from ._frameworks import Framework, find_framework
from ._library import KERNEL_DONE, KERNEL_FAILED, KERNEL_REFUSED, CheckOptions, Kernel, Refused, library, raise_for
from ._report import Report, parse_report


class _Adapter:
    """Stands between the library's calls and the kernel, and keeps what the kernel raised."""

    def __init__(self, kernel: Callable[..., Any], framework: Framework, out: bool) -> None:
        self.kernel = kernel
        self.framework = framework
        self.out = out
        self.was_on_gpu = False
        self.raised: Optional[BaseException] = None

    def __call__(self, pointer: Any) -> int:
        if self.raised is not None:  # nothing after that is of interest
            return KERNEL_FAILED
        call = pointer.contents
        try:
            self._serve(pointer, call)
            return KERNEL_DONE
        except Refused as refusal:
            _write_reason(call, str(refusal) or "it gave no reason")
            return KERNEL_REFUSED
        except BaseException as error:  # whatever it is must not cross the library
            self.raised = error
            _write_reason(call, f"{type(error).__name__}: {error}")
            return KERNEL_FAILED

    def _serve(self, pointer: Any, call: Any) -> None:
        tensors = [Tensor(call.inputs[i].contents) for i in range(call.input_count)]
        output = Tensor(call.output.contents)
        stream = call.stream or 0
        if output.device[0] != CUDA:
            self._run(pointer, tensors, output, stream)
            return
        self.was_on_gpu = True
        with self.framework.stream(stream, output.device[1]):
            self._run(pointer, tensors, output, stream)

    def _run(self, pointer: Any, tensors: Sequence[Tensor], output: Tensor, stream: int) -> None:
        arrays = [self.framework.array(tensor) for tensor in tensors]
        if self.out:
            self.kernel(*arrays, self.framework.array(output))
            return
        self.framework.soil(output)
        result = self.kernel(*arrays)
        if result is None:
            raise TypeError(
                "the kernel returned nothing; return the result, or say out=True for a kernel that writes it"
            )
        result = self.framework.described(result, stream)
        raise_for(library().bitproof_call_return(pointer, ctypes.byref(result.tensor)))


@contextlib.contextmanager
def _catching_interrupts(adapter: _Adapter) -> Iterator[None]:
    """Keeps what is raised before the adapter's first line, which an interrupt mostly is: the library's work, in which it
    waits, ends with the next call. ctypes hands it to sys.unraisablehook and nobody else."""
    if threading.current_thread() is not threading.main_thread():  # which alone is interrupted
        yield
        return
    before = sys.unraisablehook

    def hook(unraisable: Any) -> None:
        # From CPython 3.13 on the callback is in the message alone.
        if unraisable.object is adapter or repr(adapter) in (unraisable.err_msg or ""):
            adapter.raised = adapter.raised or unraisable.exc_value
        else:
            before(unraisable)

    sys.unraisablehook = hook
    try:
        yield
    finally:
        sys.unraisablehook = before


def _write_reason(call: Any, reason: str) -> None:
    words = reason.encode()[: call.reason_bytes - 1]
    ctypes.memmove(call.reason, words + b"\0", len(words) + 1)


def _text(argument: str, value: Any) -> bytes:
    if not isinstance(value, str):
        raise TypeError(f"{argument} is {value!r}, of type {type(value).__name__}; give a string")
    return value.encode()


def _joined(domain: Union[str, Sequence[str]]) -> bytes:
    return _text("domain", domain) if isinstance(domain, str) else b",".join(_text("domain", each) for each in domain)


def _name_of(kernel: Callable[..., Any]) -> str:
    return str(getattr(kernel, "__name__", type(kernel).__name__))


def check(
    op: str,
    kernel: Callable[..., Any],
    *,
    dtype: str,
    domain: Union[str, Sequence[str], None] = None,
    device: Any = None,
    framework: Optional[str] = None,
    out: bool = False,
    profile: str = "pytorch-2.11-cuda",
    equality: str = "bitwise",
    seed: int = 1,
    name: Optional[str] = None,
) -> Report:
    """Runs a kernel over domains of inputs and compares every bit of its results with the CPU reference.

    op: the operator whose contract must hold; bitproof.contracts() lists them.
    kernel: called as kernel(input) or, for an operator with a bias, kernel(input, bias), and returns its result; with
        out=True called with the output as last argument, into which it writes. input is [rows, width], bias [width].
        For linear_gelu_tanh called as kernel(x, weight, bias) with x [rows, K], weight [N, K] as torch.nn.Linear keeps
        it, bias [N], and its result is [rows, N]. It works on the framework's current stream. With out=True the output
        is poisoned and fenced. The memory of a result that is returned is the kernel's own: torch, CuPy and NumPy are
        made to have poison where it will probably lie, lest what is not written be right from an earlier call. The
        tensors are valid during the call only. It may raise Refused for tensors that it does not serve; whatever else it
        raises ends the check and is raised again.
    dtype: "bf16" or "fp16".
    domain: one or several of the contract's domains: "values" are all 65,536 inputs, "pairs" all 2^32 pairs of input
        and bias. Default: values, boundary and random, which take a moment.
    device: "cpu", "cuda", "cuda:N" or a torch.device. Default: the framework's current GPU, the CPU where there is none.
    framework: what the kernel's tensors are: "torch", "cupy", "numpy" or "dlpack" (objects with __dlpack__).
        Default: the first of the first three that has been imported.
    profile: whose eager bits are the truth. linear_gelu_tanh has two paths: eager's, in which the sum is rounded before
        GELU, and "cublaslt-13-gelu-epilogue", in which it is not and GELU is that of cuBLASLt. Both take the sums of
        tensor cores in one split; the report says of each shape what sums and what GELU its bits are those of.
    equality: "bitwise" or "ulp<=N".
    seed: of random inputs.
    name: what the report calls the kernel. Default: its __name__.

    The kernel runs in this process, which a crash of it ends: `python -m bitproof check` checks files in processes of their
    own.

    Raises ValueError or TypeError for an argument that is none of these, and BitproofError when the check cannot run.
    """
    if not callable(kernel):
        raise TypeError(f"kernel is {type(kernel).__name__}, which cannot be called; give a function on tensors")
    if not isinstance(seed, int) or not 0 < seed < 2**64:
        raise ValueError(f"seed {seed!r}: is none; give a whole number from 1 to 2^64 - 1")
    adapter = _Adapter(kernel, find_framework(framework), out)
    device = adapter.framework.default_device() if device is None else str(device)
    name = name or _name_of(kernel)
    reproduce = f"bitproof.check({op!r}, {name}, dtype={dtype!r}, seed={seed})"
    options = CheckOptions(
        struct_size=ctypes.sizeof(CheckOptions),
        op=_text("op", op),
        dtype=_text("dtype", dtype),
        domains=None if domain is None else _joined(domain),
        device=None if device is None else device.encode(),
        profile=_text("profile", profile),
        equality=_text("equality", equality),
        name=_text("name", name),
        reproduce=reproduce.encode(),
        seed=seed,
        returns_output=0 if out else 1,
    )
    lib = library()
    handle = ctypes.c_void_p()
    raise_for(lib.bitproof_check_create(ctypes.byref(options), ctypes.byref(handle)))
    try:
        with _catching_interrupts(adapter):
            status = lib.bitproof_check_run(handle, Kernel(adapter), None)
        if adapter.raised is not None:  # before what came of it
            raise adapter.raised
        raise_for(status)
        return parse_report(lib.bitproof_check_verdict(handle).decode(), lib.bitproof_check_report(handle).decode())
    finally:
        lib.bitproof_check_destroy(handle)
        if adapter.was_on_gpu:
            with contextlib.suppress(Exception):  # of a context that the kernel has broken: the report says so
                adapter.framework.release()


def assert_bit_exact(op: str, kernel: Callable[..., Any], *, dtype: str, **arguments: Any) -> Report:
    """As check(), but raises AssertionError with the counterexample unless every domain passes: for pytest."""
    __tracebackhide__ = True
    report = check(op, kernel, dtype=dtype, **arguments)
    if not report.passed:
        raise AssertionError(f"{op} {dtype} is not bit-exact\n{report}")
    return report
