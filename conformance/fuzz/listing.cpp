// Listings of machine code: refused, or decoded.
#include "conformance/emulator/listing.h"

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "conformance/emulator/fault.h"
#include "conformance/emulator/program.h"

using namespace bitproof::conformance::emulator;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const Listing listing = parse_listing({reinterpret_cast<const char*>(data), size});
    for (const Section& section : listing.sections) (void)decode(section, listing.architecture);
  } catch (const Unsupported&) {
  }
  return 0;
}
