/* The C interface from C89: what conformance/bitproof.h promises, on the CPU. */
#include <fenv.h>
#include <stdio.h>
#include <string.h>

#include "conformance/bitproof.h"

static int failures = 0;

#define EXPECT(condition)                                                                     \
  do {                                                                                        \
    if (!(condition)) {                                                                       \
      fprintf(stderr, "%s:%d: not so: %s (last error: %s)\n", __FILE__, __LINE__, #condition, \
              bitproof_error_message());                                                      \
      ++failures;                                                                             \
    }                                                                                         \
  } while (0)

static int contains(const char* text, const char* part) { return strstr(text, part) != NULL; }

static uint16_t* elements(const DLTensor* tensor) {
  return (uint16_t*)((char*)tensor->data + tensor->byte_offset);
}

/* --- Kernels ------------------------------------------------------------------------------------------- */

static int production(const bitproof_call* call) {
  int* calls = (int*)call->user_data;
  ++*calls;
  EXPECT(call->struct_size == sizeof(bitproof_call));
  EXPECT(strcmp(call->op, "bias_gelu_tanh") == 0 && strcmp(call->dtype, "bf16") == 0);
  EXPECT(call->input_count == 2 && call->stream == NULL);
  return bitproof_bias_gelu_tanh(call->inputs[0], call->inputs[1], call->output, call->stream) == BITPROOF_OK
             ? BITPROOF_KERNEL_DONE
             : BITPROOF_KERNEL_FAILED;
}

static int does_nothing(const bitproof_call* call) {
  (void)call;
  return BITPROOF_KERNEL_DONE;
}

static uint16_t own_memory[65536];

/* Computes into memory of its own and hands that back. */
static int returns(const bitproof_call* call) {
  int64_t shape[2], strides[2];
  DLTensor result = *call->output;
  shape[0] = call->output->shape[0];
  shape[1] = call->output->shape[1];
  result.data = own_memory;
  result.byte_offset = 0;
  result.shape = shape;
  result.strides = NULL;
  memcpy(own_memory, elements(call->inputs[0]), sizeof own_memory);
  EXPECT(bitproof_gelu_tanh(&result, &result, NULL) == BITPROOF_OK);
  shape[1] /= 2;
  EXPECT(bitproof_call_return(call, &result) == BITPROOF_BAD_ARGUMENT);
  EXPECT(contains(bitproof_error_message(), "its shape is [64, 512]; [64, 1024] is needed"));
  shape[1] *= 2;
  strides[0] = 0; /* one row for all */
  strides[1] = 1;
  result.strides = strides;
  EXPECT(bitproof_call_return(call, &result) == BITPROOF_BAD_ARGUMENT);
  EXPECT(contains(bitproof_error_message(), "its rows overlap or run backwards; make it contiguous"));
  result.strides = NULL;
  result.shape = NULL;
  EXPECT(bitproof_call_return(call, &result) == BITPROOF_BAD_ARGUMENT);
  EXPECT(contains(bitproof_error_message(), "it has no shape"));
  result.shape = shape;
  EXPECT(bitproof_call_return(call, &result) == BITPROOF_OK);
  EXPECT(bitproof_call_return(call, &result) == BITPROOF_BAD_ARGUMENT);
  return BITPROOF_KERNEL_DONE;
}

/* Checks what it is given, and leaves the output alone. */
static int looks_at_a_layer(const bitproof_call* call) {
  EXPECT(strcmp(call->op, "linear_gelu_tanh") == 0 && call->input_count == 3);
  EXPECT(call->inputs[0]->ndim == 2 && call->inputs[0]->shape[1] == call->inputs[1]->shape[1]);
  EXPECT(call->inputs[1]->shape[0] == call->output->shape[1]);
  EXPECT(call->inputs[2]->ndim == 1 && call->inputs[2]->shape[0] == call->output->shape[1]);
  EXPECT(call->output->shape[0] == call->inputs[0]->shape[0] && call->output->strides[1] == 1);
  return BITPROOF_KERNEL_DONE;
}

/* --- Tests --------------------------------------------------------------------------------------------- */

static bitproof_check_options options_of(const char* op, const char* domains) {
  bitproof_check_options options;
  memset(&options, 0, sizeof options);
  options.struct_size = sizeof options;
  options.op = op;
  options.dtype = "bf16";
  options.domains = domains;
  options.device = "cpu";
  return options;
}

