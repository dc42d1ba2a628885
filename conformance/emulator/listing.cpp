#include "conformance/emulator/listing.h"

#include <algorithm>
#include <charconv>

#include "conformance/emulator/fault.h"

namespace bitproof::conformance::emulator {
namespace {

constexpr std::string_view kBlank = " \t\r";

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(kBlank);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlank) - first + 1);
}

std::string without(std::string text, std::string_view part) {
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part))
    text.erase(at, part.size());
  return text;
}

// At commas outside brackets and parentheses.
std::vector<std::string> split_operands(std::string_view text) {
  std::vector<std::string> operands;
  int depth = 0;
  std::size_t begin = 0;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    if (i < text.size() && (text[i] == '[' || text[i] == '(')) ++depth;
    if (i < text.size() && (text[i] == ']' || text[i] == ')')) --depth;
    if (i < text.size() && (text[i] != ',' || depth > 0)) continue;
    const std::string_view operand = trimmed(text.substr(begin, i - begin));
    if (!operand.empty()) operands.emplace_back(operand);
    begin = i + 1;
  }
  return operands;
}

// `line` starts with the comment that holds its address.
Line parse_line(std::string_view line) {
  constexpr std::string_view kOpen = "/*", kClose = "*/";
  const std::size_t close = line.find(kClose);
  const std::string_view digits = line.substr(kOpen.size(), close - kOpen.size());
  Line parsed;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), parsed.address, 16);
  if (close == std::string_view::npos || error != std::errc{} || end != digits.data() + digits.size())
    throw Unsupported("not a line of nvdisasm: " + std::string(line));

  std::string_view rest = trimmed(line.substr(close + kClose.size()));
  const std::size_t stop = rest.find(';');
  if (stop == std::string_view::npos) throw Unsupported("not a whole line of nvdisasm: " + std::string(line));
  rest = trimmed(rest.substr(0, stop));
  parsed.text = without(std::string(rest), ".reuse");
  rest = parsed.text;
  const auto take_word = [&rest] {
    const std::size_t length = std::min(rest.find(' '), rest.size());
    const std::string word(rest.substr(0, length));
    rest = trimmed(rest.substr(length));
    return word;
  };
  if (rest.starts_with('@')) parsed.guard = take_word();
  parsed.mnemonic = take_word();
  // RET's register and its function are printed without a comma between them.
  std::string operands(rest);
  if (const std::size_t tick = operands.find(" `("); tick != std::string::npos) operands.insert(tick, 1, ',');
  parsed.operands = split_operands(operands);
  return parsed;
}

}  // namespace

Listing parse_listing(std::string_view text) {
  constexpr std::string_view kTarget = ".target", kSection = ".section\t", kText = ".text.";
  Listing listing;
  Section* section = nullptr;
  std::uint32_t next_address = 0;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string_view line = trimmed(text.substr(begin, end - begin));
    begin = end + 1;
    if (line.starts_with(kTarget)) {
      listing.architecture = trimmed(line.substr(kTarget.size()));
    } else if (line.starts_with(kSection)) {
      const std::string_view name = trimmed(line.substr(kSection.size()));
      section = nullptr;
      if (!name.starts_with(kText)) continue;
      const std::size_t length = std::min(name.find(','), name.size()) - kText.size();
      listing.sections.push_back({std::string(name.substr(kText.size(), length)), {}, {}});
      section = &listing.sections.back();
      next_address = 0;
    } else if (section != nullptr && line.starts_with("/*")) {
      section->lines.push_back(parse_line(line));
      next_address = section->lines.back().address + 16;
    } else if (section != nullptr && line.ends_with(':')) {
      section->labels.emplace(line.substr(0, line.size() - 1), next_address);
    }
  }
  if (listing.architecture.empty() || listing.sections.empty())
    throw Unsupported("no machine code in the listing; it must be what `nvdisasm -c` prints");
  return listing;
}

const Section& find_section(const Listing& listing, const std::vector<std::string_view>& parts) {
  const Section* found = nullptr;
  std::string wanted;
  for (const std::string_view part : parts) (wanted += ' ') += part;
  for (const Section& section : listing.sections) {
    if (!std::ranges::all_of(
            parts, [&](std::string_view part) { return section.name.find(part) != std::string::npos; }))
      continue;
    if (found != nullptr) throw Unsupported("several kernels are called" + wanted);
    found = &section;
  }
  if (found == nullptr) throw Unsupported("no kernel is called" + wanted);
  return *found;
}

}  // namespace bitproof::conformance::emulator
