#include "conformance/emulator/program.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <limits>

#include <fmt/format.h>

#include "conformance/emulator/fault.h"
#include "conformance/emulator/instruction_table.h"
#include "conformance/emulator/special_registers.h"
#include "reference/half.h"

namespace bitproof::conformance::emulator {
namespace {

// --- Mnemonics -----------------------------------------------------------------------------------------------

using Modes = std::array<std::uint8_t, kMaxModes>;

// `text` against a pattern such as "FADD[.FTZ][.RM|.RP|.RZ]"; groups are numbered from `group`.
bool matches(std::string_view pattern, std::string_view text, Modes& modes, std::size_t group) {
  const std::size_t open = std::min(pattern.find_first_of("[{"), pattern.size());
  if (!text.starts_with(pattern.substr(0, open))) return false;
  text.remove_prefix(open);
  if (open == pattern.size()) return text.empty();
  const bool is_optional = pattern[open] == '[';
  const std::size_t close = pattern.find(is_optional ? ']' : '}', open);
  std::string_view choices = pattern.substr(open + 1, close - open - 1);
  const std::string_view rest = pattern.substr(close + 1);
  if (is_optional) {
    modes[group] = 0;
    if (matches(rest, text, modes, group + 1)) return true;
  }
  for (std::uint8_t choice = is_optional ? 1 : 0; !choices.empty(); ++choice) {
    const std::string_view first = choices.substr(0, choices.find('|'));
    choices.remove_prefix(std::min(first.size() + 1, choices.size()));
    if (!text.starts_with(first)) continue;
    if (matches(rest, text.substr(first.size()), modes, group + 1)) {
      modes[group] = choice;
      return true;
    }
  }
  return false;
}

// --- Operands ------------------------------------------------------------------------------------------------

// Thrown where the text does not fit the row's syntax, caught where the line is known.
struct DoesNotFit {};

template <class Number>
std::optional<Number> whole_number(std::string_view text, int base) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, base);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return number;
}

// "0x1c", "-0x1", "3"
std::optional<std::int64_t> parse_integer(std::string_view text) {
  const bool negative = text.starts_with('-');
  if (negative) text.remove_prefix(1);
  const bool hexadecimal = text.starts_with("0x");
  if (hexadecimal) text.remove_prefix(2);
  const auto magnitude = whole_number<std::uint64_t>(text, hexadecimal ? 16 : 10);
  if (!magnitude) return std::nullopt;
  const auto value = static_cast<std::int64_t>(*magnitude);
  return negative ? -value : value;
}

// "0.5", "-5.1036477088928222656e-07", "+INF", "-INF". NaNs are printed without their bits and are not
// accepted.
std::optional<double> parse_real(std::string_view text) {
  if (text == "+INF" || text == "INF") return std::numeric_limits<double>::infinity();
  if (text == "-INF") return -std::numeric_limits<double>::infinity();
  double value = 0;
  const std::string_view digits = text.starts_with('+') ? text.substr(1) : text;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc{} || end != digits.data() + digits.size() || !std::isfinite(value))
    return std::nullopt;
  return value;
}

// "R8", "RZ": the number behind `prefix`, kZeroRegister for Z.
std::optional<std::uint16_t> numbered(std::string_view text, std::string_view prefix, std::string_view last,
                                      std::uint16_t last_number) {
  if (!text.starts_with(prefix)) return std::nullopt;
  text.remove_prefix(prefix.size());
  if (text == last) return last_number;
  const auto number = whole_number<std::uint16_t>(text, 10);
  return number && *number < last_number ? number : std::nullopt;
}

std::optional<Operand> parse_register(std::string_view text) {
  for (const auto& [prefix, kind] :
       {std::pair{"UR", OperandKind::uniform_register}, std::pair{"R", OperandKind::vector_register}})
    if (const auto number = numbered(text, prefix, "Z", kZeroRegister)) {
      Operand operand;
      operand.kind = kind;
      operand.index = *number;
      return operand;
    }
  return std::nullopt;
}

