// What of an object file counts as machine code.
#include "conformance/machine_code/code_sections.h"

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <elf.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "conformance/machine_code/keys.h"
#include "conformance/runner/build_info.h"
#include "kernels/architecture.h"

namespace bitproof::conformance {
namespace {

using Bytes = std::vector<std::byte>;

struct Section {
  std::string name;
  std::string content;
  std::uint32_t type = SHT_PROGBITS;
};

template <class Structure>
void append(Bytes& file, const Structure& structure) {
  const auto* const begin = reinterpret_cast<const std::byte*>(&structure);
  file.insert(file.end(), begin, begin + sizeof structure);
}

void append(Bytes& file, const std::string& text) {
  for (const char c : text) file.push_back(static_cast<std::byte>(c));
}

// A minimal object: header, contents, section headers. Its last section holds the names.
Bytes elf_object(std::vector<Section> sections) {
  std::string names(1, '\0');
  std::vector<std::uint32_t> name_offsets;
  sections.push_back({".shstrtab", "", SHT_STRTAB});
  for (const Section& section : sections) {
    name_offsets.push_back(static_cast<std::uint32_t>(names.size()));
    names += section.name + '\0';
  }
  sections.back().content = names;

  Bytes file;
  std::vector<Elf64_Shdr> headers(1);  // the null section
  Elf64_Ehdr header{};
  append(file, header);
  for (std::size_t i = 0; i < sections.size(); ++i) {
    Elf64_Shdr section{};
    section.sh_name = name_offsets[i];
    section.sh_type = sections[i].type;
    section.sh_offset = file.size();
    section.sh_size = sections[i].content.size();
    headers.push_back(section);
    if (sections[i].type != SHT_NOBITS) append(file, sections[i].content);
  }
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_shentsize = sizeof(Elf64_Shdr);
  header.e_shnum = static_cast<Elf64_Half>(headers.size());
  header.e_shstrndx = static_cast<Elf64_Half>(headers.size() - 1);
  header.e_shoff = file.size();
  for (const Elf64_Shdr& section : headers) append(file, section);
  std::memcpy(file.data(), &header, sizeof header);
  return file;
}

using NamesAndContents = std::vector<std::pair<std::string, std::string>>;

NamesAndContents read(const Bytes& file) {
  NamesAndContents result;
  for (const CodeSection& section : code_sections(file))
    result.emplace_back(section.name,
                        std::string(reinterpret_cast<const char*>(section.bytes.data()), section.bytes.size()));
  return result;
}

Bytes cubin() {
  return elf_object({{".text.kernel_b", "code of b"},
                     {".debug_line", "lines"},
                     {".nv.info", "info"},
                     {".text.kernel_a", "code of a"},
                     {".nv.constant0.kernel_a", "constants"},
                     {".note.nv.tkinfo", "a path"},
                     {".symtab", "addresses"},
                     {".rodata", "tables"},
                     {".nv.shared.kernel_a", "12345", SHT_NOBITS}});
}

TEST(CodeSections, AreCodeConstantsAndTheirDescriptionInOrderOfNames) {
  EXPECT_EQ(read(cubin()), (NamesAndContents{{".nv.constant0.kernel_a", "constants"},
                                             {".nv.info", "info"},
                                             {".rodata", "tables"},
                                             {".text.kernel_a", "code of a"},
                                             {".text.kernel_b", "code of b"}}));
}

TEST(CodeSections, OfMemoryWithoutContentsAreEmpty) {
  EXPECT_EQ(read(elf_object({{".text.later", "twelve bytes", SHT_NOBITS}})),
            (NamesAndContents{{".text.later", ""}}));
}

TEST(CodeSections, DoNotDependOnTheirOrderInTheFileNorOnDebugInformation) {
  const Bytes one = elf_object({{".text.a", "1"}, {".text.b", "2"}, {".debug_info", "x"}});
  const Bytes two = elf_object({{".debug_info", "another path"}, {".text.b", "2"}, {".text.a", "1"}});
  EXPECT_EQ(read(one), read(two));
  EXPECT_NE(read(one), read(elf_object({{".text.a", "1"}, {".text.b", "3"}})));
}

TEST(ModuleHash, IsStrippedFromNames) {
  EXPECT_EQ(without_module_hash(".text._INTERNAL_1a2b3c4d_9_unit_cu_5e6f7a8b_1234"),
            ".text._INTERNAL_9_unit_cu");
  EXPECT_EQ(without_module_hash(".nv.constant0._ZN_GLOBAL__N__0badcafe_4_k_cu_deadbeef_77"),
            ".nv.constant0._ZN_GLOBAL__N__4_k_cu");
}

TEST(ModuleHash, NamesWithoutOneStay) {
  for (const char* const name : {".text._ZN8bitproof7kernels4cuda15gelu_tanh_fusedE", ".rodata", ".text",
                                 ".text.f_12345678", ".text._INTERNAL_xyz", ""})
    EXPECT_EQ(without_module_hash(name), name);
}

TEST(CodeSections, TellSectionsOfOneModuleFromTwoBuildsAlike) {
  EXPECT_EQ(read(elf_object({{".text._INTERNAL_11111111_4_k_cu_22222222_3", "code"}})),
            read(elf_object({{".text._INTERNAL_aaaaaaaa_4_k_cu_bbbbbbbb_9", "code"}})));
}

std::string message(const Bytes& file) {
  try {
    (void)code_sections(file);
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "read";
}

TEST(DamagedObject, IsRefusedInWords) {
  const std::string start = "not a usable ELF object: ";
  EXPECT_EQ(message({}), start + "it ends early");
  EXPECT_EQ(message(Bytes(200)), start + "no ELF header");
  Bytes file = cubin();
  file[EI_CLASS] = std::byte{ELFCLASS32};
  EXPECT_EQ(message(file), start + "not 64-bit little-endian");
  file = cubin();
  file[EI_DATA] = std::byte{ELFDATA2MSB};
  EXPECT_EQ(message(file), start + "not 64-bit little-endian");
  const auto changed = [](auto change) {
    Bytes bytes = cubin();
    Elf64_Ehdr header;
    std::memcpy(&header, bytes.data(), sizeof header);
    change(header);
    std::memcpy(bytes.data(), &header, sizeof header);
    return message(bytes);
  };
  EXPECT_EQ(changed([](Elf64_Ehdr& header) { header.e_shentsize = 40; }),
            start + "section headers of another size");
  EXPECT_EQ(changed([](Elf64_Ehdr& header) { header.e_shoff = 1 << 30; }), start + "it ends early");
  EXPECT_EQ(changed([](Elf64_Ehdr& header) { header.e_shnum = 1000; }), start + "it ends early");
}

TEST(DamagedObject, EveryTruncationIsRefused) {
  const Bytes whole = cubin();
  ASSERT_EQ(message(whole), "read");
  for (std::size_t length = 0; length < whole.size(); ++length)
    ASSERT_NE(message({whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(length)}), "read") << length;
}

RC_GTEST_PROP(DamagedObjectProperty, AnyChangedBytesAreReadOrRefusedAndNeverReadBeyondTheFile, ()) {
  Bytes file = cubin();
  for (int i = *rc::gen::inRange(1, 6); i > 0; --i)
    file[*rc::gen::inRange<std::size_t>(0, file.size())] =
        static_cast<std::byte>(*rc::gen::resize(rc::kNominalSize, rc::gen::arbitrary<std::uint8_t>()));
  try {
    for (const CodeSection& section : code_sections(file)) {
      if (section.bytes.empty()) continue;
      RC_ASSERT(section.bytes.data() >= file.data());
      RC_ASSERT(section.bytes.data() + section.bytes.size() <= file.data() + file.size());
    }
  } catch (const std::runtime_error&) {
  }
}

TEST(CodeSections, OfAnObjectOfThisBuildHoldItsCode) {
  std::ifstream stream(BITPROOF_OBJECT_FILE, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(stream), {}};
  Bytes file(text.size());
  std::ranges::transform(text, file.begin(), [](char c) { return static_cast<std::byte>(c); });
  const std::vector<CodeSection> sections = code_sections(file);
  std::size_t code = 0;
  for (const CodeSection& section : sections)
    if (section.name.starts_with(".text")) code += section.bytes.size();
  EXPECT_GT(code, 1000u) << "eight instantiations of the kernel";
  EXPECT_TRUE(std::ranges::is_sorted(sections, {}, &CodeSection::name));
}

TEST(MachineCodeKeys, AreSha256OfWhatThisBuildHas) {
  std::set<std::pair<std::string_view, std::string_view>> seen;
  for (const MachineCodeKey& entry : machine_code_keys()) {
    EXPECT_EQ(entry.key.size(), 64u);
    EXPECT_EQ(entry.key.find_first_not_of("0123456789abcdef"), std::string_view::npos);
    EXPECT_TRUE(seen.emplace(entry.implementation, entry.architecture).second) << "twice";
  }
  EXPECT_TRUE(machine_code_key("host.fused", "x86_64"));
  EXPECT_EQ(machine_code_key("reference", "x86_64"), "") << "it has no machine code of its own";
  EXPECT_FALSE(machine_code_key("host.fused", "sm_90"));
  EXPECT_FALSE(machine_code_key("cuda.unknown", "sm_90"));
}

TEST(MachineCodeKeys, OfTheKernelsExistForEveryArchitectureIfBuiltWithCuda) {
  std::set<std::string> keys;
  for (const kernels::ArchitectureTraits& traits : kernels::kArchitectures)
    for (const char* const implementation : {"cuda.fused", "cuda.eager", "cuda.baseline"}) {
      const auto key = machine_code_key(implementation, traits.name);
      EXPECT_EQ(key.has_value(), kBuiltWithCuda) << implementation << ' ' << traits.name;
      if (key) keys.insert(*key);
    }
  EXPECT_EQ(keys.size(), kBuiltWithCuda ? 3 * kernels::kArchitectures.size() : 0u)
      << "two of them are the same";
}

TEST(MachineCodeKeys, OfAnArchitectureDependOnItsCode) {
  EXPECT_EQ(architecture_key("x86_64").size(), 64u);
  EXPECT_NE(architecture_key("x86_64"), architecture_key("sm_none"));
}

}  // namespace
}  // namespace bitproof::conformance
