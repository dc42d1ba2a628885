// Constant bank 0 as a kernel finds it: launch geometry, stack pointer, memory descriptor, parameters.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "conformance/emulator/fault.h"

namespace bitproof::conformance::emulator {

// Byte offsets within bank 0. Read from the listings: gridDim is what blockIdx is strided by, the parameters
// are where the first kernel argument is read, and the descriptor is what the loads' `desc` comes from. The
// build's cubins say the same of their parameters in .nv.info (EIATTR_PARAM_CBANK).
struct ConstantLayout {
  std::uint32_t block_dimensions, grid_dimensions, stack_pointer, memory_descriptor, parameters;
};

constexpr ConstantLayout constant_layout(int compute_capability) {
  if (compute_capability >= 100) return {0x360, 0x370, 0x37C, 0x358, 0x380};
  if (compute_capability >= 90) return {0x0, 0xC, 0x28, 0x208, 0x210};
  return {0x0, 0xC, 0x28, 0x118, 0x160};
}

class ConstantBank {
 public:
  template <class T>
  void store(std::uint32_t offset, const T& value) {
    static_assert(sizeof(T) % 4 == 0);
    if (offset % 4 != 0 || offset + sizeof(T) > kBytes) throw std::logic_error("outside of the constant bank");
    std::memcpy(words_.data() + offset / 4, &value, sizeof(T));
    for (std::size_t i = 0; i < sizeof(T) / 4; ++i) is_set_[offset / 4 + i] = true;
  }
  void store_bytes(std::uint32_t offset, std::span<const std::byte> bytes) {
    if (offset % 4 != 0 || offset + bytes.size() > kBytes)
      throw std::logic_error("outside of the constant bank");
    std::memcpy(words_.data() + offset / 4, bytes.data(), bytes.size());
    for (std::size_t i = 0; i < (bytes.size() + 3) / 4; ++i) is_set_[offset / 4 + i] = true;
  }

  std::uint32_t word(std::uint32_t offset) const {
    if (offset % 4 != 0 || offset >= kBytes || !is_set_[offset / 4])
      throw Unsupported("constant c[0x0][" + std::to_string(offset) + "] is not known to be set by a launch");
    return words_[offset / 4];
  }

 private:
  static constexpr std::size_t kBytes = 4096;
  std::array<std::uint32_t, kBytes / 4> words_{};
  std::array<bool, kBytes / 4> is_set_{};
};

}  // namespace bitproof::conformance::emulator