std::optional<Operand> parse_predicate(std::string_view text) {
  Operand operand;
  if (text.starts_with('!')) {
    operand.negate = true;
    text.remove_prefix(1);
  }
  for (const auto& [prefix, kind] :
       {std::pair{"UP", OperandKind::uniform_predicate}, std::pair{"P", OperandKind::predicate}})
    if (const auto number = numbered(text, prefix, "T", kTruePredicate)) {
      operand.kind = kind;
      operand.index = *number;
      return operand;
    }
  return std::nullopt;
}

// "c[0x0][0x160]"
std::optional<Operand> parse_constant(std::string_view text) {
  constexpr std::string_view kBank0 = "c[0x0][";
  if (!text.starts_with(kBank0) || !text.ends_with(']')) return std::nullopt;
  const auto offset = parse_integer(text.substr(kBank0.size(), text.size() - kBank0.size() - 1));
  if (!offset) return std::nullopt;
  Operand operand;
  operand.kind = OperandKind::constant;
  operand.value = *offset;
  return operand;
}

// "desc[UR4][R2.64+0x20]", "[R2.64]": the descriptor changes no address.
Operand parse_address(std::string_view text) {
  if (text.starts_with("desc[")) text.remove_prefix(text.find(']') + 1);
  constexpr std::string_view kWide = ".64";
  if (!text.starts_with('[') || !text.ends_with(']')) throw DoesNotFit{};
  text = text.substr(1, text.size() - 2);
  const std::size_t wide = text.find(kWide);
  if (wide == std::string_view::npos) throw DoesNotFit{};
  std::optional<Operand> operand = parse_register(text.substr(0, wide));
  if (!operand || operand->kind != OperandKind::vector_register) throw DoesNotFit{};
  operand->kind = OperandKind::address;
  text.remove_prefix(wide + kWide.size());
  if (text.empty()) return *operand;
  if (!text.starts_with('+')) throw DoesNotFit{};
  const auto offset = parse_integer(text.substr(1));
  if (!offset) throw DoesNotFit{};
  operand->value = *offset;
  return *operand;
}

// A register or constant with its signs: "-|R4|", "~R5", "R6.H0_H0", "-c[0x0][0x160]".
std::optional<Operand> parse_source(std::string_view text) {
  Operand signs;
  if (text.starts_with('-')) {
    signs.negate = true;
    text.remove_prefix(1);
  } else if (text.starts_with('~')) {
    signs.invert = true;
    text.remove_prefix(1);
  }
  for (const auto& [suffix, half] : {std::pair{std::string_view(".H0_H0"), HalfSelect::low},
                                     std::pair{std::string_view(".H1_H1"), HalfSelect::high}}) {
    if (!text.ends_with(suffix)) continue;
    signs.half = half;
    text.remove_suffix(suffix.size());
  }
  if (text.size() > 2 && text.starts_with('|') && text.ends_with('|')) {
    signs.absolute = true;
    text = text.substr(1, text.size() - 2);
  }
  std::optional<Operand> operand = parse_register(text);
  if (!operand) operand = parse_constant(text);
  if (!operand) return std::nullopt;
  operand->negate = signs.negate;
  operand->invert = signs.invert;
  operand->absolute = signs.absolute;
  operand->half = signs.half;
  return operand;
}

Operand immediate(std::int64_t bits) {
  Operand operand;
  operand.kind = OperandKind::immediate;
  operand.value = bits;
  return operand;
}

// Reads the operands of one line in the order of a row's syntax.
class OperandReader {
 public:
  OperandReader(const Line& line, const Section& section) : line_(line), section_(section) {}

  bool at_end() const { return next_ == line_.operands.size(); }

