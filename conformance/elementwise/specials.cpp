#include "conformance/elementwise/specials.h"

#include <set>

namespace bitproof::conformance {
namespace {

// Magnitudes; both signs are added.
constexpr std::uint16_t kBoth[] = {
    0x0000, 0x0001, 0x0002, 0x0003,  // zero; the smallest subnormals, whose GELU is the first to round to zero
    0x7FFF, 0x7FFE, 0x7FC0, 0x7F81,  // NaNs of both formats: canonical, another payload, the CPU's, signalling
};

constexpr std::uint16_t kBf16[] = {
    0x007E, 0x007F, 0x0080, 0x0081, 0x00FF, 0x0100,  // the largest subnormals, the smallest normals
    0x3380, 0x3400,                                  // 2^-24 and 2^-23: the last bits of FP32 numbers near one
    0x3B00, 0x3B7F, 0x3B80, 0x3B81, 0x3C00,          // around 2^-8, half an ULP of one: ties of the sum
    0x3E80, 0x3F00, 0x3F19, 0x3F1A,  // 1/4, 1/2, and around 0.6, where CUDA's tanhf changes its form
    0x3F7F, 0x3F80, 0x3F81, 0x3F82, 0x3FFF, 0x4000,  // around one and two
    0x4040, 0x4080, 0x409C, 0x409F, 0x40A0, 0x40A5,  // 3, 4, and the quantised tail
    0x40A6, 0x40A7, 0x4100, 0x4110, 0x4111, 0x4180,  // from 5.1875 on it is -0; 9.01 is where tanhf becomes one
    0x4280, 0x42FE, 0x4300,                          // 64, 127, 128: e^x and 2^x overflow
    0x5F80, 0x6000, 0x7E80, 0x7F00,                  // x^2 and x^3 overflow; 2^127, where x + x does
    0x7A7F, 0x7AFF, 0x7B00, 0x7B01,                  // half an ULP of the largest number: overflow of the sum
    0x7F7E, 0x7F7F, 0x7F80,                          // the largest numbers, infinity
};

constexpr std::uint16_t kFp16[] = {
    0x03FE, 0x03FF, 0x0400, 0x0401, 0x07FF,
    0x0800,  // the largest subnormals, the smallest normals
    0x0C00, 0x0E55, 0x1000, 0x1001, 0x0FFF,
    0x1400,                                  // around 2^-11, half an ULP of one: ties of the sum
    0x1800, 0x1C00, 0x1FFF, 0x2000,          // around 2^-8 and 2^-7
    0x3400, 0x35A7, 0x3800, 0x38CC, 0x38CD,  // 1/4, 1/2, and around 0.6, where CUDA's tanhf changes its form
    0x3BFF, 0x3C00, 0x3C01, 0x3C02, 0x3FFF,
    0x4000,  // around one and two
    0x4007, 0x4200, 0x4400, 0x4500, 0x4528,
    0x4529,                                  // 3, 4, and the quantised tail: from 5.16015625 on it is -0
    0x452A, 0x4800, 0x4881, 0x4882, 0x4C00,  // 9.01 is where tanhf becomes one
    0x5400, 0x57F0, 0x5800,                  // 64, 127, 128: e^x and 2^x overflow
    0x5BFF, 0x5C00, 0x6400, 0x6BFF, 0x7000,  // x^2 exceeds fp16
    0x4BFF, 0x4C01, 0x7BFE, 0x7BFF, 0x7C00,  // half an ULP of the largest number, the largest numbers, infinity
    0x7C01, 0x7DFF, 0x7E00,                  // NaNs: signalling, quiet
};

}  // namespace

std::vector<std::uint16_t> special_values(reference::Dtype dtype) {
  std::set<std::uint16_t> values;
  const auto add = [&values](std::uint16_t magnitude) {
    values.insert(magnitude);
    values.insert(magnitude | 0x8000);
  };
  for (const std::uint16_t magnitude : kBoth) add(magnitude);
  if (dtype == reference::Dtype::bf16) {
    for (const std::uint16_t magnitude : kBf16) add(magnitude);
  } else {
    for (const std::uint16_t magnitude : kFp16) add(magnitude);
  }
  return {values.begin(), values.end()};
}

}  // namespace bitproof::conformance
