#include "conformance/emulator/audit.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <set>

#include <fmt/format.h>

#include "conformance/emulator/fault.h"

namespace bitproof::conformance::emulator {
namespace {

// --- Reading -------------------------------------------------------------------------------------------------

// The number of the vector register in "-|R12|.H0_H0"; nothing for anything else.
std::optional<std::size_t> register_of(std::string_view operand) {
  const std::size_t start = operand.find_first_not_of("-|~");
  if (start == std::string_view::npos || operand[start] != 'R') return std::nullopt;
  std::size_t number = 0;
  const char* const digits = operand.data() + start + 1;
  const auto [end, error] = std::from_chars(digits, operand.data() + operand.size(), number);
  if (error != std::errc{} || end == digits || number > 254) return std::nullopt;
  return number;
}

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

// What a register holds, as far as the path of the sum goes.
enum class Holds : std::uint8_t {
  other,
  halves,      // 16-bit numbers as they came from memory or from a conversion
  halves_sum,  // 16-bit numbers that are rounded sums
  number,      // an FP32 number that is a 16-bit one
  number_sum,  // an FP32 number that is a rounded sum
  float_sum,   // an FP32 sum that nothing has rounded to 16 bits
};

bool is_half(Holds what) { return what == Holds::halves || what == Holds::halves_sum; }
bool is_number(Holds what) { return what == Holds::number || what == Holds::number_sum; }

// Ways in which listings widen a 16-bit number: HADD2.F32 of fp16, a shift by 16 or a mask of bf16.
bool widens(const Line& line) {
  const std::string& m = line.mnemonic;
  if (m == "HADD2.F32") return true;
  const auto has = [&](std::string_view operand) {
    return std::ranges::find(line.operands, operand) != line.operands.end();
  };
  if (m == "IMAD.U32" || m == "IMAD.SHL.U32") return has("0x10000");
  if (m == "SHF.L.U32") return has("0x10");
  if (m == "LOP3.LUT") return has("0xffff0000");
  return m == "PRMT" && has("RZ");
}

int access_bytes(std::string_view mnemonic) {
  constexpr std::array<std::pair<std::string_view, int>, 7> kWidths{
      {{".256", 32}, {".128", 16}, {".64", 8}, {".U16", 2}, {".S16", 2}, {".U8", 1}, {".S8", 1}}};
  for (const auto& [suffix, bytes] : kWidths)
    if (contains(mnemonic, suffix)) return bytes;
  return 4;
}

// Follows the sum through the registers of one kernel, in the order of the text: loops and branches repeat or
// leave out, they do not change what an instruction does to a number.
class SumPath {
 public:
  void step(const Line& line) {
    const std::string_view m = line.mnemonic;
    if (line.operands.empty()) return;
    if (m.starts_with("LDG")) {
      // 32 bytes are two operands of four registers.
      const auto words = static_cast<std::size_t>(std::clamp(access_bytes(m) / 4, 1, 4));
      for (const std::string& operand : line.operands)
        if (const auto base = register_of(operand))
          for (std::size_t i = 0; i < words && *base + i < holds_.size(); ++i)
            holds_[*base + i] = Holds::halves;
      return;
    }
    if (m.starts_with("STG")) {
      for (const std::string& operand : line.operands)
        if (const auto from = register_of(operand);
            from && holds_[*from] == Holds::halves_sum && float_sums_ > 0)
          stored_ = true;
      return;
    }
    const auto destination = register_of(line.operands.front());
    if (!destination) return;
    holds_[*destination] = result_of(line);
  }

  SumRounding rounding() const {
    if (unrounded_) return SumRounding::missing;
    if (packed_) return SumRounding::packed_add;
    if (float_sums_ == 0) return SumRounding::none;
    // Each of them must have been seen to be rounded: one that went a way that is not followed is not vouched
    // for.
    if (rounded_sums_ < float_sums_) return SumRounding::unseen;
    if (used_) return SumRounding::converted;
    return stored_ ? SumRounding::stored : SumRounding::unseen;
  }
  const std::vector<std::string>& between() const { return between_; }

 private:
  // Of the sources, in order, what the registers among them hold; a constant load has none.
  std::vector<Holds> sources(const Line& line) const {
    std::vector<Holds> found;
    for (std::size_t i = 1; i < line.operands.size(); ++i)
      if (const auto number = register_of(line.operands[i])) found.push_back(holds_[*number]);
    return found;
  }