  Operand read(std::string_view token, std::string_view mnemonic) {
    switch (token[0]) {
      case 'd':
      case 'D':
        return destination();
      case 'p':
        return token == "p?" ? optional_predicate() : predicate(false);
      case 'q':
        return predicate(true);
      case 'T':
        return exactly({"PT", "UPT"});
      case 'F':
        return exactly({"!PT", "!UPT"});
      case 'i':
        return integer_source(kWord, Sign::none);
      case 'a':
        return integer_source(kWord, Sign::minus);
      case 'x':
        return integer_source(kWord, Sign::inverse);
      case 'l':
        return integer_source(kPair, Sign::none);
      case 'L':
        return integer_source(kPair, Sign::minus);
      case 'f':
        return float_source();
      case 'h':
        return half_source(mnemonic.find("BF16") != std::string_view::npos);
      case 'n':
        return immediate(number());
      case 'm':
        return parse_address(take());
      case 'z':
        if (take() != "SRZ") throw DoesNotFit{};
        return {};
      case 's':
        return special();
      case 'b':
        return barrier();
      case 't':
        return target();
      default:
        throw DoesNotFit{};
    }
  }

 private:
  enum class Sign { none, minus, inverse };  // R4, -R4, ~R4
  struct Immediates {
    std::int64_t smallest, largest;
  };
  // Of a pair only those that mean the same whether 32 bits are extended by their sign or by zeros, or are
  // printed with a sign.
  static constexpr Immediates kWord{-(std::int64_t{1} << 31), (std::int64_t{1} << 32) - 1};
  static constexpr Immediates kPair{-(std::int64_t{1} << 31), (std::int64_t{1} << 31) - 1};

  std::string_view take() {
    if (at_end()) throw DoesNotFit{};
    return line_.operands[next_++];
  }

  Operand destination() {
    const auto operand = parse_register(take());
    if (!operand) throw DoesNotFit{};
    return *operand;
  }

  Operand predicate(bool may_be_negated) {
    const auto operand = parse_predicate(take());
    if (!operand || (operand->negate && !may_be_negated)) throw DoesNotFit{};
    return *operand;
  }

  Operand optional_predicate() {
    if (at_end() || !parse_predicate(line_.operands[next_])) return {};
    return predicate(false);
  }

  Operand exactly(std::initializer_list<std::string_view> allowed) {
    const std::string_view text = take();
    if (std::ranges::find(allowed, text) == allowed.end()) throw DoesNotFit{};
    return *parse_predicate(text);
  }

  std::int64_t number() {
    const auto value = parse_integer(take());
    if (!value) throw DoesNotFit{};
    return *value;
  }

  // What an operation does not have, a sign or a half, does not fit.
  Operand integer_source(Immediates immediates, Sign sign) {
    const std::string_view text = take();
    if (const auto value = parse_integer(text)) {
      if (*value < immediates.smallest || *value > immediates.largest) throw DoesNotFit{};
      return immediate(*value);
    }
    const auto operand = parse_source(text);
    if (!operand || operand->absolute || operand->half != HalfSelect::both) throw DoesNotFit{};
    if ((operand->negate && sign != Sign::minus) || (operand->invert && sign != Sign::inverse))
      throw DoesNotFit{};
    return *operand;
  }

  Operand float_source() {
    const std::string_view text = take();
    if (const auto operand = parse_source(text)) {
      if (operand->invert || operand->half != HalfSelect::both) throw DoesNotFit{};
      return *operand;
    }
    const auto value = parse_real(text);
    if (!value) throw DoesNotFit{};
    return immediate(std::bit_cast<std::uint32_t>(static_cast<float>(*value)));
  }

  // An immediate is two numbers, the upper half first.
  Operand half_source(bool bf16) {
    const std::string_view text = take();
    if (const auto operand = parse_source(text)) {
      if (operand->invert) throw DoesNotFit{};
      return *operand;
    }
    const auto high = parse_real(text), low = parse_real(take());
    if (!high || !low) throw DoesNotFit{};
    return immediate(std::int64_t{half_bits(*high, bf16)} << 16 | half_bits(*low, bf16));
  }

  // The printed number is the format's own, so that it must come out exactly.
  static std::uint32_t half_bits(double value, bool bf16) {
    const auto single = static_cast<float>(value);
    const std::uint16_t bits = bf16 ? reference::round_to<reference::Bf16>(single).bits
                                    : reference::round_to<reference::Fp16>(single).bits;
    const float back = bf16 ? reference::widen(reference::Bf16{bits}) : reference::widen(reference::Fp16{bits});
    if (back != single) throw DoesNotFit{};
    return bits;
  }

