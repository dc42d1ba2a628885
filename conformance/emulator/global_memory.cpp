#include "conformance/emulator/global_memory.h"

#include <algorithm>

#include <fmt/format.h>

namespace bitproof::conformance::emulator {

GlobalMemory::GlobalMemory(std::vector<MemoryRegion> regions) : regions_(std::move(regions)) {
  for (const MemoryRegion& region : regions_)
    written_.emplace_back(region.initialised ? 0 : region.end - region.begin, std::uint8_t{0});
}

const MemoryRegion* GlobalMemory::find(std::uint64_t begin, std::uint64_t end) const {
  for (const MemoryRegion& region : regions_)
    if (begin >= region.begin && end <= region.end && begin < end) return &region;
  return nullptr;
}

// Addresses differ from run to run; places in tensors do not.
std::string GlobalMemory::where(std::uint64_t address) const {
  const MemoryRegion* nearest = nullptr;
  std::uint64_t distance = ~std::uint64_t{0};
  for (const MemoryRegion& region : regions_) {
    // From the nearest byte: what begins where another ends has the address, not the one before it.
    const std::uint64_t away = address < region.begin  ? region.begin - address
                               : address >= region.end ? address - region.end + 1
                                                       : 0;
    if (away < distance) {
      distance = away;
      nearest = &region;
    }
  }
  constexpr std::uint64_t kFar = 1u << 24;
  if (nearest == nullptr || distance > kFar) return fmt::format("address {:#x}", address);
  return address >= nearest->begin ? fmt::format("{} + {} bytes", nearest->name, address - nearest->begin)
                                   : fmt::format("{} - {} bytes", nearest->name, nearest->begin - address);
}

std::string GlobalMemory::check_read(std::uint64_t address, std::uint32_t bytes) const {
  if (address % bytes != 0) return fmt::format("misaligned read of {} bytes at {}", bytes, where(address));
  const MemoryRegion* const region = find(address, address + bytes);
  if (region == nullptr) return fmt::format("read of {} bytes out of bounds at {}", bytes, where(address));
  if (!region->readable)
    return fmt::format("read of {} bytes of what is no input at {}", bytes, where(address));
  if (!region->initialised) {
    const std::vector<std::uint8_t>& written = written_[static_cast<std::size_t>(region - regions_.data())];
    for (std::uint64_t i = address - region->begin; i < address - region->begin + bytes; ++i)
      if (written[i] == 0)
        return fmt::format("read of {} bytes that nothing has written at {}", bytes, where(address));
  }
  return "";
}

std::string GlobalMemory::check_write(std::uint64_t address, std::uint32_t bytes) const {
  if (address % bytes != 0) return fmt::format("misaligned write of {} bytes at {}", bytes, where(address));
  const MemoryRegion* const region = find(address, address + bytes);
  if (region == nullptr) return fmt::format("write of {} bytes out of bounds at {}", bytes, where(address));
  if (!region->writable) return fmt::format("write of {} bytes to an input at {}", bytes, where(address));
  return "";
}

bool GlobalMemory::may_read_all(std::uint64_t begin, std::uint64_t end) const {
  const MemoryRegion* const region = find(begin, end);
  return region != nullptr && region->readable && region->initialised;
}

bool GlobalMemory::may_write_all(std::uint64_t begin, std::uint64_t end) const {
  const MemoryRegion* const region = find(begin, end);
  return region != nullptr && region->writable;
}

void GlobalMemory::note_write(std::uint64_t address, std::uint32_t bytes) {
  const MemoryRegion* const region = find(address, address + bytes);
  if (region == nullptr || region->initialised) return;
  std::vector<std::uint8_t>& written = written_[static_cast<std::size_t>(region - regions_.data())];
  std::fill_n(written.begin() + static_cast<std::ptrdiff_t>(address - region->begin), bytes, std::uint8_t{1});
}

}  // namespace bitproof::conformance::emulator
