/* bitproof's C interface: checking a kernel of one's own against a contract, bit for bit, and the production
 * kernels. C89 and later, C++, and everything that can call C.
 *
 * A contract is an operator, a dtype and a profile (whose eager bits are the truth). linear_gelu_tanh has two
 * paths: that of an eager profile, in which the sum is rounded to the dtype before GELU, and that of the
 * profile "cublaslt-13-gelu-epilogue", in which it is not and GELU is cuBLASLt's. Both sum as tensor cores do,
 * in one split of ascending K and with the bias in FP32; the report says of each shape, among its "algorithms",
 * what sums and what GELU the bits are those of. A check runs a kernel over domains of inputs: the library
 * makes the inputs, poisons the output and fences it with guard bands, calls the kernel, and compares every bit
 * with what the CPU reference computed.
 *
 *     static int my_kernel(const bitproof_call* call) {
 *       launch(call->inputs[0], call->inputs[1], call->output, call->stream);
 *       return BITPROOF_KERNEL_DONE;
 *     }
 *     ...
 *     bitproof_check_options options = {sizeof options};
 *     bitproof_check* check;
 *     options.op = "bias_gelu_tanh";
 *     options.dtype = "bf16";
 *     options.domains = "pairs";
 *     if (bitproof_check_create(&options, &check) != BITPROOF_OK) fail(bitproof_error_message());
 *     if (bitproof_check_run(check, my_kernel, NULL) != BITPROOF_OK) fail(bitproof_error_message());
 *     puts(bitproof_check_verdict(check));
 *     puts(bitproof_check_report(check));
 *     bitproof_check_destroy(check);
 *
 * A shared library that exports such a function under the name `bitproof_kernel` is checked by
 * `./bitproof check LIBRARY --op bias_gelu_tanh --dtype bf16`; it need not link to this library.
 *
 * Versions: functions and members are only ever added within a major version. Structures that may grow begin
 * with their size, which the caller sets and the library respects: a member that it does not know must be zero.
 * Link with -lbitproof.
 *
 * Threads: different checks may be used by different threads at once; one check by one thread at a time. No
 * function throws. Strings are UTF-8; those that are returned belong to the library.
 */
#ifndef BITPROOF_H_
#define BITPROOF_H_

#include <dlpack/dlpack.h>
#include <stddef.h>
#include <stdint.h>

#define BITPROOF_API_MAJOR 1
#define BITPROOF_API_MINOR 0

#if defined(__GNUC__)
#define BITPROOF_API __attribute__((visibility("default")))
#else
#define BITPROOF_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* What a function returns. On everything but BITPROOF_OK, bitproof_error_message() says what was wrong and what
 * to do about it. */
typedef enum bitproof_status {
  BITPROOF_OK = 0,
  BITPROOF_BAD_ARGUMENT = 2,  /* an unknown operator, a null pointer, tensors of another shape */
  BITPROOF_COULD_NOT_RUN = 3, /* no such device, a lost CUDA context, exhausted memory */
  BITPROOF_REFUSED = 4        /* a production kernel does not serve these tensors */
} bitproof_status;

/* 1000 * major + minor of the library, at run time. */
BITPROOF_API int bitproof_api_version(void);

/* "0.1.0" */
BITPROOF_API const char* bitproof_version(void);

/* Of the last function that failed on this thread; "" if none did. Valid until the next call on this thread. */
BITPROOF_API const char* bitproof_error_message(void);

/* JSON: an array of {"operator", "inputs", "dtypes", "profiles", "equality", "domains"}. */
BITPROOF_API const char* bitproof_contracts(void);

/* --- A kernel under test ------------------------------------------------------------------------------- */

/* One call of it. Tensors are bf16 or fp16, row-major: input [rows, width] and, of a biased operator, bias
 * [width]; output [rows, width]; of linear_gelu_tanh x [rows, depth], weight [width, depth] and bias [width].
 * Unless domain `layout` says otherwise they are contiguous and aligned to 256 bytes. All of it is valid during
 * the call only. */
typedef struct bitproof_call {
  size_t struct_size;            /* of this structure, in bytes */
  const char* op;                /* "bias_gelu_tanh" */
  const char* dtype;             /* "bf16" */
  const DLTensor* const* inputs; /* input, then bias; or x, weight, bias */
  int input_count;
  const DLTensor* output;
  void* stream;        /* the CUDA stream to work on, in whose order the inputs become ready; NULL on the CPU */
  char* reason;        /* where a kernel that does not return BITPROOF_KERNEL_DONE says why, */
  size_t reason_bytes; /* ending zero included */
  void* user_data;     /* as given to bitproof_check_run */
  void* opaque;        /* the library's own */
} bitproof_call;