  Operand special() {
    const auto found = std::ranges::find(kSpecialRegisterNames, take());
    if (found == kSpecialRegisterNames.end()) throw DoesNotFit{};
    Operand operand;
    operand.kind = OperandKind::special_register;
    operand.index = static_cast<std::uint16_t>(found - kSpecialRegisterNames.begin());
    return operand;
  }

  Operand barrier() {
    constexpr std::uint16_t kBarriers = 16;
    const auto number = numbered(take(), "B", "Z", kBarriers);
    if (!number || *number == kBarriers) throw DoesNotFit{};
    Operand operand;
    operand.kind = OperandKind::barrier;
    operand.index = *number;
    return operand;
  }

  // "`(.L_x_1)"; a section's own name is its start.
  Operand target() {
    std::string_view text = take();
    if (!text.starts_with("`(") || !text.ends_with(')')) throw DoesNotFit{};
    text = text.substr(2, text.size() - 3);
    const auto label = section_.labels.find(text);
    if (label == section_.labels.end()) throw DoesNotFit{};
    Operand operand;
    operand.kind = OperandKind::target;
    operand.value = label->second;
    return operand;
  }

  const Line& line_;
  const Section& section_;
  std::size_t next_ = 0;
};

// --- Lines ---------------------------------------------------------------------------------------------------

bool is_uniform(const Operand& operand) {
  return operand.kind == OperandKind::uniform_register || operand.kind == OperandKind::uniform_predicate;
}
bool is_vector(const Operand& operand) {
  return operand.kind == OperandKind::vector_register || operand.kind == OperandKind::predicate;
}

// The uniform datapath has one value where a warp has 32: it takes nothing from lanes and gives them nothing;
// only R2UR takes a register of theirs, in which they must agree.
bool is_of_uniform_datapath(std::string_view mnemonic) {
  return mnemonic.starts_with('U') || mnemonic.starts_with("LDCU") || mnemonic == "S2UR" || mnemonic == "BRA.U";
}

bool is_of_its_datapath(const Operand& operand, std::string_view token, std::string_view mnemonic) {
  if (token == "T" || token == "F") return true;  // PT and UPT are one
  if (is_of_uniform_datapath(mnemonic)) {
    // %tid and %laneid differ between lanes.
    const bool differs = operand.kind == OperandKind::special_register &&
                         operand.index < static_cast<std::uint16_t>(SpecialRegister::block_x);
    return !differs && !is_vector(operand);
  }
  const bool is_destination = token.front() == 'd' || token.front() == 'D' || token.front() == 'p';
  if (mnemonic == "R2UR") return is_destination == is_uniform(operand);
  return !is_destination || !is_uniform(operand);
}

// How many registers an operand is: its letter says it, but for what a load or a store moves.
std::uint32_t words_of(std::string_view token, const InstructionEntry& entry, std::string_view mnemonic) {
  const bool moves = entry.syntax.find('m') != std::string_view::npos;
  if (token == "D" || (token == "d" && moves)) {
    if (mnemonic.ends_with(".128") || mnemonic.ends_with(".256")) return 4;  // .256 has two operands
    if (mnemonic.ends_with(".64")) return 2;
  }
  return token == "D" || token == "L" || token == "l" || token == "m" ? 2 : 1;
}

// Pairs start at even numbers, quadruples at multiples of 4, and none reaches the register of zeros.
bool registers_exist(const Operand& operand, std::uint32_t words) {
  const bool numbered = operand.kind == OperandKind::vector_register || operand.kind == OperandKind::address ||
                        operand.kind == OperandKind::uniform_register;
  return !numbered || operand.index == kZeroRegister ||
         (operand.index % words == 0 && operand.index + words <= kZeroRegister);
}

