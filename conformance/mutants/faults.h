// The faults that mutants have: each mirrors one that real kernels had, and names where.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace bitproof::conformance {

// `none` is the control: the mutants' kernel without a fault, which must be right everywhere.
enum class Fault : std::uint8_t {
  none,
  // The sum of input and bias.
  sum_not_rounded,
  sum_truncated,
  sum_rounded_half_up,
  sum_rounded_half_away,
  sum_rounded_stochastically,
  bias_added_after_gelu,
  // The arithmetic of GELU.
  every_step_rounded,
  tanh_approx,
  sigmoid_form,
  exp_quotient,
  erf_form,
  tanh_saturates_early,
  fma_tail,
  beta_one_ulp_off,
  beta_of_another_library,
  kappa_one_ulp_off,
  kappa_folded,
  // Conversions and special values.
  result_truncated,
  result_rounded_twice,
  subnormal_inputs_flushed,
  subnormal_results_flushed,
  nan_payload_kept,
  nan_of_the_cpu,
  nan_to_negative_zero,
  nan_to_largest,
  negative_infinity_to_zero,
  negative_infinity_to_negative_zero,
  // Which element meets which.
  bias_index_off_by_one,
  bias_by_row,
  bias_of_lane_zero,
  row_stride_padded,
  strides_ignored,
  byte_offset_ignored,
  wrong_lane_of_sixteen,
  // What is written, and how far the index reaches.
  tail_not_written,
  last_row_skipped,
  index_wraps_at_2_31,
  index_wraps_at_2_32,
  one_past_the_end,
  nothing_written,
  // State and order.
  input_read_after_output,
  cached_by_pointer,
  cached_by_shape,
  depends_on_grid,
  differs_on_repetition,
  right_on_known_inputs,
  bias_read_early,
  stream_ignored,
};

// What it takes to show a fault.
enum class Shows : std::uint8_t {
  everywhere,
  on_a_gpu,  // streams and dependent launches exist there only, and tensors of more than 2^32 elements are run
             // there only
};

struct FaultInfo {
  Fault fault;
  std::string_view name;     // "sum_not_rounded"
  std::string_view does;     // completes "a kernel that ...", for diagnosis
  std::string_view mirrors;  // the public fault that it mirrors
  std::string_view source;   // where that is documented: a URL, or a section of the project's own measurements
  bool needs_bias = false;   // only in operators with a bias
  bool arithmetic = false;   // a wrong function of (input, bias) alone
  Shows shows = Shows::everywhere;
  bool same_bits_in_bf16 = false;  // no fault there: proved over all values
};

// All but `none`, in the order of the enumeration.
std::span<const FaultInfo> all_faults();

const FaultInfo& info_of(Fault fault);
std::optional<Fault> find_fault(std::string_view name);

// What the implementation is called: "mutant.sum_not_rounded".
std::string_view mutant_name(Fault fault);

}  // namespace bitproof::conformance
