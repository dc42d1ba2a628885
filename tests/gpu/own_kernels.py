"""Kernels that are not ours, checked on a GPU: PyTorch eager, Inductor, Triton, and files of every kind.

    python3 tests/gpu/own_kernels.py BITPROOF-CONFORMANCE RESULTS

needs PyTorch, Triton, nvcc and the package bitproof, and prints a table. Every line has what was expected, so that the
exit status is 0 only if all came out so. RESULTS gets own_kernels.json.
"""

import hashlib
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import torch
import torch._inductor.config
import torch.nn.functional as F
import triton
import triton.language as tl
from triton.language.extra import libdevice

start = time.perf_counter()
import bitproof  # noqa: E402

EXECUTABLE, RESULTS = sys.argv[1], Path(sys.argv[2])
EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
DTYPES = {"bf16": torch.bfloat16, "fp16": torch.float16}
rows = []


def note(group, what, dtype, outcome, expected, detail="", **data):
    as_expected = expected is None or outcome == expected
    rows.append(
        dict(group=group, what=what, dtype=dtype, outcome=outcome, as_expected=as_expected, detail=detail, **data)
    )
    print(f"{'ok ' if as_expected else 'BAD'} {group:<9} {what:<46} {dtype:<5} {outcome:<12} {detail}", flush=True)


def check(group, what, op, kernel, domain, expected, dtypes=tuple(DTYPES), count=None, **arguments):
    for dtype in dtypes:
        report = bitproof.check(op, kernel, dtype=dtype, domain=domain, name=what, **arguments)
        for record in report.records:
            detail = f"{op} {record.domain} {record.tested}/{record.total}, {record.mismatches} mismatches"
            detail += f" against {record.profile}" if "profile" in arguments else ""
            if record.first:
                detail += f"; first {record.first}"
            for cause, number in record.causes.items():
                detail += f"; {cause}: {number}"
            for model, shapes in record.models.items():
                detail += f"; {model}: {len(shapes)} shapes"
            right = count in (None, record.mismatches)
            note(
                group,
                what,
                dtype,
                record.verdict,
                expected if right else f"{count} mismatches",
                detail,
                operator=op,
                domain=record.domain,
                profile=record.profile,
                tested=record.tested,
                mismatches=record.mismatches,
                kinds=record.kinds,
                max_ulp=record.max_ulp,
                digest=record.digest,
                seconds=round(record.seconds, 3),
                causes=record.causes,
                models={model: len(shapes) for model, shapes in record.models.items()},
                first=record.first.raw if record.first else None,
            )


# --- PyTorch -----------------------------------------------------------------------------------------------------


def eager(x, bias):
    return F.gelu(x + bias, approximate="tanh")


def first_verdict():
    report = bitproof.check("gelu_tanh", lambda x: F.gelu(x, approximate="tanh"), dtype="bf16", domain="values")
    seconds = time.perf_counter() - start
    note(
        "time",
        "import bitproof to a verdict on values",
        "bf16",
        report.verdict,
        "bit_exact",
        f"{seconds:.3f} s",
        seconds=seconds,
    )
    assert seconds < 2, seconds


ERF_PARTS_AT = "activation: as if it were the erf form of GELU"
ERF_DIAGNOSIS = "differs exactly as a kernel that computes the erf form of GELU would"


def pytorch():
    check(
        "eager", "F.gelu(x + b, tanh)", "bias_gelu_tanh", eager, "pairs,boundary,random,production,layout", "bit_exact"
    )
    check(
        "eager", "F.gelu(x, tanh)", "gelu_tanh", lambda x: F.gelu(x, approximate="tanh"), "values,layout", "bit_exact"
    )
    check("eager", "F.gelu(x)", "gelu_erf", F.gelu, "values,boundary,random,layout", "bit_exact")
    check("eager", "F.silu(x)", "silu", F.silu, "values,boundary,random,layout", "bit_exact")
    check("eager", "F.gelu(x) against the tanh contract", "gelu_tanh", F.gelu, "values", "mismatch")
    for dtype in DTYPES:
        first = bitproof.check("gelu_tanh", F.gelu, dtype=dtype, domain="values").first
        note("eager", "F.gelu(x), where it parts from the contract", dtype, first.parts_at, ERF_PARTS_AT)
        note("eager", "F.gelu(x), diagnosis", dtype, first.diagnosis, ERF_DIAGNOSIS)