  void note(const Line& line) {
    if (std::ranges::find(between_, line.mnemonic) == between_.end()) between_.push_back(line.mnemonic);
  }

  Holds result_of(const Line& line) {
    const std::string_view m = line.mnemonic;
    const std::vector<Holds> from = sources(line);
    const auto any = [&](auto&& property) { return std::ranges::any_of(from, property); };
    if (widens(line)) {
      if (any([](Holds h) { return h == Holds::halves_sum; })) {
        note(line);
        return Holds::number_sum;
      }
      return any(is_half) ? Holds::number : Holds::other;
    }
    if (m.starts_with("HADD2") || m.starts_with("HFMA2")) {
      if (std::ranges::count_if(from, is_half) < 2) return Holds::other;
      packed_ = true;
      note(line);
      return Holds::halves_sum;
    }
    if (m.starts_with("FADD") && from.size() == 2 && is_number(from[0]) && is_number(from[1])) {
      ++float_sums_;
      note(line);
      return Holds::float_sum;
    }
    if (m.starts_with("F2FP")) {
      const auto sums = std::ranges::count(from, Holds::float_sum);
      if (sums == 0) return Holds::halves;
      rounded_sums_ += sums;
      note(line);
      return Holds::halves_sum;
    }
    if (m.starts_with("FMUL") || m.starts_with("FFMA") || m.starts_with("MUFU")) {
      if (any([](Holds h) { return h == Holds::float_sum; })) unrounded_ = true;
      if (any([](Holds h) { return h == Holds::number_sum; })) used_ = true;
    }
    if (m.starts_with("MOV") || m.starts_with("IMAD.MOV") || m == "PRMT")
      return from.empty() ? Holds::other : from.front();
    return Holds::other;
  }

