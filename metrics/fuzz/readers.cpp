// libFuzzer harness of the readers of our own formats: raw descriptions, numbers in file names, heads of image
// files, edit lists. The first byte chooses the reader.
//
//   cmake -S . -B build/fuzz -DCMAKE_CXX_COMPILER=clang++ -DBITPROOF_CUDA=OFF -DBITPROOF_FUZZ=ON ...
//   build/fuzz/bin/fuzz-frames-readers -max_total_time=600
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <sstream>
#include <string>

#include "metrics/media/animation.h"
#include "metrics/media/edit_list.h"
#include "metrics/media/numbered_images.h"
#include "metrics/media/raw_format.h"

namespace {

using namespace bitproof::metrics;

void check(bool holds) {
  if (!holds) std::abort();
}

void read_raw_format(const std::string& text) {
  const Result<RawFormat> format = parse_raw_format(text);
  if (format)
    check(format->width >= 1 && format->height >= 1 && !format->pixel_format.empty());
  else
    check(format.failure().kind == FailureKind::usage && !format.failure().message.empty());
}

void read_edit_list(const std::string& bytes) {
  std::istringstream stream(bytes);
  if (const auto edits = find_edit_list(stream)) check(!edits->empty() && !describe(*edits).empty());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string input(reinterpret_cast<const char*>(data) + 1, size - 1);
  switch (data[0] % 4) {
    case 0:
      read_raw_format(input);
      break;
    case 1:
      image_number(input);
      break;
    case 2:
      image_kind(std::as_bytes(std::span(input.data(), input.size())));
      break;
    default:
      read_edit_list(input);
  }
  return 0;
}
