"""The Python package on the CPU: what a check finds, with NumPy and with nothing but DLPack.

Kernels that are right are the production kernel itself, called through the C interface; every other one is wrong in one
way.
"""

import ctypes
import json
import os
import subprocess
import sys
import tempfile
import unittest
import zipfile
from pathlib import Path
from unittest import mock

import numpy

import bitproof
from bitproof import _check, _dlpack, _frameworks, _library

WHEEL = None


def production(operator):
    """The production kernel as one on NumPy arrays that writes into its last argument."""
    function = getattr(_library.library(), f"bitproof_{operator}")

    def kernel(*arrays):
        described = [
            _dlpack.describe(a.ctypes.data, a.shape, [s // 2 for s in a.strides], "fp16", (_dlpack.CPU, 0), a)
            for a in arrays
        ]
        _library.raise_for(function(*(ctypes.byref(each.tensor) for each in described), None))  # a refusal is a Refused

    return kernel


def returning(operator):
    """The same as one that returns a new array."""

    def kernel(x, *bias):
        output = numpy.empty_like(x)
        production(operator)(x, *bias, output)
        return output

    return kernel


class RightKernels(unittest.TestCase):
    def test_a_kernel_that_writes_its_output_is_bit_exact_in_every_domain(self):
        report = bitproof.check(
            "bias_gelu_tanh",
            production("bias_gelu_tanh"),
            dtype="fp16",
            out=True,
            domain=["values", "boundary", "random", "layout"],
            framework="numpy",
        )
        self.assertEqual([record.verdict for record in report.records], ["bit_exact"] * 4, str(report))
        self.assertTrue(report.passed)
        self.assertEqual(report.records[0].tested, 65536)
        self.assertEqual(report.records[0].digest, report.records[0].expected_digest)
        self.assertIsNone(report.first)

    def test_a_kernel_that_returns_its_output_is_bit_exact(self):
        report = bitproof.assert_bit_exact("gelu_tanh", returning("gelu_tanh"), dtype="fp16", framework="numpy")
        self.assertEqual([record.domain for record in report.records], ["values", "boundary", "random"])

    def test_without_a_framework_kernels_speak_dlpack(self):
        def kernel(x):
            self.assertEqual(x.__dlpack_device__(), (_dlpack.CPU, 0))
            seen.append(_dlpack.from_capsule(x.__dlpack__()).tensor.dtype.code)
            return x

        seen = []
        report = bitproof.check("silu", kernel, dtype="bf16", domain="values", framework="dlpack")
        # Called once for the domain, and again while its counterexample is shrunk.
        self.assertEqual(set(seen), {_dlpack.DTYPE_CODES["bf16"]})
        self.assertEqual(report.verdict, "mismatch")  # SiLU is not the identity
        # What it returned has arrived; of the inputs, the NaN 0xFFA5 is itself the poison.
        self.assertEqual(report.records[0].kinds["unwritten"], 1)
        self.assertEqual(_dlpack._held, {})  # capsules that nobody took over took their tensors with them

    def test_rows_that_overlap_or_run_backwards_are_understood(self):
        def kernel(x):
            return numpy.ascontiguousarray(returning("gelu_tanh")(x)[::-1])[::-1]

        bitproof.assert_bit_exact("gelu_tanh", kernel, dtype="fp16", domain="values", framework="numpy")
        report = bitproof.check(
            "gelu_tanh",
            lambda x: numpy.broadcast_to(returning("gelu_tanh")(x)[:1], x.shape),
            dtype="fp16",
            domain="values",
            framework="numpy",
        )
        self.assertEqual(report.records[0].kinds["unwritten"], 0)
        self.assertEqual(report.verdict, "mismatch")

    def test_a_strided_result_is_understood(self):
        def kernel(x):
            both = numpy.empty((x.shape[0], 2 * x.shape[1]), x.dtype)
            both[:, ::2] = returning("gelu_tanh")(x)
            return both[:, ::2]

        bitproof.assert_bit_exact("gelu_tanh", kernel, dtype="fp16", domain="values", framework="numpy")


class WrongKernels(unittest.TestCase):
    def test_the_counterexample_is_in_the_assertion(self):
        def erf(x):
            return x

        with self.assertRaises(AssertionError) as caught:
            bitproof.assert_bit_exact("gelu_tanh", erf, dtype="fp16", domain="values", framework="numpy")
        message = str(caught.exception)
        for part in ("gelu_tanh fp16 is not bit-exact", "x=0x0001: expected 0x0000, got 0x0001", "row 0, column 1"):
            self.assertIn(part, message)

    def test_a_report_says_it_in_data(self):
        report = bitproof.check("gelu_tanh", lambda x: x, dtype="fp16", domain="values", framework="numpy")
        self.assertFalse(report.passed)
        # +-0, +inf and the NaN 0x7FFF are what they are; as are the numbers that GELU leaves alone, 5.15 and above.
        self.assertGreater(report.records[0].mismatches, 40000)
        self.assertEqual(report.first.inputs, ("x=0x0001",))
        self.assertEqual(report.first.shape, (64, 1024))
        self.assertEqual(json.loads(report.text)["records"][0]["verdict"], "mismatch")
        with tempfile.TemporaryDirectory() as directory:
            report.save(Path(directory) / "report.json")
            self.assertEqual((Path(directory) / "report.json").read_text(), report.text)

    def test_changing_the_input_is_found(self):
        def kernel(x):
            result = returning("gelu_tanh")(x)
            x[0, 0] = 1
            return result

        report = bitproof.check("gelu_tanh", kernel, dtype="fp16", domain="values", framework="numpy")
        self.assertEqual(report.records[0].kinds["out_of_bounds"], 1)
        self.assertEqual(report.verdict, "mismatch")
        self.assertEqual(
            str(report.first),
            "a write to element [0, 0] of the input: expected 0x0000, got 0x3c00 (out_of_bounds) in a [64, 1024] tensor, "
            "contiguous",
        )

    def test_what_a_kernel_raises_is_raised_again(self):
        def kernel(x):
            calls.append(x.shape)
            raise ZeroDivisionError("in the kernel")

        calls = []
        with self.assertRaisesRegex(ZeroDivisionError, "in the kernel"):
            bitproof.check("gelu_tanh", kernel, dtype="fp16", framework="numpy")
        self.assertEqual(len(calls), 1)

    def test_a_kernel_that_writes_nothing_is_told_apart_from_one_that_returns_nothing(self):
        report = bitproof.check(
            "gelu_tanh", lambda x, output: None, dtype="fp16", domain="values", framework="numpy", out=True
        )
        self.assertEqual(report.records[0].kinds["unwritten"], 65536)
        self.assertIn("the element was never written", str(report))
        with self.assertRaisesRegex(TypeError, "the kernel returned nothing; return the result, or say out=True"):
            bitproof.check("gelu_tanh", lambda x: None, dtype="fp16", domain="values", framework="numpy")

    def test_right_bits_of_an_earlier_kernel_are_not_found_in_memory_that_is_not_written(self):
        # boundary has 128 elements, 256 bytes: NumPy hands out freed memory of such sizes as it was.
        for domain, elements in (("boundary", 128), ("values", 65536)):
            bitproof.assert_bit_exact(
                "gelu_tanh", returning("gelu_tanh"), dtype="fp16", domain=domain, framework="numpy"
            )
            record = bitproof.check(
                "gelu_tanh", numpy.empty_like, dtype="fp16", domain=domain, framework="numpy"
            ).records[0]
            self.assertEqual((record.verdict, record.tested), ("mismatch", elements))
        self.assertEqual(_frameworks.POISON, 0xFFA5)

    def test_an_interrupt_before_the_first_line_is_raised(self):
        # As CPython raises it: on entering the function that the library calls.
        def interrupted(adapter, pointer):
            raise KeyboardInterrupt("now")

        before = sys.unraisablehook
        with mock.patch.object(_check._Adapter, "__call__", interrupted):
            with self.assertRaisesRegex(KeyboardInterrupt, "now"):
                bitproof.check("gelu_tanh", lambda x: x, dtype="fp16", domain="values", framework="numpy")
        self.assertIs(sys.unraisablehook, before)

    def test_what_a_kernel_refuses_is_no_pass(self):
        def kernel(x):
            raise bitproof.Refused("closed on Mondays")

        report = bitproof.check("gelu_tanh", kernel, dtype="fp16", domain="values", framework="numpy")
        self.assertEqual(report.verdict, "refused")
        self.assertIn("closed on Mondays", report.records[0].reason)

    def test_results_of_another_kind_are_errors(self):
        def result_of(convert):
            return lambda x: bitproof.check(
                "gelu_tanh", lambda x: convert(x), dtype="fp16", domain="values", framework="numpy"
            )

        for convert, error in (
            (lambda x: x.astype(numpy.float32), TypeError),
            (lambda x: x[:1], ValueError),
            (lambda x: None, TypeError),
        ):
            with self.assertRaises(error):
                result_of(convert)(None)


class LinearLayers(unittest.TestCase):
    # On `values` a dot product has one term that is not zero, so that any order of summing is right.
    @staticmethod
    def layer(x, weight, bias):
        with numpy.errstate(all="ignore"):
            sums = x.astype(numpy.float32) @ weight.astype(numpy.float32).T + bias.astype(numpy.float32)
            return returning("gelu_tanh")(numpy.ascontiguousarray(sums.astype(numpy.float16)))

    def test_are_held_to_eager_unless_told_otherwise(self):
        report = bitproof.assert_bit_exact(
            "linear_gelu_tanh", self.layer, dtype="fp16", domain="values", framework="numpy"
        )
        record = report.records[0]
        self.assertEqual((record.tested, record.profile), (65536, "pytorch-2.11-cuda"))
        self.assertEqual(
            record.models, {"bits of 1 split; eager's GELU of the rounded sum": ("1 x 8 -> 65536",)}, str(report)
        )

    def test_say_by_how_much_the_other_path_differs(self):
        record = bitproof.check(
            "linear_gelu_tanh",
            self.layer,
            dtype="fp16",
            domain="values",
            framework="numpy",
            profile="cublaslt-13-gelu-epilogue",
        ).records[0]
        self.assertEqual(record.causes, {"different GELU": 645, "sign of zero": 14039})
        self.assertIn("eager's GELU", record.first.diagnosis)

    def test_are_told_from_layers_without_their_bias(self):
        def kernel(x, weight, bias):
            return self.layer(x, weight, numpy.zeros_like(bias))

        report = bitproof.check("linear_gelu_tanh", kernel, dtype="fp16", domain="boundary", framework="numpy")
        self.assertEqual(report.verdict, "mismatch")


class Arguments(unittest.TestCase):
    def test_errors_name_the_argument(self):
        for arguments, words in (
            ({"op": "relu", "dtype": "fp16"}, "op relu: is no operator with a contract"),
            ({"op": "silu", "dtype": "fp8"}, "dtype fp8"),
            ({"op": "silu", "dtype": "fp16", "domain": "pairs"}, "domain pairs: is no domain of silu"),
            ({"op": "silu", "dtype": "fp16", "framework": "mxnet"}, "framework mxnet is not known"),
            ({"op": "silu", "dtype": "fp16", "profile": "numpy"}, "profile numpy"),
            ({"op": "silu", "dtype": "fp16", "equality": "close"}, "equality close"),
        ):
            with self.assertRaisesRegex(ValueError, words):
                bitproof.check(arguments.pop("op"), lambda x: x, **arguments)

    def test_what_is_no_string_or_number_is_named(self):
        for error, words, arguments in (
            (TypeError, "dtype is <class 'numpy.float16'>, of type type; give a string", {"dtype": numpy.float16}),
            (TypeError, "op is 7, of type int", {"op": 7}),
            (TypeError, "domain is 1, of type int", {"domain": ["values", 1]}),
            (ValueError, "domain : is no domain of silu", {"domain": []}),
            (TypeError, "kernel is ndarray, which cannot be called", {"kernel": numpy.zeros(3)}),
            (ValueError, "seed 0: is none", {"seed": 0}),
            (ValueError, "seed -1: is none", {"seed": -1}),
            (ValueError, "seed 1.5: is none", {"seed": 1.5}),
            (ValueError, "device 3: is no device; use cpu, cuda or cuda:N", {"device": 3}),
        ):
            given = {"op": "silu", "kernel": lambda x: x, "dtype": "fp16", "framework": "numpy", **arguments}
            with self.assertRaises(error) as caught:
                bitproof.check(given.pop("op"), given.pop("kernel"), **given)
            self.assertIn(words, str(caught.exception))

    def test_arrays_of_numpy_cannot_lie_on_a_gpu(self):
        tensor = mock.Mock(device=(_dlpack.CUDA, 0))
        with self.assertRaisesRegex(ValueError, "arrays of numpy cannot lie on a GPU; say device='cpu' or framework="):
            _frameworks.find_framework("numpy").array(tensor)

    def test_a_library_that_cannot_be_loaded_is_named(self):
        code = "import bitproof; bitproof.contracts()"
        for path, words in (
            ("/no/such.so", "/no/such.so cannot be loaded"),
            ("libm.so.6", "libm.so.6 has no bitproof"),
        ):
            failed = subprocess.run(
                [sys.executable, "-c", code],
                env={**os.environ, "BITPROOF_LIBRARY": path},
                capture_output=True,
                text=True,
            )
            self.assertIn("BitproofError: " + words, failed.stderr)

    def test_bf16_in_numpy_needs_ml_dtypes_and_says_so(self):
        with mock.patch.dict(sys.modules, {"ml_dtypes": None}):
            with self.assertRaisesRegex(ImportError, "bf16 arrays of numpy need the package ml_dtypes"):
                bitproof.check("silu", lambda x: x, dtype="bf16", framework="numpy", domain="values")

    def test_contracts_are_data(self):
        operators = {contract.operator: contract for contract in bitproof.contracts()}
        self.assertEqual(set(operators), {"bias_gelu_tanh", "gelu_tanh", "gelu_erf", "silu", "linear_gelu_tanh"})
        self.assertIn("pairs", operators["bias_gelu_tanh"].domains)
        self.assertEqual(operators["silu"].dtypes, ("bf16", "fp16"))
        self.assertEqual(operators["linear_gelu_tanh"].inputs, ("x", "weight", "bias"))
        self.assertIn("cublaslt-13-gelu-epilogue", operators["linear_gelu_tanh"].profiles)

    def test_importing_loads_no_framework(self):
        code = "import sys, bitproof; print([m for m in ('torch', 'numpy', 'cupy') if m in sys.modules])"
        printed = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout
        self.assertEqual(printed.strip(), "[]")


# What every Linux with a C++ program on it has.
SYSTEM = {
    "libstdc++.so",
    "libm.so",
    "libgcc_s.so",
    "libc.so",
    "ld-linux-x86-64.so",
    "libdl.so",
    "libpthread.so",
    "librt.so",
}


def libraries_from_elsewhere(file):
    """Libraries that a file needs, the system's apart, and that are not found beside it."""
    printed = subprocess.run(["ldd", file], check=True, capture_output=True, text=True, env={"PATH": "/usr/bin:/bin"})
    found = dict(line.split(" => ") for line in printed.stdout.splitlines() if " => " in line)
    return {
        name.strip()
        for name, path in found.items()
        if name.strip().split(".so")[0] + ".so" not in SYSTEM and not path.startswith(str(file.parent))
    }


class Wheel(unittest.TestCase):
    def test_holds_everything_for_any_python(self):
        self.assertRegex(Path(WHEEL).name, r"^bitproof-[0-9.]+-py3-none-linux_x86_64\.whl$")
        with tempfile.TemporaryDirectory() as directory:
            with zipfile.ZipFile(WHEEL) as wheel:
                wheel.extractall(directory)
            package = Path(directory) / "bitproof"
            self.assertTrue((package / "include" / "bitproof.h").exists())
            (package / "lib" / "bitproof-conformance").chmod(0o755)  # pip keeps the mode, zipfile does not
            for name in ("libbitproof.so", "bitproof-conformance"):
                self.assertEqual(libraries_from_elsewhere(package / "lib" / name), set(), name)
            code = (
                "import bitproof; r = bitproof.check('gelu_tanh', lambda x: x, dtype='bf16', domain='values');"
                "print(bitproof.__file__, r.verdict)"
            )
            environment = {"PYTHONPATH": directory, "PATH": "/usr/bin:/bin", "CUDA_VISIBLE_DEVICES": ""}
            run = lambda *arguments: subprocess.run(  # noqa: E731
                [sys.executable, *arguments], env=environment, cwd=directory, capture_output=True, text=True
            )
            checked = run("-c", code)
            self.assertEqual(checked.stdout.split(), [str(package / "__init__.py"), "mismatch"], checked.stderr)
            listed = run("-m", "bitproof", "list", "--json")
            self.assertIn("operators", json.loads(listed.stdout), listed.stderr)
            self.assertEqual(run("-m", "bitproof", "nonsense").returncode, 2)
            self.assertEqual(run("-m", "bitproof", "frames").returncode, 2)


if __name__ == "__main__":
    WHEEL = sys.argv.pop(1)
    unittest.main()
