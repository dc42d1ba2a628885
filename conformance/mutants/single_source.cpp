#include "conformance/mutants/single_source.h"

#include <algorithm>
#include <optional>
#include <set>
#include <stdexcept>

namespace bitproof::conformance {
namespace {

struct EmbeddedSource {
  std::string_view name, text;
};

constexpr EmbeddedSource kEmbedded[] = {
#include "conformance/embedded_sources.inc"
};

std::string_view text_of(std::string_view name) {
  const auto* const found = std::ranges::find(kEmbedded, name, &EmbeddedSource::name);
  if (found == std::ranges::end(kEmbedded))
    throw std::logic_error("no text of " + std::string(name) + " was embedded");
  return found->text;
}

// The header that a line includes, of those that no compiler brings along.
std::optional<std::string_view> included_by(std::string_view line) {
  if (line == "#include <dlpack/dlpack.h>") return "dlpack/dlpack.h";
  constexpr std::string_view kDirective = "#include \"";
  if (!line.starts_with(kDirective)) return std::nullopt;
  line.remove_prefix(kDirective.size());
  return line.substr(0, line.find('"'));
}

class SingleSource {
 public:
  explicit SingleSource(SourceFor target) : target_(target) {}

  void add(std::string_view header) {
    if (target_ == SourceFor::gpu && header.starts_with("reference/")) return;
    if (!seen_.insert(header).second) return;
    std::string_view rest = text_of(header);
    while (!rest.empty()) {
      const std::string_view line = rest.substr(0, rest.find('\n'));
      rest.remove_prefix(std::min(line.size() + 1, rest.size()));
      if (line == "#pragma once") continue;
      if (const std::optional<std::string_view> other = included_by(line)) {
        add(*other);
      } else {
        text_.append(line) += '\n';
      }
    }
  }

  const std::string& text() const { return text_; }

 private:
  SourceFor target_;
  std::set<std::string_view> seen_;
  std::string text_;
};

}  // namespace

std::string single_source(std::string_view header, SourceFor target) {
  SingleSource source(target);
  source.add(header);
  return source.text();
}

}  // namespace bitproof::conformance
