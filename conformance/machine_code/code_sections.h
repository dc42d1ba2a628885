// What of an object file is machine code, for its key.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace bitproof::conformance {

struct CodeSection {
  std::string name;
  std::span<const std::byte> bytes;
};

// The sections of a 64-bit ELF object (a cubin, or an x86 object file) that make up its code, by name: .text*,
// .nv.constant*, .nv.info* and .rodata*. No symbols' addresses, debug sections, notes or file names are among
// them. Hashes of the translation unit's name that nvcc puts into names are stripped from them.
//
// Throws std::runtime_error if `file` is not a 64-bit little-endian ELF object or is damaged.
std::vector<CodeSection> code_sections(std::span<const std::byte> file);

// "_INTERNAL_1a2b3c4d_9_unit_cu_5e6f7a8b_1234" and the like without the hashes.
std::string without_module_hash(std::string_view name);

}  // namespace bitproof::conformance
