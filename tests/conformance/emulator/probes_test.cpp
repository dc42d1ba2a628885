// The probes' results on a card, against the emulator. The digests of the card are committed; the operands are
// the same on both sides (probes.cpp), and so is the code, unless nvcc has changed: then what was proved of the
// old code must hold of the new one.
#include "tests/conformance/emulator/probes.h"

#include <cstdint>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "conformance/emulator/fault.h"
#include "conformance/emulator/instruction_table.h"
#include "conformance/emulator/listings.h"
#include "kernels/architecture.h"
#include "tests/conformance/emulator/emulate_probe.h"

namespace bitproof::conformance::emulator {
namespace {

constexpr const char* kEvidence = BITPROOF_FIXTURES "/evidence/emulator_sm_90/probes.txt";

const Listing& listing() {
  static const Listing parsed = [] {
    std::ifstream stream(BITPROOF_TEST_LISTINGS "/probes.sm_90.sass");
    return parse_listing(std::string{std::istreambuf_iterator<char>(stream), {}});
  }();
  return parsed;
}

const Section& section_of(const Probe& probe) {
  const std::string name = "probe_" + std::string(probe.kernel);
  for (const Section& section : listing().sections)
    if (section.name == name) return section;
  throw Unsupported("no kernel is called " + name);
}

// "fadd_rn 524288 0x0123456789abcdef": words and their digest.
struct Executed {
  std::size_t words;
  std::uint64_t digest;
};

std::map<std::string, Executed, std::less<>> executed_on_the_card() {
  std::map<std::string, Executed, std::less<>> results;
  std::ifstream stream(kEvidence);
  for (std::string line; std::getline(stream, line);) {
    if (line.starts_with('#')) continue;
    std::istringstream fields(line);
    std::string name, digest;
    std::size_t words = 0;
    fields >> name >> words >> digest;
    results[name] = {words, std::stoull(digest, nullptr, 16)};
  }
  return results;
}

class EveryProbe : public ::testing::TestWithParam<Probe> {};

TEST_P(EveryProbe, GivesTheBitsOfTheCard) {
  const Probe& probe = GetParam();
  static const auto executed = executed_on_the_card();
  const auto found = executed.find(probe.kernel);
  ASSERT_NE(found, executed.end()) << "not in " << kEvidence;
  const std::vector<std::uint32_t> words =
      emulate_probe(probe, decode(section_of(probe), listing().architecture));
  EXPECT_EQ(words.size(), found->second.words);
  EXPECT_EQ(probe_digest(words), found->second.digest);

  bool has_its_instruction = false;
  for (const Line& line : section_of(probe).lines)
    has_its_instruction |= line.text.find(probe.mnemonic) != std::string::npos;
  EXPECT_TRUE(has_its_instruction) << probe.mnemonic;
}

INSTANTIATE_TEST_SUITE_P(Probes, EveryProbe, ::testing::ValuesIn(probes()),
                         [](const auto& probe) { return std::string(probe.param.kernel); });

// A row may call itself proved on a card only if a probe's code has it.
TEST(InstructionTable, RowsProvedOnTheCardAreInTheProbes) {
  std::set<std::uint32_t> in_probes;
  for (const Probe& probe : probes())
    for (const Instruction& in : decode(section_of(probe), listing().architecture).code)
      in_probes.insert(in.entry);
  const auto table = instruction_table();
  for (std::uint32_t i = 0; i < table.size(); ++i)
    EXPECT_EQ(table[i].proof == Proof::card, in_probes.contains(i) && table[i].proof != Proof::no_effect)
        << table[i].mnemonic << " \"" << table[i].syntax << '"';
}

// Proof is of rows: forms of proved rows that are in the kernels of some architecture and in no probe.
TEST(InstructionTable, FormsThatNoProbeHasAreKnown) {
  std::set<std::string> in_probes, others;
  for (const Section& section : listing().sections)
    for (const Line& line : section.lines) in_probes.insert(line.mnemonic);
  for (const kernels::ArchitectureTraits& traits : kernels::kArchitectures)
    for (const std::string_view implementation : {"cuda.fused", "cuda.eager", "cuda.baseline"})
      for (const Section& section : find_listing(implementation, traits.name)->sections) {
        const Program program = decode(section, traits.name);
        for (std::size_t i = 0; i < program.code.size(); ++i)
          if (instruction_table()[program.code[i].entry].proof == Proof::card &&
              !in_probes.contains(section.lines[i].mnemonic))
            others.insert(section.lines[i].mnemonic);
      }
  EXPECT_EQ(others,
            (std::set<std::string>{"BSSY.RECONVERGENT", "BSYNC.RECONVERGENT", "F2FP.BF16.PACK_AB",
                                   "F2FP.PACK_AB", "HFMA2", "HFMA2.BF16_V2", "ISETP.LE.U32.AND", "LDG.E.NA.128",
                                   "STG.E.EF.128", "UISETP.GE.U32.AND", "USHF.R.U32.HI"}));
}

}  // namespace
}  // namespace bitproof::conformance::emulator
