#include "conformance/linear/models.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <string_view>

#include <fmt/format.h>
#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

#include "reference/environment.h"
#include "reference/operators.h"

namespace bitproof::conformance {
namespace {

using reference::Half;
using reference::Profile;

constexpr int kMostSplits = 16;

constexpr std::array kOutputs{
    LinearOutput::rounded_then_gelu,   LinearOutput::cublaslt_gelu,
    LinearOutput::gelu_of_fp32,        LinearOutput::rounded_then_approximate,
    LinearOutput::approximate_of_fp32, LinearOutput::rounded_then_erf,
    LinearOutput::erf_of_fp32,         LinearOutput::sum_alone,
};

Profile with_tanh_approx(Profile profile) {
  profile.tanh = reference::Tanh::tanh_approx;
  return profile;
}

template <Half T>
T output_of(LinearOutput output, float sum, const Profile& profile) {
  const T rounded = reference::round_to<T>(sum);
  switch (output) {
    case LinearOutput::rounded_then_gelu:
      return reference::gelu_tanh(rounded, profile);
    case LinearOutput::cublaslt_gelu:
      return reference::gelu_epilogue<T>(sum);
    case LinearOutput::gelu_of_fp32:
      return reference::round_result<T>(reference::gelu_tanh_fp32(sum, profile), profile);
    case LinearOutput::rounded_then_approximate:
      return reference::gelu_tanh(rounded, with_tanh_approx(profile));
    case LinearOutput::approximate_of_fp32:
      return reference::round_result<T>(reference::gelu_tanh_fp32(sum, with_tanh_approx(profile)), profile);
    case LinearOutput::rounded_then_erf:
      return reference::gelu_erf(rounded, profile);
    case LinearOutput::erf_of_fp32:
      return reference::round_result<T>(reference::gelu_erf_fp32(sum, profile), profile);
    case LinearOutput::sum_alone:
      return rounded;
  }
  return rounded;
}

// Some rows of a launch: operands, the sums of the contract, and what came out.
template <Half T>
struct Observed {
  reference::LinearOperands<T> operands;  // x of these rows
  std::vector<T> x;                       // what operands.x shows
  std::vector<float> sums;                // [rows, columns], one split, bias included
  std::vector<T> got;                     // [rows, columns]
};

// The row of the layer that a tested row is.
std::size_t row_of_layer(const LinearCase& c, std::size_t tested) {
  for (const BlockRange& range : c.rows) {
    if (tested < range.end - range.begin) return range.begin + tested;
    tested -= range.end - range.begin;
  }
  return tested;
}

template <Half T>
Observed<T> observe(const PredictedCase<T>& predicted, const LinearCase& c, std::span<const T> got,
                    std::span<const std::size_t> rows) {
  Observed<T> observed;
  std::vector<std::size_t> of_layer;
  for (const std::size_t row : rows) {
    const auto begin = static_cast<std::ptrdiff_t>(row * c.shape.columns);
    const auto end = begin + static_cast<std::ptrdiff_t>(c.shape.columns);
    of_layer.push_back(row_of_layer(c, row));
    observed.got.insert(observed.got.end(), got.begin() + begin, got.begin() + end);
    observed.sums.insert(observed.sums.end(), predicted.accumulators.begin() + begin,
                         predicted.accumulators.begin() + end);
  }
  observed.operands = predicted.layer.operands();
  observed.x = reference::gather_rows<T>(observed.operands.x, c.shape.depth, of_layer);
  observed.operands.x = observed.x;
  observed.operands.shape.rows = rows.size();
  return observed;
}

// sums[row, column] = function(row of x, row of weight, bias), in parallel.
template <Half T, class Function>
std::vector<float> each_sum(const reference::LinearOperands<T>& operands, Function&& function) {
  const auto& [rows, columns, depth] = operands.shape;
  std::vector<float> sums(rows * columns);
  tbb::parallel_for(tbb::blocked_range<std::size_t>(0, sums.size(), 64), [&](const auto& part) {
    reference::require_environment();
    for (std::size_t i = part.begin(); i < part.end(); ++i) {
      const std::size_t row = i / columns, column = i % columns;
      sums[i] = function(operands.x.subspan(row * depth, depth), operands.weight.subspan(column * depth, depth),
                         reference::widen(operands.bias[column]));
    }
  });
  return sums;
}

template <Half T>
std::vector<float> sums_of(LinearSum sum, int splits, const Observed<T>& observed) {
  reference::LinearOperands<T> operands = observed.operands;
  switch (sum) {
    case LinearSum::tensor_core:
      if (splits == 1) return observed.sums;
      operands.splits = splits;
      return reference::biased_accumulators(operands);
    case LinearSum::bias_left_out:
      operands.bias = {};
      return reference::biased_accumulators(operands);
    case LinearSum::product_rounded: {
      operands.bias = {};
      std::vector<float> sums = reference::biased_accumulators(operands);
      for (std::size_t i = 0; i < sums.size(); ++i)
        sums[i] = reference::widen(reference::round_to<T>(sums[i])) +
                  reference::widen(observed.operands.bias[i % operands.shape.columns]);
      return sums;
    }
    case LinearSum::fused_multiply_adds:
      return each_sum(operands, [](std::span<const T> x, std::span<const T> weight, float bias) {
        float result = 0;
        for (std::size_t k = 0; k < x.size(); ++k)
          result = std::fma(reference::widen(x[k]), reference::widen(weight[k]), result);
        return result + bias;
      });
    case LinearSum::binary64:
      return each_sum(operands, [](std::span<const T> x, std::span<const T> weight, float bias) {
        double result = 0;
        for (std::size_t k = 0; k < x.size(); ++k)
          result += double{reference::widen(x[k])} * double{reference::widen(weight[k])};
        return static_cast<float>(result + double{bias});
      });
  }
  return {};
}

struct Summation {
  LinearSum sum;
  int splits;
};

// Simplest first. Split counts that cut the depth as a smaller one does are left out.
std::vector<Summation> summations(std::size_t depth) {
  std::vector<Summation> all{{LinearSum::tensor_core, 1},
                             {LinearSum::bias_left_out, 1},
                             {LinearSum::product_rounded, 1},
                             {LinearSum::fused_multiply_adds, 1},
                             {LinearSum::binary64, 1}};
  std::set<std::size_t> chunks{depth};
  for (int splits = 2; splits <= kMostSplits; ++splits)
    if (const std::size_t chunk = reference::split_chunk(depth, splits);
        chunk < depth && chunks.insert(chunk).second)
      all.push_back({LinearSum::tensor_core, splits});
  return all;
}

std::string_view words(LinearOutput output) {
  switch (output) {
    case LinearOutput::rounded_then_gelu:
      return "eager's GELU of the rounded sum";
    case LinearOutput::cublaslt_gelu:
      return "cuBLASLt's GELU of the FP32 sum";
    case LinearOutput::gelu_of_fp32:
      return "eager's GELU of the FP32 sum";
    case LinearOutput::rounded_then_approximate:
      return "tanh.approx GELU of the rounded sum";
    case LinearOutput::approximate_of_fp32:
      return "tanh.approx GELU of the FP32 sum";
    case LinearOutput::rounded_then_erf:
      return "erf GELU of the rounded sum";
    case LinearOutput::erf_of_fp32:
      return "erf GELU of the FP32 sum";
    case LinearOutput::sum_alone:
      return "the rounded sum without GELU";
  }
  return "";
}

std::string words(LinearSum sum, int splits) {
  switch (sum) {
    case LinearSum::tensor_core:
      return fmt::format("{} split{}", splits, splits == 1 ? "" : "s");
    case LinearSum::bias_left_out:
      return "1 split without the bias";
    case LinearSum::product_rounded:
      return "1 split rounded before the bias is added";
    case LinearSum::fused_multiply_adds:
      return "FP32 FMAs in ascending K";
    case LinearSum::binary64:
      return "sums in binary64";
  }
  return "";
}

// "2 splits, 3 splits or 5 others"
std::string alternatives(const auto& names) {
  constexpr std::size_t kMostNamed = 3;
  const std::size_t named = std::min(names.size(), kMostNamed), others = names.size() - named;
  std::string text(names.front());
  for (std::size_t i = 1; i < named; ++i)
    text += fmt::format("{}{}", i + 1 == named && others == 0 ? " or " : ", ", names[i]);
  if (others > 0) text += fmt::format(" or {} other{}", others, others == 1 ? "" : "s");
  return text;
}

}  // namespace

LinearModel model_of(const LinearContract& contract) {
  return {.output = contract.is_epilogue() ? LinearOutput::cublaslt_gelu : LinearOutput::rounded_then_gelu};
}

std::string describe(const LinearModel& model) { return describe(std::vector{model}); }

std::string describe(const std::vector<LinearModel>& models) {
  std::vector<std::string> sums;
  std::vector<std::string_view> outputs;
  const auto add = [](auto& list, const auto& text) {
    if (std::ranges::find(list, text) == list.end()) list.push_back(text);
  };
  for (const LinearModel& model : models) {
    add(sums, words(model.sum, model.splits));
    add(outputs, words(model.output));
  }
  return models.empty() ? "" : fmt::format("{}; {}", alternatives(sums), alternatives(outputs));
}

template <Half T>
std::vector<LinearModel> models_that_explain(const PredictedCase<T>& predicted, const LinearCase& c,
                                             std::span<const T> got, std::span<const std::size_t> rows,
                                             const LinearContract& contract) {
  const Profile& profile = contract.eager_profile();
  const Observed<T> observed = observe(predicted, c, got, rows);
  std::vector<LinearModel> found;
  for (const Summation& way : summations(c.shape.depth)) {
    const std::vector<float> sums = sums_of(way.sum, way.splits, observed);
    for (const LinearOutput output : kOutputs)
      if (std::ranges::equal(observed.got, sums,
                             [&](T bits, float sum) { return bits == output_of<T>(output, sum, profile); }))
        found.push_back({way.sum, way.splits, output});
    // Other sums are no explanation where the contract's own are one.
    if (way.sum == LinearSum::tensor_core && way.splits == 1 && !found.empty()) return found;
  }
  const LinearOutput right_output = model_of(contract).output;
  if (std::ranges::find(found, right_output, &LinearModel::output) != found.end())
    std::erase_if(found, [&](const LinearModel& model) { return model.output != right_output; });
  return found;
}

template <Half T>
std::vector<std::size_t> rows_to_explain(const LinearCase& c, std::span<const T> expected,
                                         std::span<const T> got) {
  constexpr std::size_t kMultiplyAdds = 1u << 26, kMostRows = 64;
  const std::size_t columns = c.shape.columns, row_count = got.size() / columns;
  std::vector<std::size_t> wrong;
  for (std::size_t row = 0; row < row_count; ++row)
    if (!std::ranges::equal(expected.subspan(row * columns, columns), got.subspan(row * columns, columns)))
      wrong.push_back(row);
  const std::size_t most =
      std::clamp<std::size_t>(kMultiplyAdds / std::max<std::size_t>(columns * c.shape.depth, 1), 1, kMostRows);
  if (wrong.empty()) return {};
  // Right rows must be explained as well.
  const std::size_t of_wrong = std::min(wrong.size(), (most + 1) / 2),
                    of_all = std::min(row_count, most - of_wrong);
  std::set<std::size_t> rows;
  for (std::size_t i = 0; i < of_wrong; ++i) rows.insert(wrong[i * wrong.size() / of_wrong]);
  for (std::size_t i = 0; i < of_all; ++i) rows.insert(i * row_count / of_all);
  return {rows.begin(), rows.end()};
}

template std::vector<LinearModel> models_that_explain(const PredictedCase<reference::Bf16>&, const LinearCase&,
                                                      std::span<const reference::Bf16>,
                                                      std::span<const std::size_t>, const LinearContract&);
template std::vector<LinearModel> models_that_explain(const PredictedCase<reference::Fp16>&, const LinearCase&,
                                                      std::span<const reference::Fp16>,
                                                      std::span<const std::size_t>, const LinearContract&);
template std::vector<std::size_t> rows_to_explain(const LinearCase&, std::span<const reference::Bf16>,
                                                  std::span<const reference::Bf16>);
template std::vector<std::size_t> rows_to_explain(const LinearCase&, std::span<const reference::Fp16>,
                                                  std::span<const reference::Fp16>);

}  // namespace bitproof::conformance
