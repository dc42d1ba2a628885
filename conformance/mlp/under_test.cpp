#include "conformance/mlp/under_test.h"

#include <cstddef>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

namespace bitproof::conformance {
namespace {

using kernels::Matrix;
using kernels::Quality;
using reference::Half;

// Refusals are read from the results of mounting.
void drop(const std::string&) {}

template <Half T>
Matrix uploaded(const std::vector<T>& values, std::uint64_t rows, std::uint64_t width, MlpPlace& place) {
  return place.upload(reference::as_bits(std::span<const T>(values)), rows, width, T::kDtype);
}

template <Half T>
std::unique_ptr<kernels::Linear> dense(const std::vector<T>& weight, const std::vector<T>& bias,
                                       std::uint64_t depth, MlpPlace& place) {
  const Matrix weight_matrix = uploaded(weight, bias.size(), depth, place);
  const Matrix bias_matrix = uploaded(bias, 1, bias.size(), place);
  const DLTensor weight_tensor = weight_matrix.tensor(), bias_tensor = bias_matrix.vector();
  return std::make_unique<kernels::Linear>(weight_tensor, &bias_tensor);
}

template <Half T>
std::unique_ptr<kernels::Linear> nvfp4(const std::vector<T>& weight, const std::vector<T>& bias,
                                       std::uint64_t depth, MlpPlace& place) {
  const Matrix weight_matrix = uploaded(weight, bias.size(), depth, place);
  const Matrix bias_matrix = uploaded(bias, 1, bias.size(), place);
  const DLTensor bias_tensor = bias_matrix.vector();
  return std::make_unique<kernels::Linear>(place.new_executor(drop)->quantise_weight(weight_matrix.tensor()),
                                           half_type_of(T::kDtype), &bias_tensor);
}

}  // namespace

template <Half T>
MlpUnderTest<T>::MlpUnderTest(MlpConfiguration configuration, const MlpOperands<T>& operands, MlpPlace& place)
    : configuration_(configuration),
      shape_(operands.shape),
      place_(place),
      x_(uploaded(operands.x, shape_.rows, shape_.depth, place)),
      first_(is_nvfp4(configuration) ? nvfp4(operands.weight1, operands.bias1, shape_.depth, place)
                                     : dense(operands.weight1, operands.bias1, shape_.depth, place)),
      second_(dense(operands.weight2, operands.bias2, shape_.hidden, place)),
      mlp_("mlp", *first_, *second_),
      epilogue_(place.guard(), drop),
      deferral_(drop),
      requests_(mlp_, {&epilogue_, &deferral_}) {
  // A target of both: that only the right one mounts is part of what is checked.
  epilogue_.mark(mlp_);
  deferral_.mark(mlp_);
}

template <Half T>
void MlpUnderTest<T>::require_mounted(const kernels::Request& request) const {
  const std::size_t wanted = is_nvfp4(configuration_) ? 1 : 0;
  const std::vector<kernels::MountResult>& mounts = request.mounts();
  if (!mounts[wanted].mounted)
    throw std::runtime_error("the site was not mounted: " + mounts[wanted].refusals.front().reason);
  if (mounts[1 - wanted].mounted) throw std::runtime_error("both gates mounted the site");
}

template <Half T>
void MlpUnderTest<T>::run(const Matrix& output, Quality quality, kernels::Executor& executor) const {
  mlp_.run(x_.tensor(), output.tensor(), quality, executor);
}

template <Half T>
MlpOutput MlpUnderTest<T>::run(MlpState state) {
  std::optional<std::string> difference;
  const std::unique_ptr<kernels::Executor> executor =
      place_.new_executor([&difference](const std::string& line) { difference = line; });
  const auto run_once = [&](Quality quality) {
    const Matrix output = place_.poisoned_output(shape_.rows, shape_.columns, T::kDtype);
    run(output, quality, *executor);
    return place_.fetch_output();
  };
  const auto run_in_request = [&](Quality quality, int times) {
    const kernels::Request request = requests_.begin(Quality::high);
    require_mounted(request);
    for (int i = 1; i < times; ++i) (void)run_once(quality);
    return run_once(quality);
  };
  const auto run_state = [&] {
    switch (state) {
      case MlpState::before:
        return run_once(Quality::lossless);
      case MlpState::first_sight:
        return run_in_request(Quality::high, 1);
      case MlpState::mounted:  // after the first sight
        return run_in_request(Quality::high, is_nvfp4(configuration_) ? 2 : 1);
      case MlpState::beside:
        return run_in_request(Quality::lossless, 1);
      case MlpState::after:
        (void)run_in_request(Quality::high, 1);
        return run_once(Quality::high);
    }
    throw std::logic_error("no such state");
  };
  MlpOutput output = run_state();
  if (difference) throw std::runtime_error(*difference);
  return output;
}

template class MlpUnderTest<reference::Bf16>;
template class MlpUnderTest<reference::Fp16>;

}  // namespace bitproof::conformance
