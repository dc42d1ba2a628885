// Whatever the bytes: an error, or a measurement that is written and read again as the same.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <variant>

#include "kernels/linear_gelu/dispatch_file.h"

using namespace bitproof::kernels;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto read = dispatch_from_json(std::string(reinterpret_cast<const char*>(data), size));
  const auto* const measurement = std::get_if<DispatchMeasurement>(&read);
  if (measurement == nullptr) return 0;
  const auto again = dispatch_from_json(to_json(*measurement));
  const auto* const same = std::get_if<DispatchMeasurement>(&again);
  if (same == nullptr || !(*same == *measurement)) std::abort();
  return 0;
}
