// Launch descriptions of other people's kernels, and requests to check them.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "conformance/foreign/launch_description.h"
#include "conformance/foreign/request.h"

using namespace bitproof::conformance;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  for (const bool has_bias : {false, true})
    if (const Result<LaunchText> read = with_launch_json({}, text, "fuzz"))
      if (const Result<LaunchDescription> launch = parse_launch(*read, has_bias, ""))
        for (const Extent& extent : launch->grid) (void)extent.of(75600, 13824);
  const std::string word(text);
  (void)parse_foreign_request({.op = "gelu_erf", .dtype = "fp16", .domains = word}, "");
  (void)parse_foreign_request({.op = "gelu_erf", .dtype = "fp16", .equality = word}, "");
  (void)parse_foreign_request({.op = word, .dtype = word, .profile = word}, "");
  return 0;
}
