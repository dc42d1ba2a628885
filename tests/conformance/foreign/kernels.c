/* Kernels for tests, each a shared library of one: what it does is chosen by KERNEL. */
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "conformance/bitproof.h"

enum {
  kRight,
  kLinear,
  kCopies,
  kWritesTooMuch,
  kCrashes,
  kCrashesEarly,
  kHangs,
  kFails,
  kRefusesAll,
  kAnswersNonsense
};

static int* volatile nowhere = (int*)16; /* not null, which UndefinedBehaviorSanitizer asks about first */

static bitproof_status right(const bitproof_call* call) {
  return call->input_count == 2
             ? bitproof_bias_gelu_tanh(call->inputs[0], call->inputs[1], call->output, call->stream)
             : bitproof_gelu_tanh(call->inputs[0], call->output, call->stream);
}

static uint16_t* row_of(const DLTensor* tensor, int64_t row) {
  return (uint16_t*)((char*)tensor->data + tensor->byte_offset) + row * tensor->strides[0];
}

static void copy(const bitproof_call* call) {
  const DLTensor* input = call->inputs[0];
  int64_t row;
  for (row = 0; row < input->shape[0]; ++row)
    memmove(row_of(call->output, row), row_of(input, row), (size_t)input->shape[1] * sizeof(uint16_t));
}

static float widened(uint16_t bf16) {
  const uint32_t bits = (uint32_t)bf16 << 16;
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

/* linear + GELU in bf16: FP32 sums that are cut, and not rounded, to the dtype. Right where the sums are bf16.
 */
static bitproof_status linear(const bitproof_call* call) {
  const DLTensor *x = call->inputs[0], *weight = call->inputs[1], *bias = call->inputs[2];
  int64_t row, column, k;
  for (row = 0; row < x->shape[0]; ++row)
    for (column = 0; column < weight->shape[0]; ++column) {
      float sum = 0;
      uint32_t bits;
      for (k = 0; k < x->shape[1]; ++k) sum += widened(row_of(x, row)[k]) * widened(row_of(weight, column)[k]);
      sum += widened(((uint16_t*)bias->data)[column]);
      memcpy(&bits, &sum, sizeof bits);
      row_of(call->output, row)[column] = (uint16_t)(bits >> 16);
    }
  return bitproof_gelu_tanh(call->output, call->output, call->stream);
}

/* Gives the reason of the production kernel's refusal, or of what it ran into. */
static int answer(const bitproof_call* call, bitproof_status status) {
  if (status == BITPROOF_OK) return BITPROOF_KERNEL_DONE;
  strncpy(call->reason, bitproof_error_message(), call->reason_bytes - 1);
  return status == BITPROOF_REFUSED ? BITPROOF_KERNEL_REFUSED : BITPROOF_KERNEL_FAILED;
}

/* Runs when the library is loaded. */
__attribute__((constructor)) static void begin(void) {
  if (KERNEL == kCrashesEarly) *nowhere = 0;
}

__attribute__((visibility("default"))) int ENTRY(const bitproof_call* call) {
  switch (KERNEL) {
    case kRight:
      return answer(call, right(call));
    case kLinear:
      return answer(call, linear(call));
    case kCopies:
      copy(call);
      return BITPROOF_KERNEL_DONE;
    case kWritesTooMuch: {
      const bitproof_status status = right(call);
      *(row_of(call->output, call->output->shape[0] - 1) + call->output->shape[1]) = 0;
      return answer(call, status);
    }
    case kCrashes:
      signal(SIGSEGV, SIG_DFL); /* a sanitizer's handler would exit with a report of its own */
      *nowhere = 0;
      return BITPROOF_KERNEL_DONE;
    case kHangs:
      for (;;) pause();
    case kFails:
      strncpy(call->reason, "no more paper", call->reason_bytes - 1);
      return BITPROOF_KERNEL_FAILED;
    case kRefusesAll:
      strncpy(call->reason, "closed on Mondays", call->reason_bytes - 1);
      return BITPROOF_KERNEL_REFUSED;
    default:
      return 7;
  }
}