def inductor():
    for emulate, expected, counts in ((False, "mismatch", (6110578, 323190264)), (True, "bit_exact", (0, 0))):
        torch._inductor.config.emulate_precision_casts = emulate
        torch._dynamo.reset()
        what = "torch.compile" + (", emulate_precision_casts" if emulate else "")
        compiled = torch.compile(eager)
        for dtype, count in zip(DTYPES, counts):
            check("inductor", what, "bias_gelu_tanh", compiled, "pairs", expected, [dtype], count)
    torch._inductor.config.emulate_precision_casts = False
    torch._dynamo.reset()


def one_hot(x):
    """x as the first of 16 columns, the others 0, and the weight that picks it: the accumulator is x exactly."""
    padded = torch.zeros(x.numel(), 16, dtype=x.dtype, device=x.device)
    padded[:, 0] = x.reshape(-1)
    weight = torch.zeros(16, 16, dtype=x.dtype, device=x.device)
    weight[0, 0] = 1
    return padded, weight, torch.full((16,), -0.0, dtype=x.dtype, device=x.device)


def linear():
    def fused(x):
        padded, weight, bias = one_hot(x)
        return torch._addmm_activation(bias, padded, weight, use_gelu=True)[:, 0].reshape(x.shape)

    def eager_linear(x):
        padded, weight, bias = one_hot(x)
        return F.gelu(torch.addmm(bias, padded, weight), approximate="tanh")[:, 0].reshape(x.shape)

    def identity(x):
        return torch.eye(x.shape[1], dtype=x.dtype, device=x.device)

    check("linear", "torch._addmm_activation, one-hot", "gelu_tanh", fused, "values", "mismatch")
    # A GEMM sums +0 for -0, the only difference.
    check("linear", "torch.addmm and F.gelu, one-hot", "gelu_tanh", eager_linear, "values", "mismatch", count=1)
    check(
        "linear",
        "torch._addmm_activation, identity weight",
        "bias_gelu_tanh",
        lambda x, b: torch._addmm_activation(b, x, identity(x), use_gelu=True),
        "production",
        "mismatch",
    )
    check(
        "linear",
        "torch.addmm and F.gelu, identity weight",
        "bias_gelu_tanh",
        lambda x, b: F.gelu(torch.addmm(b, x, identity(x)), approximate="tanh"),
        "production",
        "bit_exact",
    )