  std::array<Holds, 256> holds_{};
  std::ptrdiff_t float_sums_ = 0, rounded_sums_ = 0;
  bool packed_ = false, stored_ = false, used_ = false, unrounded_ = false;
  std::vector<std::string> between_;
};

// --- Expecting -----------------------------------------------------------------------------------------------

std::vector<std::string> names_of(const std::map<std::string, int>& counted) {
  std::vector<std::string> names;
  for (const auto& [name, count] : counted) names.push_back(name);
  return names;
}

std::string widths_of(const std::map<int, int>& counted) {
  std::string widths;
  for (const auto& [bytes, count] : counted) widths += (widths.empty() ? "of " : ", ") + std::to_string(bytes);
  return widths.empty() ? "none" : widths + " bytes";
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += text.empty() ? word : ' ' + word;
  return text;
}

bool all_are(const std::map<int, int>& counted, int bytes) {
  return counted.size() == 1 && counted.contains(bytes);
}

struct KernelOfContract {
  std::string_view implementation, kernel, with_bias;  // with_bias: "ELb1E", "ELb0E", or nothing to tell apart
  std::string_view op;
  SumRounding sum;
  bool computes_gelu;
};

constexpr std::array kKernels{
    KernelOfContract{"cuda.fused", "gelu_tanh_fused", "ELb1E", "bias_gelu_tanh", SumRounding::packed_add, true},
    KernelOfContract{"cuda.fused", "gelu_tanh_fused", "ELb0E", "gelu_tanh", SumRounding::none, true},
    KernelOfContract{"cuda.baseline", "gelu_tanh_baseline", "ELb1E", "bias_gelu_tanh", SumRounding::converted,
                     true},
    KernelOfContract{"cuda.baseline", "gelu_tanh_baseline", "ELb0E", "gelu_tanh", SumRounding::none, true},
    KernelOfContract{"cuda.eager", "add_bias_eager", "", "bias_gelu_tanh", SumRounding::stored, false},
    KernelOfContract{"cuda.eager", "gelu_tanh_eager_kernel", "", "gelu_tanh", SumRounding::none, true},
};

AuditExpectation expectation(const KernelOfContract& of, const kernels::ArchitectureTraits& traits) {
  const bool fused = of.implementation == "cuda.fused";
  const int width = fused ? traits.vector_bytes : of.implementation == "cuda.eager" ? 2 : 16;
  return {of.sum, of.computes_gelu ? std::vector<std::string>{"EX2", "RCP"} : std::vector<std::string>{}, width,
          fused && traits.programmatic_dependent_launch};
}

}  // namespace

std::string_view name(SumRounding rounding) {
  constexpr std::array<std::string_view, 6> kNames{
      "no sum",           "packed add",  "FP32 add, converted",
      "FP32 add, stored", "NOT ROUNDED", "FP32 add, NOT SEEN ROUNDED"};
  return kNames[static_cast<std::size_t>(rounding)];
}

AuditFacts audit(const Section& section) {
  AuditFacts facts;
  SumPath path;
  bool read_before_wait = false;
  std::set<std::string> from_integer;  // registers that hold a converted integer
  for (const Line& line : section.lines) {
    const std::string_view m = line.mnemonic;
    path.step(line);
    if (m.starts_with("MUFU.")) {
      if (from_integer.contains(line.operands.at(1))) {
        ++facts.integer_reciprocals;
      } else {
        ++facts.unit_functions[std::string(m.substr(5))];
      }
    }
    if (!line.operands.empty()) {
      from_integer.erase(line.operands.front());
      if (m.starts_with("I2F") || m.starts_with("UI2F")) from_integer.insert(line.operands.front());
    }
    if (m.starts_with("LDG")) {
      ++facts.loads[access_bytes(m)];
      read_before_wait |= !facts.waits_for_producer;
    }
    if (m.starts_with("STG")) ++facts.stores[access_bytes(m)];
    if (m.starts_with("LDL") || m.starts_with("STL")) ++facts.spills;
    if (m == "ACQBULK") facts.waits_for_producer = true;
    if (m == "PREEXIT") facts.releases_consumer = true;
  }
  facts.waits_for_producer &= !read_before_wait;
  facts.sum = path.rounding();
  facts.between = path.between();
  return facts;
}

std::vector<std::string> compare(const AuditFacts& facts, const AuditExpectation& expected) {
  std::vector<std::string> wrong;
  if (facts.sum != expected.sum)
    wrong.push_back(fmt::format("the sum: {}, expected {}", name(facts.sum), name(expected.sum)));
  if (names_of(facts.unit_functions) != expected.unit_functions)
    wrong.push_back(fmt::format("special-function unit: {}, expected {}",
                                joined(names_of(facts.unit_functions)), joined(expected.unit_functions)));
  if (!all_are(facts.loads, expected.access_bytes))
    wrong.push_back(
        fmt::format("loads {}, expected of {} bytes", widths_of(facts.loads), expected.access_bytes));
  if (!all_are(facts.stores, expected.access_bytes))
    wrong.push_back(
        fmt::format("stores {}, expected of {} bytes", widths_of(facts.stores), expected.access_bytes));
  if (facts.spills != 0) wrong.push_back(fmt::format("{} accesses of spilled registers", facts.spills));
  if (facts.waits_for_producer != expected.dependent_launch)
    wrong.push_back(expected.dependent_launch ? "does not wait for the kernels ahead before it reads"
                                              : "waits as if it were launched dependent");
  if (facts.releases_consumer != expected.dependent_launch)
    wrong.push_back(expected.dependent_launch ? "does not release the next kernel"
                                              : "releases as if it were launched dependent");
  return wrong;
}

std::vector<AuditedKernel> audit_listing(std::string_view implementation, const Listing& listing) {
  const auto traits = kernels::find_architecture(listing.architecture);
  if (!traits)
    throw Unsupported(listing.architecture + " is no architecture that the kernels are compiled for");
  std::vector<AuditedKernel> audited;
  for (const KernelOfContract& of : kKernels) {
    if (of.implementation != implementation) continue;
    for (const auto& [dtype, mangled] : {std::pair{"bf16", "HalfTypeE0E"}, std::pair{"fp16", "HalfTypeE1E"}}) {
      const Section& section = find_section(listing, {of.kernel, mangled, of.with_bias});
      AuditedKernel kernel{
          std::string(of.op),     dtype,          std::string(implementation), listing.architecture,
          std::string(of.kernel), audit(section), expectation(of, *traits),    {}};
      kernel.mismatches = compare(kernel.facts, kernel.expected);
      audited.push_back(std::move(kernel));
    }
  }
  return audited;
}

}  // namespace bitproof::conformance::emulator
