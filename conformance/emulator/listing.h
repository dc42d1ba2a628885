// The text that `nvdisasm -c` prints for a cubin, taken apart into functions and lines. Nothing is understood
// yet.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace bitproof::conformance::emulator {

// "        /*0090*/               @!P0 BRA `(.L_x_1) ;"
struct Line {
  std::uint32_t address = 0;          // 0x90, from the start of the section
  std::string guard;                  // "@!P0", or nothing
  std::string mnemonic;               // "BRA"
  std::vector<std::string> operands;  // "`(.L_x_1)"; reuse hints dropped
  std::string text;                   // "@!P0 BRA `(.L_x_1)"
};

// One kernel: the section that holds it and the functions it calls.
struct Section {
  std::string name;  // the kernel's mangled name
  std::vector<Line> lines;
  std::map<std::string, std::uint32_t, std::less<>> labels;  // ".L_x_1", "$__internal_0_$__cuda_sm20_rem_s64"
};

struct Listing {
  std::string architecture;  // "sm_90"
  std::vector<Section> sections;
};

// Throws Unsupported for text that is not nvdisasm's, with the line.
Listing parse_listing(std::string_view text);

// The one section whose name contains all of `parts`. Throws Unsupported where there is none, or several.
const Section& find_section(const Listing& listing, const std::vector<std::string_view>& parts);

}  // namespace bitproof::conformance::emulator