@triton.jit(do_not_specialize=["M", "N", "K"])
def linear_gelu(x, w, b, y, M, N, K, ROUND: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    row = (tl.program_id(0) * BM + tl.arange(0, BM)).to(tl.int64)
    column = (tl.program_id(1) * BN + tl.arange(0, BN)).to(tl.int64)
    v = tl.zeros((BM, BN), tl.float32)
    for k in range(0, K, BK):
        depth = k + tl.arange(0, BK)
        left = tl.load(x + row[:, None] * K + depth[None, :], (row[:, None] < M) & (depth[None, :] < K), 0.0)
        right = tl.load(w + column[None, :] * K + depth[:, None], (column[None, :] < N) & (depth[:, None] < K), 0.0)
        v = tl.dot(left, right, v)
    v += tl.load(b + column, column < N, 0.0).to(tl.float32)[None, :]
    if ROUND:
        v = v.to(y.dtype.element_ty).to(tl.float32)
    t = libdevice.tanh(0.797884583 * (v + 0.044715 * (v * v * v)))
    result = ((0.5 * v) * (1.0 + t)).to(y.dtype.element_ty)
    tl.store(y + row[:, None] * N + column[None, :], result, (row[:, None] < M) & (column[None, :] < N))


def triton_layer(rounds):
    def kernel(x, weight, bias):
        (rows, depth), columns = x.shape, weight.shape[0]
        y = torch.empty(rows, columns, dtype=x.dtype, device=x.device)
        grid = (triton.cdiv(rows, 64), triton.cdiv(columns, 128))
        linear_gelu[grid](x, weight, bias, y, rows, columns, depth, rounds, 64, 128, 64)
        return y

    return kernel


def one_split(kernel):
    """The kernel with cuBLAS told to take GEMMs of one split."""
    matmul = torch.backends.cuda.matmul
    names = ("allow_bf16_reduced_precision_reduction", "allow_fp16_reduced_precision_reduction")

    def told(*tensors):
        before = [getattr(matmul, name) for name in names]
        try:
            for name in names:
                setattr(matmul, name, (False, False))
            return kernel(*tensors)
        finally:
            for name, value in zip(names, before):
                setattr(matmul, name, value)

    return told


# What each layer gives on an H200 with PyTorch 2.11's cuBLASLt: mismatches in bf16 and fp16, none where not listed.
# `layout` has layers of few rows, for which PyTorch takes two splits unless told otherwise, and one, 512 x 3072 -> 8,
# that gets an algorithm whose epilogue computes another GELU (README.md).
LAYER_MISMATCHES = {
    "F.linear and F.gelu": {"layout": (192, 1603)},
    "torch._addmm_activation against eager": {
        "values": (16278, 14684),
        "boundary": (32373, 36305),
        "random": (9683317, 10019605),
        "layout": (1392380, 1333366),
        "production": (33617741, 32104711),
    },
    "torch._addmm_activation": {"layout": (454, 2011)},
    "torch._addmm_activation, one split": {"layout": (244, 238)},
    "Triton, without the cast between": {
        "boundary": (2560, 11088),
        "random": (2483510, 7316695),
        "layout": (1331116, 1287027),
        "production": (33610871, 32058302),
    },
}


def layers():
    def eager_layer(x, weight, bias):
        return F.gelu(F.linear(x, weight, bias), approximate="tanh")

    def fused(x, weight, bias):
        return torch._addmm_activation(bias, x, weight.t(), use_gelu=True)

    everywhere = ("values", "boundary", "random", "layout", "production")
    eager_profile, epilogue = "pytorch-2.11-cuda", "cublaslt-13-gelu-epilogue"
    kernels = (
        ("bitproof.ops.linear_gelu_tanh", bitproof.ops.linear_gelu_tanh, eager_profile, everywhere),
        ("F.linear and F.gelu", eager_layer, eager_profile, everywhere),
        ("F.linear and F.gelu, one split", one_split(eager_layer), eager_profile, ("layout",)),
        ("torch._addmm_activation against eager", fused, eager_profile, everywhere),
        ("torch._addmm_activation", fused, epilogue, everywhere),
        ("torch._addmm_activation, one split", one_split(fused), epilogue, ("layout",)),
        ("Triton, with the cast between", triton_layer(True), eager_profile, everywhere),
        ("Triton, without the cast between", triton_layer(False), eager_profile, everywhere),
    )
    # Checks of a domain follow one another: they share its predictions.
    for which, dtype in enumerate(DTYPES):
        for domain in everywhere:
            for what, kernel, profile, domains in kernels:
                if domain not in domains:
                    continue
                count = LAYER_MISMATCHES.get(what, {}).get(domain, (0, 0))[which]
                expected = "mismatch" if count else "bit_exact"
                check("layer", what, "linear_gelu_tanh", kernel, domain, expected, [dtype], count, profile=profile)


# --- Triton ------------------------------------------------------------------------------------------------------


@triton.jit
def bias_gelu(x, bias, y, width, elements, ROUND: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + i, i < elements).to(tl.float32) + tl.load(bias + i % width, i < elements).to(tl.float32)
    if ROUND:
        v = v.to(y.dtype.element_ty).to(tl.float32)
    t = libdevice.tanh(0.797884583 * (v + 0.044715 * (v * v * v)))
    tl.store(y + i, ((0.5 * v) * (1.0 + t)).to(y.dtype.element_ty), i < elements)


def triton_kernels():
    for rounds, words, expected in ((True, "with", "bit_exact"), (False, "without", "mismatch")):

        def kernel(x, bias, y, rounds=rounds):
            bias_gelu[(triton.cdiv(x.numel(), 1024),)](x, bias, y, x.shape[1], x.numel(), rounds, 1024)

        check("triton", f"Triton, {words} the cast between", "bias_gelu_tanh", kernel, "pairs", expected, out=True)


def cupy_kernel():
    import cupy

    def kernel(x, bias):
        wide = lambda a: a.astype(cupy.float32)  # noqa: E731
        v = wide((wide(x) + wide(bias)).astype(x.dtype))
        t = cupy.tanh(cupy.float32(0.797884583) * (v + cupy.float32(0.044715) * (v * v * v)))
        return ((cupy.float32(0.5) * v) * (cupy.float32(1) + t)).astype(x.dtype)

    # bf16 has FP32's exponents, and CuPy's kernels flush FP32 subnormals.
    for dtype, expected in (("bf16", "mismatch"), ("fp16", "bit_exact")):
        check("cupy", "CuPy, array by array", "bias_gelu_tanh", kernel, "pairs", expected, [dtype], framework="cupy")


# --- Results of every kind ---------------------------------------------------------------------------------------


def results():
    def gelu(x):
        return F.gelu(x, approximate="tanh")

    def outcome(what, expected, op="gelu_tanh", kernel=None, mention="", **arguments):
        try:
            report = bitproof.check(op, kernel, **{"dtype": "bf16", "domain": "values", **arguments})
            got, words = report.verdict, str(report)
        except Exception as error:
            got, words = type(error).__name__, str(error)
        words = " ".join(words.split())
        note("results", what, "bf16", got if mention in words else "other words", expected, words[:300])

    def raises(x):
        raise ZeroDivisionError("in the kernel")

    def wide(x):
        both = torch.zeros(x.shape[0], 2 * x.shape[1], dtype=x.dtype, device=x.device)
        both[:, : x.shape[1]] = gelu(x)
        return both[:, : x.shape[1]]

    def changes_its_weight(x, weight, bias):
        result = F.gelu(F.linear(x, weight, bias), approximate="tanh")
        weight[3, 1] = 1
        return result

    def transposed_layer(x, weight, bias):
        return F.gelu(F.linear(x, weight, bias), approximate="tanh").t().contiguous().t()

    outcome("a transposed result", "bit_exact", kernel=lambda x: gelu(x).t().contiguous().t())
    outcome("a part of wider rows", "bit_exact", kernel=wide)
    outcome("one row for all", "mismatch", kernel=lambda x: gelu(x)[:1].expand_as(x))
    outcome("a result on the CPU", "ValueError", kernel=lambda x: gelu(x).cpu(), mention="on another device")
    outcome("a result in FP32", "TypeError", kernel=lambda x: gelu(x).float(), mention="not the dtype of its input")
    outcome("a result in fp16", "ValueError", kernel=lambda x: gelu(x).half(), mention="another dtype")
    outcome("half of the rows", "ValueError", kernel=lambda x: gelu(x)[::2], mention="[64, 1024] is needed")
    outcome("no result", "TypeError", kernel=lambda x: None, mention="say out=True")
    outcome("nothing written", "mismatch", kernel=lambda x, y: None, mention="unwritten 65536", out=True)
    outcome("a kernel that raises", "ZeroDivisionError", kernel=raises, mention="in the kernel")
    outcome("NumPy on a GPU", "ValueError", kernel=gelu, mention="cannot lie on a GPU", framework="numpy", device="cuda")
    outcome("no such GPU", "BitproofError", kernel=gelu, mention="no such CUDA device", device="cuda:99")
    outcome("a layer's transposed result", "bit_exact", "linear_gelu_tanh", transposed_layer)
    outcome("a layer that changes its weight", "mismatch", "linear_gelu_tanh", changes_its_weight, "out_of_bounds 1")


# --- Files -------------------------------------------------------------------------------------------------------


def run(what, expected_status, mention, *arguments):
    done = subprocess.run([EXECUTABLE, "check", *map(str, arguments)], capture_output=True, text=True, timeout=120)
    text = " ".join((done.stdout + done.stderr).replace(f"{Path(arguments[0]).parent}/", "").split())
    at = text.find(mention)
    good = done.returncode == expected_status and at >= 0
    note(
        "files",
        what,
        "bf16",
        f"status {done.returncode}",
        f"status {expected_status}" if good else "something else",
        text[max(at - 40, 0) : at + 200] if at >= 0 else text[:400],
    )


def files(directory):
    right = (EXAMPLES / "bias_gelu.cu").read_text()
    rounding = "__bfloat162float(__float2bfloat16_rn(__bfloat162float(x[i]) + __bfloat162float(bias[i % width])))"
    assert rounding in right
    wrong = right.replace(rounding, "__bfloat162float(x[i]) + __bfloat162float(bias[i % width])")
    crash = right.replace("y[i] = ", "*(float*)8 = ")
    major, minor = torch.cuda.get_device_capability()
    for name, source in (("right", right), ("wrong", wrong), ("crash", crash)):
        (directory / f"{name}.cu").write_text(source)
        (directory / f"{name}.json").write_text((EXAMPLES / "bias_gelu.json").read_text())
        for kind in ("ptx", "cubin"):
            subprocess.run(
                ["nvcc", "-O3", f"--{kind}", f"-arch=sm_{major}{minor}", f"{name}.cu", "-o", f"{name}.{kind}"],
                cwd=directory,
                check=True,
            )
    contract = ("--op", "bias_gelu_tanh", "--dtype", "bf16", "--report")
    number = iter(range(100))
    report = lambda: directory / f"report-{next(number)}"  # noqa: E731
    for kind in ("cu", "ptx", "cubin"):
        run(
            f"a right .{kind}",
            0,
            "bit_exact",
            directory / f"right.{kind}",
            *contract,
            report(),
            "--domain",
            "values,pairs,layout",
        )
        run(f"a wrong .{kind}", 1, "parts at", directory / f"wrong.{kind}", *contract, report(), "--domain", "pairs")
    cu, ptx, cubin = (directory / f"right.{kind}" for kind in ("cu", "ptx", "cubin"))
    run("neither library, source, PTX nor cubin", 2, "is no kernel", EXAMPLES / "bias_gelu.json", *contract, report())
    for file in (cu, ptx, cubin):
        run(f"a missing symbol, {file.suffix}", 2, "no_such", file, *contract, report(), "--entry", "no_such")
        run(
            f"a wrong number of arguments, {file.suffix}",
            2,
            "has 5 parameters",
            file,
            *contract,
            report(),
            "--arguments",
            "input,bias,output",
        )
        run(
            f"a kernel that crashes, {file.suffix}",
            3,
            "illegal memory access",
            directory / f"crash{file.suffix}",
            *contract,
            report(),
            "--domain",
            "values,boundary",
        )
    (directory / "broken.cu").write_text("__global__ void f() { int x = ; }")
    run("a source that does not compile", 2, "expected an expression", directory / "broken.cu", *contract, report())
    foreign_arch = "sm_80" if major != 8 else "sm_90"
    subprocess.run(
        ["nvcc", "--cubin", f"-arch={foreign_arch}", "right.cu", "-o", "other.cubin"], cwd=directory, check=True
    )
    run(
        "a cubin of another architecture",
        2,
        "no kernel that this card can run",
        directory / "other.cubin",
        *contract,
        report(),
    )


# --- The custom operators ----------------------------------------------------------------------------------------


def digest(tensor):
    return hashlib.sha256(tensor.view(torch.int16).cpu().numpy().tobytes()).hexdigest()[:16]


def graphed(function, arguments):
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, stream=side):
        result = function(*arguments)
    result.zero_()
    graph.replay()
    torch.cuda.synchronize()
    return result


