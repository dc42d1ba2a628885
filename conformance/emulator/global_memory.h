// Global memory as one launch may use it: named regions with rights. Every access is checked.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace bitproof::conformance::emulator {

struct MemoryRegion {
  std::string name;                  // "input"
  std::uint64_t begin = 0, end = 0;  // addresses
  bool readable = false, writable = false;
  // Whether it holds something before the launch; what nothing wrote may not be read. Of rows with gaps only
  // the first row would be contiguous, so a region is contiguous.
  bool initialised = false;
};

class GlobalMemory {
 public:
  explicit GlobalMemory(std::vector<MemoryRegion> regions);

  // What is wrong with a read or a write of `bytes` at `address`; empty if nothing is. The address must be a
  // multiple of the size (CUDA C++ Programming Guide, "Device Memory Accesses").
  std::string check_read(std::uint64_t address, std::uint32_t bytes) const;
  std::string check_write(std::uint64_t address, std::uint32_t bytes) const;

  // Whether everything from `begin` to `end` may be read, or written, without looking further.
  bool may_read_all(std::uint64_t begin, std::uint64_t end) const;
  bool may_write_all(std::uint64_t begin, std::uint64_t end) const;

  void note_write(std::uint64_t address, std::uint32_t bytes);

 private:
  const MemoryRegion* find(std::uint64_t begin, std::uint64_t end) const;
  std::string where(std::uint64_t address) const;

  std::vector<MemoryRegion> regions_;
  std::vector<std::vector<std::uint8_t>> written_;  // by byte, of regions that start uninitialised
};

}  // namespace bitproof::conformance::emulator