static void a_right_kernel_is_bit_exact(void) {
  bitproof_check_options options = options_of("bias_gelu_tanh", "values,boundary");
  bitproof_check* check = NULL;
  int calls = 0;
  options.name = "mine";
  EXPECT(bitproof_check_create(&options, &check) == BITPROOF_OK);
  EXPECT(strcmp(bitproof_check_verdict(check), "not_run") == 0);
  EXPECT(bitproof_check_run(check, production, &calls) == BITPROOF_OK);
  EXPECT(calls == 2); /* each of the two domains is one launch */
  EXPECT(strcmp(bitproof_check_verdict(check), "bit_exact") == 0);
  EXPECT(contains(bitproof_check_report(check), "\"implementation\":\"mine\""));
  bitproof_check_destroy(check);
}

static void an_output_that_was_not_written_is_a_mismatch(void) {
  bitproof_check_options options = options_of("bias_gelu_tanh", "values");
  bitproof_check* check = NULL;
  EXPECT(bitproof_check_create(&options, &check) == BITPROOF_OK);
  EXPECT(bitproof_check_run(check, does_nothing, NULL) == BITPROOF_OK);
  EXPECT(strcmp(bitproof_check_verdict(check), "mismatch") == 0);
  EXPECT(contains(bitproof_check_report(check), "\"unwritten\":65536"));
  bitproof_check_destroy(check);
}

/* Rounding upward, no expected bits can be computed. */
static void a_run_that_fails_leaves_nothing_of_the_one_before(void) {
  bitproof_check_options options = options_of("bias_gelu_tanh", "values");
  bitproof_check* check = NULL;
  int calls = 0;
  EXPECT(bitproof_check_create(&options, &check) == BITPROOF_OK);
  EXPECT(bitproof_check_run(check, production, &calls) == BITPROOF_OK);
  EXPECT(strcmp(bitproof_check_verdict(check), "bit_exact") == 0);
  fesetround(FE_UPWARD);
  EXPECT(bitproof_check_run(check, production, &calls) == BITPROOF_COULD_NOT_RUN);
  fesetround(FE_TONEAREST);
  EXPECT(calls == 1);
  EXPECT(strcmp(bitproof_check_verdict(check), "not_run") == 0);
  EXPECT(strcmp(bitproof_check_report(check), "") == 0);
  bitproof_check_destroy(check);
}

static void an_output_of_its_own_is_handed_back(void) {
  bitproof_check_options options = options_of("gelu_tanh", "values");
  bitproof_check* check = NULL;
  options.returns_output = 1;
  EXPECT(bitproof_check_create(&options, &check) == BITPROOF_OK);
  EXPECT(bitproof_check_run(check, returns, NULL) == BITPROOF_OK);
  EXPECT(strcmp(bitproof_check_verdict(check), "bit_exact") == 0);
  EXPECT(bitproof_check_run(check, does_nothing, NULL) == BITPROOF_OK);
  EXPECT(strcmp(bitproof_check_verdict(check), "error") == 0);
  EXPECT(contains(bitproof_check_report(check), "the kernel handed no output back"));
  bitproof_check_destroy(check);
}

static void a_linear_layer_has_three_inputs(void) {
  bitproof_check_options options = options_of("linear_gelu_tanh", "values");
  bitproof_check* check = NULL;
  options.profile = "cublaslt-13-gelu-epilogue";
  EXPECT(bitproof_check_create(&options, &check) == BITPROOF_OK);
  EXPECT(bitproof_check_run(check, looks_at_a_layer, NULL) == BITPROOF_OK);
  EXPECT(strcmp(bitproof_check_verdict(check), "mismatch") == 0);
  EXPECT(contains(bitproof_check_report(check), "\"unwritten\":65536"));
  EXPECT(contains(bitproof_check_report(check), "\"profile\":\"cublaslt-13-gelu-epilogue\""));
  bitproof_check_destroy(check);
}

