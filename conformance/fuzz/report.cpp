// Whatever the bytes: an error, or a report that is written and read again as the same.
#include "conformance/report/report.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

using namespace bitproof::conformance;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const Result<Report> report = parse_report_text({reinterpret_cast<const char*>(data), size}, "fuzz");
  if (!report) return 0;
  const Result<Report> again = parse_report_text(to_text(*report), "again");
  if (!again || !(*again == *report)) std::abort();
  return 0;
}
