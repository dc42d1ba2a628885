// A fusion that is exact is still verified at first sight: the first call of a signature runs both paths and
// compares the bits. Equal: the fused kernel runs alone from then on. Different: eager for good.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>

#include <dlpack/dlpack.h>

#include "kernels/fusion/log.h"
#include "kernels/tensor.h"

namespace bitproof::kernels {

// What decides which code runs on how much: a kernel verified for one signature is trusted for it alone.
struct KernelSignature {
  int compute_capability = 0;  // 90 for 9.0; 0 on the CPU
  HalfType dtype = HalfType::bf16;
  int rows_class = 0;  // bits that the number of rows needs: 2^(n-1) to 2^n - 1 rows are one class
  std::int64_t width = 0;

  auto operator<=>(const KernelSignature&) const = default;
};

// Of a kernel over the rows of a [..., width] tensor.
KernelSignature signature_of(int compute_capability, const DLTensor& tensor);

// "sm_90 bf16, 4096..8191 rows of 13824"
std::string text_of(const KernelSignature& signature);

// The first element whose 16 bits differ; NaNs and signs of zeros count.
struct BitDifference {
  std::int64_t index = 0;
  std::uint16_t eager = 0, fused = 0;
  bool operator==(const BitDifference&) const = default;
};

enum class Sight { unseen, equal, different };

// Threads: all functions may be called from any thread. Two that see a signature for the first time at once may
// both verify it; once different, it stays so.
class FirstSight {
 public:
  explicit FirstSight(Log log = log_to_standard_error);

  Sight of(const KernelSignature& signature) const;

  // Keeps what a comparison found; a difference is logged.
  void record(const KernelSignature& signature, const std::optional<BitDifference>& difference);

 private:
  const Log log_;
  mutable std::mutex mutex_;
  std::map<KernelSignature, Sight> sights_;
};

}  // namespace bitproof::kernels