/* What a kernel returns. */
#define BITPROOF_KERNEL_DONE 0    /* the output is written, or will be in stream order */
#define BITPROOF_KERNEL_REFUSED 1 /* it does not serve these tensors, and has touched none */
#define BITPROOF_KERNEL_FAILED 2  /* it went wrong: the check ends with verdict `error` */

/* It leaves the thread's floating-point environment (rounding, FTZ, DAZ) as it was; else the check ends with
 * verdict `error`, for the thread computes the expected bits too. */
typedef int (*bitproof_kernel_function)(const bitproof_call* call);

/* For a kernel that allocates its result: hands `result` back in place of writing to call->output. It is copied
 * in stream order, so that the kernel may release it in stream order once this returns. Shape, dtype and device
 * are those of call->output; the elements of a row are adjacent. To be called by the kernel, once. Only
 * call->output is poisoned and fenced: memory of the kernel's own that it leaves unwritten may hold right bits
 * from before, so poison it, or write to call->output, where that can be. */
BITPROOF_API bitproof_status bitproof_call_return(const bitproof_call* call, const DLTensor* result);

/* --- A check ------------------------------------------------------------------------------------------- */

typedef struct bitproof_check bitproof_check;

/* Members that are zero have the default. */
typedef struct bitproof_check_options {
  size_t struct_size;    /* sizeof(bitproof_check_options) */
  const char* op;        /* needed; see bitproof_contracts() */
  const char* dtype;     /* needed: "bf16" or "fp16" */
  const char* domains;   /* separated by commas; default "values,boundary,random" */
  const char* device;    /* "cpu", "cuda", "cuda:N"; default: the first GPU, or the CPU where there is none */
  const char* profile;   /* default "pytorch-2.11-cuda" */
  const char* equality;  /* "bitwise", which is the default, or "ulp<=N" */
  const char* name;      /* what the report calls the kernel; default "user" */
  const char* reproduce; /* what the report names as the way to run the check again */
  uint64_t seed;         /* of random inputs and of digests; default 1 */
  int returns_output;    /* not 0: the kernel calls bitproof_call_return. Cases of `layout` that are about where
                            the output lies, and replayed CUDA graphs, are left out. */
} bitproof_check_options;

/* On success *check is to be given to bitproof_check_destroy. */
BITPROOF_API bitproof_status bitproof_check_create(const bitproof_check_options* options,
                                                   bitproof_check** check);

/* Runs the kernel over every domain, on this thread. BITPROOF_OK means that the check took place, whatever its
 * verdict. A crash of the kernel is a crash of this process: `./bitproof check` uses processes of their own. */
BITPROOF_API bitproof_status bitproof_check_run(bitproof_check* check, bitproof_kernel_function kernel,
                                                void* user_data);

/* The worst verdict of the domains: "bit_exact" and "within_contract" are passes; "mismatch", "refused",
 * "error", "not_run" are not. "not_run" before bitproof_check_run, and after one that did not return
 * BITPROOF_OK. */
BITPROOF_API const char* bitproof_check_verdict(const bitproof_check* check);

/* The report as JSON (conformance/report.schema.json), one record per domain; "" where the verdict is "not_run"
 * because nothing ran. Valid until the check runs again or is destroyed. */
BITPROOF_API const char* bitproof_check_report(const bitproof_check* check);

BITPROOF_API void bitproof_check_destroy(bitproof_check* check);

/* --- The production kernels ---------------------------------------------------------------------------- */

/* On the CPU, or asynchronously on `stream` of the device that holds the tensors. input and output [...,
 * width], bias [width]; the output may be the input. BITPROOF_REFUSED, with the predicate's reason, touches
 * nothing. */
BITPROOF_API bitproof_status bitproof_gelu_tanh(const DLTensor* input, const DLTensor* output, void* stream);
BITPROOF_API bitproof_status bitproof_bias_gelu_tanh(const DLTensor* input, const DLTensor* bias,
                                                     const DLTensor* output, void* stream);

/* gelu_tanh(round(x * weight^T + bias)) on a GPU: x [..., K], weight [N, K], bias [N], output [..., N]. A GEMM
 * of one split through cuBLASLt, whose algorithm is chosen at the first call for a shape and stream, then the
 * production GELU in place. */
BITPROOF_API bitproof_status bitproof_linear_gelu_tanh(const DLTensor* x, const DLTensor* weight,
                                                       const DLTensor* bias, const DLTensor* output,
                                                       void* stream);

#ifdef __cplusplus
}
#endif

#endif /* BITPROOF_H_ */