static void errors_have_a_status_and_words(void) {
  bitproof_check_options options = options_of("relu", "values");
  bitproof_check* check = (bitproof_check*)&options;
  EXPECT(bitproof_check_create(&options, &check) == BITPROOF_BAD_ARGUMENT);
  EXPECT(check == NULL);
  EXPECT(contains(bitproof_error_message(), "op relu: is no operator with a contract; use one of"));
  options = options_of(NULL, "values");
  EXPECT(bitproof_check_create(&options, &check) == BITPROOF_BAD_ARGUMENT);
  options = options_of("gelu_tanh", "values");
  options.device = "tpu";
  EXPECT(bitproof_check_create(&options, &check) == BITPROOF_BAD_ARGUMENT);
  EXPECT(contains(bitproof_error_message(), "device tpu: is no device"));
  options.device = "cuda:4711";
  EXPECT(bitproof_check_create(&options, &check) == BITPROOF_COULD_NOT_RUN);
  options.struct_size = 0;
  EXPECT(bitproof_check_create(&options, &check) == BITPROOF_BAD_ARGUMENT);
  EXPECT(contains(bitproof_error_message(), "sizeof(bitproof_check_options)"));
  EXPECT(bitproof_check_create(NULL, &check) == BITPROOF_BAD_ARGUMENT);
  EXPECT(bitproof_check_create(&options, NULL) == BITPROOF_BAD_ARGUMENT);
  EXPECT(bitproof_check_run(NULL, does_nothing, NULL) == BITPROOF_BAD_ARGUMENT);
  EXPECT(bitproof_gelu_tanh(NULL, NULL, NULL) == BITPROOF_BAD_ARGUMENT);
  EXPECT(strcmp(bitproof_check_verdict(NULL), "not_run") == 0);
  EXPECT(strcmp(bitproof_check_report(NULL), "") == 0);
  bitproof_check_destroy(NULL);
}

/* A caller that was compiled against an older header: its structure ends after `domains`. */
static void a_shorter_structure_has_defaults_for_the_rest(void) {
  bitproof_check_options options = options_of("gelu_tanh", "values");
  bitproof_check* check = NULL;
  options.struct_size = offsetof(bitproof_check_options, device);
  options.device = "not to be looked at";
  EXPECT(bitproof_check_create(&options, &check) == BITPROOF_OK);
  bitproof_check_destroy(check);
}

/* One that was compiled against a newer header may set only what this library knows. */
static void a_longer_structure_must_be_zero_there(void) {
  struct {
    bitproof_check_options known;
    const char* unknown;
  } newer;
  bitproof_check* check = NULL;
  newer.known = options_of("gelu_tanh", "values");
  newer.known.struct_size = sizeof newer;
  newer.unknown = NULL;
  EXPECT(bitproof_check_create(&newer.known, &check) == BITPROOF_OK);
  bitproof_check_destroy(check);
  newer.unknown = "something that matters";
  EXPECT(bitproof_check_create(&newer.known, &check) == BITPROOF_BAD_ARGUMENT);
  EXPECT(contains(bitproof_error_message(), "members that this library does not know"));
  newer.known.struct_size = (size_t)-1;
  EXPECT(bitproof_check_create(&newer.known, &check) == BITPROOF_BAD_ARGUMENT);
}

static void production_kernels_refuse_in_words(void) {
  uint16_t memory[3 * 7] = {0};
  int64_t shape[2] = {3, 7};
  DLTensor tensor;
  memset(&tensor, 0, sizeof tensor);
  tensor.data = memory;
  tensor.device.device_type = kDLCPU;
  tensor.ndim = 2;
  tensor.dtype.code = kDLBfloat;
  tensor.dtype.bits = 16;
  tensor.dtype.lanes = 1;
  tensor.shape = shape;
  EXPECT(bitproof_gelu_tanh(&tensor, &tensor, NULL) == BITPROOF_REFUSED);
  EXPECT(strlen(bitproof_error_message()) > 0);
  EXPECT(bitproof_linear_gelu_tanh(&tensor, &tensor, &tensor, &tensor, NULL) == BITPROOF_REFUSED);
  tensor.shape = NULL;
  EXPECT(bitproof_gelu_tanh(&tensor, &tensor, NULL) == BITPROOF_BAD_ARGUMENT);
  EXPECT(contains(bitproof_error_message(), "bitproof_gelu_tanh: a tensor has no shape"));
}

static void versions_are_those_of_the_header(void) {
  EXPECT(bitproof_api_version() == 1000 * BITPROOF_API_MAJOR + BITPROOF_API_MINOR);
  EXPECT(strlen(bitproof_version()) > 0);
  EXPECT(contains(bitproof_contracts(), "\"gelu_erf\"") && contains(bitproof_contracts(), "\"silu\""));
}

int main(void) {
  EXPECT(strcmp(bitproof_error_message(), "") == 0);
  a_right_kernel_is_bit_exact();
  an_output_that_was_not_written_is_a_mismatch();
  a_run_that_fails_leaves_nothing_of_the_one_before();
  an_output_of_its_own_is_handed_back();
  a_linear_layer_has_three_inputs();
  errors_have_a_status_and_words();
  a_shorter_structure_has_defaults_for_the_rest();
  a_longer_structure_must_be_zero_there();
  production_kernels_refuse_in_words();
  versions_are_those_of_the_header();
  if (failures != 0) fprintf(stderr, "%d expectations failed\n", failures);
  return failures == 0 ? 0 : 1;
}
