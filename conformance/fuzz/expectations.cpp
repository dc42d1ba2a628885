#include "conformance/gate/expectations.h"

#include <cstddef>
#include <cstdint>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  (void)bitproof::conformance::parse_expectations({reinterpret_cast<const char*>(data), size}, "fuzz");
  return 0;
}
