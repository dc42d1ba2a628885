#include "conformance/isolation/event_line.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include <nlohmann/json.hpp>

#include "conformance/report/json_reader.h"
#include "conformance/report/record_json.h"

namespace bitproof::conformance {
namespace {

// Takes the next word off the line.
std::string_view take_word(std::string_view& line) {
  const std::size_t end = std::min(line.find(' '), line.size());
  const std::string_view word = line.substr(0, end);
  line.remove_prefix(std::min(end + 1, line.size()));
  return word;
}

std::optional<std::uint64_t> number(std::string_view word) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error != std::errc{} || end != word.data() + word.size()) return std::nullopt;
  return value;
}

std::optional<Record> record_of(std::string_view text) {
  const Json document = Json::parse(text, nullptr, false);
  std::optional<Complaint> complaint;
  Record record = record_from_json(JsonReader(document, complaint));
  if (document.is_discarded() || complaint) return std::nullopt;
  return record;
}

std::string head(std::string_view event, std::size_t check) {
  return std::string(event) + ' ' + std::to_string(check) + ' ';
}

}  // namespace

void EventSender::started(std::size_t check) { send_(head("started", check)); }

void EventSender::begun(std::size_t check, std::uint64_t block) {
  send_(head("begun", check) + std::to_string(block));
}

void EventSender::block_done(std::size_t check, Record of_block) {
  std::string line = head("block", check);
  append_record(line, of_block);
  send_(line);
}

void EventSender::finished(std::size_t check) { send_(head("finished", check)); }

void EventSender::failed(std::size_t check, std::string reason) {
  std::ranges::replace(reason, '\n', ' ');
  send_(head("failed", check) + reason);
}

bool tell(std::string_view line, CheckEvents& events) {
  const std::string_view event = take_word(line);
  const std::optional<std::uint64_t> check = number(take_word(line));
  if (!check) return false;
  if (event == "started") {
    events.started(*check);
  } else if (event == "finished") {
    events.finished(*check);
  } else if (event == "failed") {
    events.failed(*check, std::string(line));
  } else if (event == "begun") {
    const std::optional<std::uint64_t> block = number(line);
    if (!block) return false;
    events.begun(*check, *block);
  } else if (event == "block") {
    std::optional<Record> record = record_of(line);
    if (!record) return false;
    events.block_done(*check, *std::move(record));
  } else {
    return false;
  }
  return true;
}

}  // namespace bitproof::conformance
