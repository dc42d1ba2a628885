#include "metrics/media/edit_list.h"

#include <array>
#include <string_view>

#include <fmt/format.h>

namespace bitproof::metrics {
namespace {

constexpr std::uint32_t kMostEdits = 64;
constexpr int kDeepest = 4;  // moov / trak / edts / elst

struct Box {
  std::array<char, 4> type;
  std::uint64_t body, end;  // positions in the file

  bool is(std::string_view name) const { return std::string_view(type.data(), type.size()) == name; }
};

template <class Unsigned>
std::optional<Unsigned> read_big_endian(std::istream& file) {
  std::array<char, sizeof(Unsigned)> bytes{};
  if (!file.read(bytes.data(), bytes.size())) return std::nullopt;
  Unsigned value = 0;
  for (const char byte : bytes) value = static_cast<Unsigned>(value << 8 | static_cast<unsigned char>(byte));
  return value;
}

// The box at `begin` that lies inside [begin, end).
std::optional<Box> read_box(std::istream& file, std::uint64_t begin, std::uint64_t end) {
  if (end < begin || end - begin < 8) return std::nullopt;
  file.clear();
  file.seekg(static_cast<std::streamoff>(begin));
  const auto size32 = read_big_endian<std::uint32_t>(file);
  Box box{};
  if (!size32 || !file.read(box.type.data(), box.type.size())) return std::nullopt;
  std::uint64_t size = *size32;
  box.body = begin + 8;
  if (size == 1) {  // a 64-bit size follows
    const auto size64 = read_big_endian<std::uint64_t>(file);
    if (!size64) return std::nullopt;
    size = *size64;
    box.body += 8;
  } else if (size == 0) {  // to the end of the file
    size = end - begin;
  }
  if (size < box.body - begin || size > end - begin) return std::nullopt;
  box.end = begin + size;
  return box;
}

std::optional<std::vector<Edit>> read_edits(std::istream& file, const Box& box) {
  file.clear();
  file.seekg(static_cast<std::streamoff>(box.body));
  const auto version_and_flags = read_big_endian<std::uint32_t>(file);
  const auto count = read_big_endian<std::uint32_t>(file);
  if (!version_and_flags || !count || *count > kMostEdits) return std::nullopt;
  const bool wide = (*version_and_flags >> 24) == 1;
  if (box.end - box.body < 8 + std::uint64_t{*count} * (wide ? 20 : 12)) return std::nullopt;
  std::vector<Edit> edits;
  for (std::uint32_t i = 0; i < *count; ++i) {
    Edit edit{};
    if (wide) {
      edit.duration = read_big_endian<std::uint64_t>(file).value_or(0);
      edit.media_time = static_cast<std::int64_t>(read_big_endian<std::uint64_t>(file).value_or(0));
    } else {
      edit.duration = read_big_endian<std::uint32_t>(file).value_or(0);
      edit.media_time = static_cast<std::int32_t>(read_big_endian<std::uint32_t>(file).value_or(0));
    }
    if (!read_big_endian<std::uint32_t>(file)) return std::nullopt;  // media rate
    edits.push_back(edit);
  }
  const bool says_nothing = edits.empty() || (edits.size() == 1 && edits[0].media_time == 0);
  return says_nothing ? std::nullopt : std::optional(std::move(edits));
}

std::optional<std::vector<Edit>> search(std::istream& file, std::uint64_t begin, std::uint64_t end, int depth) {
  if (depth > kDeepest) return std::nullopt;
  while (const std::optional<Box> box = read_box(file, begin, end)) {
    if (box->is("elst")) {
      if (auto edits = read_edits(file, *box)) return edits;
    } else if (box->is("moov") || box->is("trak") || box->is("edts")) {
      if (auto edits = search(file, box->body, box->end, depth + 1)) return edits;
    }
    begin = box->end;
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::vector<Edit>> find_edit_list(std::istream& file) {
  file.clear();
  file.seekg(0, std::ios::end);
  const std::streamoff size = file.tellg();
  if (size <= 0) return std::nullopt;
  return search(file, 0, static_cast<std::uint64_t>(size), 1);
}

std::string describe(const std::vector<Edit>& edits) {
  std::string text;
  for (const Edit& edit : edits)
    text += fmt::format("{}{} from media time {}", text.empty() ? "" : ", ", edit.duration, edit.media_time);
  return text;
}

}  // namespace bitproof::metrics
