#include "conformance/machine_code/code_sections.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <regex>
#include <stdexcept>

#include <elf.h>

namespace bitproof::conformance {
namespace {

[[noreturn]] void damaged(const char* what) {
  throw std::runtime_error(std::string("not a usable ELF object: ") + what);
}

template <class Structure>
Structure read(std::span<const std::byte> file, std::size_t offset) {
  if (offset > file.size() || file.size() - offset < sizeof(Structure)) damaged("it ends early");
  Structure structure;
  std::memcpy(&structure, file.data() + offset, sizeof structure);
  return structure;
}

std::span<const std::byte> contents(std::span<const std::byte> file, const Elf64_Shdr& section) {
  if (section.sh_type == SHT_NOBITS) return {};
  if (section.sh_offset > file.size() || file.size() - section.sh_offset < section.sh_size)
    damaged("a section lies outside");
  return file.subspan(section.sh_offset, section.sh_size);
}

bool is_code(std::string_view name) {
  constexpr std::array<std::string_view, 4> kPrefixes{".text", ".nv.constant", ".nv.info", ".rodata"};
  return std::ranges::any_of(kPrefixes, [name](std::string_view prefix) { return name.starts_with(prefix); });
}

}  // namespace

std::string without_module_hash(std::string_view name) {
  static const std::regex kHash("_(INTERNAL|GLOBAL__N_|NV_STATIC|nv_static)_+[0-9a-f]{8}_");
  static const std::regex kTail("_[0-9a-f]{8}_[0-9]+");
  return std::regex_replace(std::regex_replace(std::string(name), kHash, "_$1_"), kTail, "");
}

std::vector<CodeSection> code_sections(std::span<const std::byte> file) {
  const auto header = read<Elf64_Ehdr>(file, 0);
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) damaged("no ELF header");
  if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB)
    damaged("not 64-bit little-endian");
  if (header.e_shentsize != sizeof(Elf64_Shdr)) damaged("section headers of another size");

  const auto section_header = [&](std::size_t index) {
    return read<Elf64_Shdr>(file, header.e_shoff + index * sizeof(Elf64_Shdr));
  };
  const std::span<const std::byte> names = contents(file, section_header(header.e_shstrndx));
  std::vector<CodeSection> sections;
  for (std::size_t i = 0; i < header.e_shnum; ++i) {
    const Elf64_Shdr section = section_header(i);
    if (section.sh_name >= names.size()) damaged("a section's name lies outside");
    const char* const name = reinterpret_cast<const char*>(names.data()) + section.sh_name;
    const std::string text(name, strnlen(name, names.size() - section.sh_name));
    if (is_code(text)) sections.push_back({without_module_hash(text), contents(file, section)});
  }
  std::ranges::stable_sort(sections, {}, &CodeSection::name);
  return sections;
}

}  // namespace bitproof::conformance
