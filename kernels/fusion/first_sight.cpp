#include "kernels/fusion/first_sight.h"

#include <bit>
#include <cstdio>
#include <utility>

#include "kernels/elementwise_guard.h"

namespace bitproof::kernels {
namespace {

std::string hex(std::uint16_t bits) {
  char text[8];
  (void)std::snprintf(text, sizeof text, "0x%04x", unsigned{bits});
  return text;
}

}  // namespace

KernelSignature signature_of(int compute_capability, const DLTensor& tensor) {
  const RowsByWidth shape = rows_by_width(tensor);
  return {.compute_capability = compute_capability,
          .dtype = *half_type(tensor),
          .rows_class = static_cast<int>(std::bit_width(static_cast<std::uint64_t>(shape.rows))),
          .width = shape.width};
}

std::string text_of(const KernelSignature& signature) {
  const std::uint64_t most = (std::uint64_t{1} << signature.rows_class) - 1;
  return (signature.compute_capability == 0 ? "CPU" : "sm_" + std::to_string(signature.compute_capability)) +
         (signature.dtype == HalfType::bf16 ? " bf16, " : " fp16, ") + std::to_string(most / 2 + 1) + ".." +
         std::to_string(most) + " rows of " + std::to_string(signature.width);
}

FirstSight::FirstSight(Log log) : log_(std::move(log)) {}

Sight FirstSight::of(const KernelSignature& signature) const {
  const std::lock_guard lock(mutex_);
  const auto found = sights_.find(signature);
  return found == sights_.end() ? Sight::unseen : found->second;
}

void FirstSight::record(const KernelSignature& signature, const std::optional<BitDifference>& difference) {
  const std::lock_guard lock(mutex_);
  Sight& sight = sights_[signature];
  if (sight != Sight::different) sight = difference ? Sight::different : Sight::equal;
  if (difference)
    log_("bias + GELU stays eager for " + text_of(signature) + ": element " +
         std::to_string(difference->index) + " is " + hex(difference->eager) + " eager and " +
         hex(difference->fused) + " fused");
}

}  // namespace bitproof::kernels
