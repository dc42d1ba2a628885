#include "conformance/report/json_reader.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace bitproof::conformance {
namespace {

// RFC 6901: "~" and "/" of a key are written "~0" and "~1".
std::string escaped(std::string_view key) {
  std::string text;
  for (const char c : key) text += c == '~' ? "~0" : c == '/' ? "~1" : std::string(1, c);
  return text;
}

}  // namespace

JsonReader JsonReader::operator[](std::string_view key) const {
  JsonReader member = *this;
  member.node_ = nullptr;
  member.parent_ = this;
  member.key_ = key;
  if (node_ != nullptr && node_->is_object()) {
    if (const auto found = node_->find(key); found != node_->end()) member.node_ = &*found;
  }
  return member;
}

JsonReader JsonReader::operator[](std::size_t index) const {
  JsonReader element = *this;
  element.node_ = nullptr;
  element.parent_ = this;
  element.key_ = {};
  element.index_ = index;
  if (node_ != nullptr && node_->is_array() && index < node_->size()) element.node_ = &(*node_)[index];
  return element;
}

std::size_t JsonReader::size() const {
  if (node_ != nullptr && node_->is_array()) return node_->size();
  complain("a list is expected");
  return 0;
}

std::string JsonReader::text() const {
  if (node_ != nullptr && node_->is_string()) return node_->get_ref<const std::string&>();
  complain("a string is expected");
  return {};
}

std::uint64_t JsonReader::count() const {
  if (node_ != nullptr && node_->is_number_unsigned()) return node_->get<std::uint64_t>();
  complain("a whole number from 0 on is expected");
  return 0;
}

std::uint64_t JsonReader::bits() const {
  if (node_ != nullptr && node_->is_string()) {
    const std::string& text = node_->get_ref<const std::string&>();
    if (text.size() > 2 && text.starts_with("0x")) {
      std::uint64_t value = 0;
      const auto [end, error] = std::from_chars(text.data() + 2, text.data() + text.size(), value, 16);
      if (error == std::errc{} && end == text.data() + text.size()) return value;
    }
  }
  complain("\"0x\" and up to 16 hexadecimal digits are expected");
  return 0;
}

double JsonReader::number() const {
  if (node_ != nullptr && node_->is_number()) return node_->get<double>();
  if (node_ != nullptr && node_->is_string()) {
    const std::string& text = node_->get_ref<const std::string&>();
    if (text == "nan") return std::numeric_limits<double>::quiet_NaN();
    if (text == "inf") return std::numeric_limits<double>::infinity();
    if (text == "-inf") return -std::numeric_limits<double>::infinity();
  }
  complain("a number, \"nan\", \"inf\" or \"-inf\" is expected");
  return 0;
}

bool JsonReader::boolean() const {
  if (node_ != nullptr && node_->is_boolean()) return node_->get<bool>();
  complain("true or false is expected");
  return false;
}

void JsonReader::only(std::initializer_list<std::string_view> known) const {
  if (!present() || !node_->is_object()) return;
  for (const auto& member : node_->items()) {
    if (std::ranges::find(known, member.key()) == known.end())
      (*this)[std::string_view{member.key()}].complain("unknown key");
  }
}

void JsonReader::complain(std::string what) const {
  if (complaint_->has_value()) return;
  if (node_ == nullptr) what = "missing: " + what;
  *complaint_ = Complaint{pointer(), std::move(what)};
}

std::string JsonReader::pointer() const {
  if (parent_ == nullptr) return "/";
  const std::string above = parent_->parent_ == nullptr ? "" : parent_->pointer();
  return above + "/" + (key_.data() != nullptr ? escaped(key_) : std::to_string(index_));
}

std::string to_hex(std::uint64_t bits) { return fmt::format("{:#018x}", bits); }

Json number_to_json(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  return value;
}

}  // namespace bitproof::conformance