def on_side_stream(function, arguments):
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        result = function(*arguments)
    stream.synchronize()
    return result


def operators():
    generator = torch.Generator("cuda").manual_seed(1)
    random = lambda *shape: torch.randn(*shape, generator=generator, device="cuda")  # noqa: E731
    x, bias = 2.3 * random(512, 12288), 0.6 * random(12288)
    layer = (random(512, 3072), random(12288, 3072) * 0.02, random(12288))
    layer_eager = lambda x, w, b: F.gelu(F.linear(x, w, b), approximate="tanh")  # noqa: E731
    for dtype, torch_dtype in DTYPES.items():
        for name, operator, plain, arguments in (
            ("bias_gelu_tanh", bitproof.ops.bias_gelu_tanh, eager, (x, bias)),
            ("linear_gelu_tanh", bitproof.ops.linear_gelu_tanh, layer_eager, layer),
        ):
            arguments = tuple(each.to(torch_dtype) for each in arguments)
            call = lambda *tensors, operator=operator: operator(*tensors)  # noqa: E731
            torch._dynamo.reset()
            graph = graphed(operator, arguments)  # first: capture must work without a call before it
            direct = digest(operator(*arguments))
            same = {
                "captured into a CUDA graph": digest(graph),
                "torch.compile(fullgraph=True)": digest(torch.compile(call, fullgraph=True)(*arguments)),
                "torch.compile(mode='reduce-overhead')": digest(
                    [torch.compile(call, fullgraph=True, mode="reduce-overhead")(*arguments).clone() for _ in range(3)][
                        -1
                    ]
                ),
                "on a side stream": digest(on_side_stream(operator, arguments)),
                "PyTorch eager": digest(plain(*arguments)),
            }
            for how, got in same.items():
                expected = None if how == "PyTorch eager" and name == "linear_gelu_tanh" else "same bits"
                note(
                    "operators", f"{name}, {how}", dtype, "same bits" if got == direct else "other bits", expected, got
                )
            breaks = torch._dynamo.explain(call)(*arguments).graph_break_count
            note("operators", f"{name}, graph breaks", dtype, str(breaks), "0")
    check(
        "operators",
        "compiled bias_gelu_tanh",
        "bias_gelu_tanh",
        torch.compile(lambda x, b: bitproof.ops.bias_gelu_tanh(x, b), fullgraph=True),
        "pairs,boundary",
        "bit_exact",
    )
    torch.library.opcheck(bitproof.ops.bias_gelu_tanh, (x.to(torch.bfloat16), bias.to(torch.bfloat16)))
    torch.library.opcheck(bitproof.ops.linear_gelu_tanh, tuple(each.to(torch.bfloat16) for each in layer))
    note("operators", "torch.library.opcheck", "bf16", "passed", "passed")
    for what, arguments in (
        (
            "a width of 7",
            (
                torch.zeros(3, 7, dtype=torch.bfloat16, device="cuda"),
                torch.zeros(7, dtype=torch.bfloat16, device="cuda"),
            ),
        ),
        (
            "a transposed input",
            (
                torch.zeros(16, 8, dtype=torch.bfloat16, device="cuda").t(),
                torch.zeros(16, dtype=torch.bfloat16, device="cuda"),
            ),
        ),
        ("FP32", (torch.zeros(8, 8, device="cuda"), torch.zeros(8, device="cuda"))),
        (
            "a bias on the CPU",
            (torch.zeros(8, 8, dtype=torch.bfloat16, device="cuda"), torch.zeros(8, dtype=torch.bfloat16)),
        ),
    ):
        try:
            bitproof.ops.bias_gelu_tanh(*arguments)
            note("operators", what, "", "served", "refused")
        except bitproof.Refused as refusal:
            note("operators", what, "", "refused", "refused", str(refusal))


