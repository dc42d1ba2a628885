#include "conformance/elementwise/one_element.h"

#include <charconv>
#include <optional>
#include <vector>

#include <fmt/format.h>

namespace bitproof::conformance {
namespace {

std::optional<std::uint64_t> number(std::string_view text, int base) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (text.empty() || error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// Sixteen bits after `name` and "0x".
std::optional<std::uint16_t> bits(std::string_view text, std::string_view name) {
  if (!text.starts_with(name)) return std::nullopt;
  const std::optional<std::uint64_t> value = number(text.substr(name.size()), 16);
  if (!value || *value > 0xFFFF) return std::nullopt;
  return static_cast<std::uint16_t>(*value);
}

std::vector<std::string_view> split(std::string_view text) {
  std::vector<std::string_view> parts;
  for (;;) {
    const std::size_t comma = text.find(',');
    parts.push_back(text.substr(0, comma));
    if (comma == std::string_view::npos) return parts;
    text.remove_prefix(comma + 1);
  }
}

std::optional<OneElement> parse(std::string_view text) {
  std::vector<std::string_view> parts = split(text);
  OneElement element;
  if (parts.back() == "in_place") {
    element.in_place = true;
    parts.pop_back();
  }
  if (parts.size() != 4 && parts.size() != 5) return std::nullopt;
  const std::size_t cross = parts[0].find('x');
  if (cross == std::string_view::npos) return std::nullopt;
  const auto rows = number(parts[0].substr(0, cross), 10), width = number(parts[0].substr(cross + 1), 10);
  const auto row = number(parts[1], 10), column = number(parts[2], 10);
  const auto x = bits(parts[3], "x=0x");
  const auto bias = parts.size() == 5 ? bits(parts[4], "bias=0x") : std::uint16_t{0x8000};
  if (!rows || !width || !row || !column || !x || !bias) return std::nullopt;
  element.rows = *rows;
  element.width = *width;
  element.row = *row;
  element.column = *column;
  element.x = *x;
  element.bias = *bias;
  return element;
}

}  // namespace

Case case_of(const OneElement& element, const ElementwiseOperator& op, reference::Dtype dtype,
             std::uint64_t seed) {
  Case c = plain_case(InputRule::special, op, dtype, element.rows, element.width, seed);
  c.after_other_inputs = true;
  if (element.in_place) c.layout.aliasing = Aliasing::in_place;
  InputSource& source = c.source;
  if (op.has_bias) {
    // Biases by column come first in the table, then the inputs by row.
    for (std::uint64_t column = 0; column < element.width; ++column) source.special[column] = 0x8000;
    source.special[element.column] = element.bias;
    source.special[element.width + element.row] = element.x;
    source.first_row = element.width;
    source.special_count = static_cast<std::uint32_t>(element.width + element.rows);
  } else {
    source.special[element.column] = element.x;
    source.special_count = static_cast<std::uint32_t>(element.width);
  }
  return c;
}

ElementwiseDomain domain_of(const OneElement& element, const ElementwiseOperator& op, reference::Dtype dtype,
                            std::uint64_t seed) {
  const Case only = case_of(element, op, dtype, seed);
  return {.name = "case",
          .unit = "elements",
          .total = only.elements(),
          .sampled = true,
          .blocks = 1,
          .make_case = [only](std::uint64_t) { return only; },
          .element = to_text(element)};
}

std::string to_text(const OneElement& e) {
  return fmt::format("{}x{},{},{},x=0x{:04x},bias=0x{:04x}{}", e.rows, e.width, e.row, e.column, e.x, e.bias,
                     e.in_place ? ",in_place" : "");
}

Result<OneElement> parse_one_element(std::string_view text) {
  const std::optional<OneElement> element = parse(text);
  const auto refuse = [&](const char* what) {
    return Error{ErrorKind::bad_argument, what, "--case " + std::string(text),
                 "write ROWSxWIDTH,ROW,COLUMN,x=0xBITS,bias=0xBITS, as in 1x16,0,3,x=0x3c00,bias=0x8000"};
  };
  if (!element) return refuse("is no element");
  if (element->rows == 0 || element->width == 0 || element->rows > kMostRowsOfOneElement ||
      element->width > kMostColumnsOfOneElement)
    return refuse("has a shape outside 1x1 to 64x64");
  if (element->row >= element->rows || element->column >= element->width)
    return refuse("is outside its own shape");
  return *element;
}

}  // namespace bitproof::conformance