std::optional<Instruction> decode_as(const MnemonicMatch& match, const Line& line, const Section& section) {
  const InstructionEntry& entry = instruction_table()[match.entry];
  Instruction in;
  in.execute = entry.execute;
  in.control = entry.control;
  in.mode = match.mode;
  in.entry = match.entry;
  in.address = line.address;
  in.text = line.text;
  try {
    OperandReader reader(line, section);
    std::string_view syntax = entry.syntax;
    for (std::size_t slot = 0; !syntax.empty(); ++slot) {
      const std::string_view token = syntax.substr(0, syntax.find(' '));
      syntax.remove_prefix(std::min(token.size() + 1, syntax.size()));
      in.operands[slot] = reader.read(token, line.mnemonic);
      if (!registers_exist(in.operands[slot], words_of(token, entry, line.mnemonic)) ||
          !is_of_its_datapath(in.operands[slot], token, line.mnemonic))
        return std::nullopt;
    }
    if (!reader.at_end()) return std::nullopt;
  } catch (const DoesNotFit&) {
    return std::nullopt;
  }
  return in;
}

// A 32-bit shift moves one word; only with RZ as the other is it certain which, and to the right with the sign
// only as the upper word.
bool is_certain(const Instruction& in, const Line& line) {
  if (line.mnemonic.find("SHF.") == std::string::npos || line.mnemonic.find("64") != std::string::npos)
    return true;
  if (line.mnemonic.ends_with("SHF.R.S32")) return false;
  const Operand& other = in.operands[in.mode[2] != 0 ? 1 : 3];
  return other.index == kZeroRegister &&
         (other.kind == OperandKind::vector_register || other.kind == OperandKind::uniform_register);
}

Instruction decode_line(const Line& line, const Section& section) {
  for (const MnemonicMatch& match : match_mnemonic(line.mnemonic)) {
    std::optional<Instruction> in = decode_as(match, line, section);
    if (!in || !is_certain(*in, line)) continue;
    if (!line.guard.empty()) {
      const auto guard = parse_predicate(std::string_view(line.guard).substr(1));
      if (!guard || (is_of_uniform_datapath(line.mnemonic) && is_vector(*guard))) break;
      in->guard = *guard;
    }
    return *in;
  }
  throw Unsupported(
      fmt::format("the emulator does not know \"{}\" at {:#06x} of {}", line.text, line.address, section.name));
}

std::uint32_t registers_of(const Instruction& in) {
  constexpr std::uint32_t kWidestOperand = 4;
  std::uint32_t count = 0;
  for (const Operand& operand : in.operands)
    if ((operand.kind == OperandKind::vector_register || operand.kind == OperandKind::address) &&
        operand.index != kZeroRegister)
      count = std::max(count, operand.index + kWidestOperand);
  return std::min<std::uint32_t>(count, kZeroRegister);
}

}  // namespace

std::vector<MnemonicMatch> match_mnemonic(std::string_view mnemonic) {
  std::vector<MnemonicMatch> found;
  const auto table = instruction_table();
  for (std::uint32_t i = 0; i < table.size(); ++i) {
    Modes modes{};
    if (matches(table[i].mnemonic, mnemonic, modes, 0)) found.push_back({i, modes});
  }
  return found;
}

Program decode(const Section& section, std::string_view architecture) {
  Program program{section.name, std::string(architecture), {}, 0};
  if (section.lines.empty()) throw Unsupported("no instruction in " + section.name);
  program.code.reserve(section.lines.size());
  for (const Line& line : section.lines) {
    if (line.address != program.code.size() * kInstructionBytes)
      throw Unsupported(fmt::format("a gap before {:#06x} of {}", line.address, section.name));
    program.code.push_back(decode_line(line, section));
    program.registers = std::max(program.registers, registers_of(program.code.back()));
  }
  for (Instruction& in : program.code)
    for (const Operand& operand : in.operands)
      if (operand.kind == OperandKind::target)
        in.target = static_cast<std::uint32_t>(operand.value) / kInstructionBytes;
  return program;
}

}  // namespace bitproof::conformance::emulator