def main():
    first_verdict()
    parts = [pytorch, inductor, linear, layers, triton_kernels, cupy_kernel, operators, results]
    chosen = os.environ.get("PARTS", "").split(",")  # names of some of them; all by default
    with tempfile.TemporaryDirectory() as directory:
        for part in [*parts, lambda: files(Path(directory))]:
            name = part.__name__ if part in parts else "files"
            if chosen != [""] and name not in chosen:
                continue
            began = time.perf_counter()
            try:
                part()
            except Exception as error:  # the other parts are worth seeing all the same
                import traceback

                traceback.print_exc(file=sys.stdout)
                note(name, "ended by an exception", "", type(error).__name__, "no exception", str(error))
            print(f"    {name}: {time.perf_counter() - began:.1f} s", flush=True)
    versions = dict(
        torch=torch.__version__,
        triton=triton.__version__,
        cuda=torch.version.cuda,
        device=torch.cuda.get_device_name(),
        bitproof=bitproof.__version__,
    )
    RESULTS.mkdir(parents=True, exist_ok=True)
    (RESULTS / "own_kernels.json").write_text(json.dumps(dict(versions=versions, rows=rows), indent=1) + "\n")
    bad = [row for row in rows if not row["as_expected"]]
    print(f"{len(rows)} lines, {len(bad)} not as expected; {versions}")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
