// What the machine code of a kernel does that the contract cares about, read from its listing without running
// it, and what the contract expects.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "conformance/emulator/listing.h"
#include "kernels/architecture.h"

namespace bitproof::conformance::emulator {

// How the sum of input and bias reaches GELU.
enum class SumRounding {
  none,        // there is no sum
  packed_add,  // a 16-bit add, which rounds
  converted,   // an FP32 add, then a conversion to 16 bits and back
  stored,      // an FP32 add, a conversion to 16 bits, and memory
  missing,     // an FP32 sum that is multiplied before anything rounded it
  unseen,      // an FP32 sum of which no conversion to 16 bits was seen: nothing is claimed
};
std::string_view name(SumRounding rounding);

struct AuditFacts {
  SumRounding sum = SumRounding::none;
  std::vector<std::string> between;  // mnemonics from the add to the first product of the sum, in order
  std::map<std::string, int> unit_functions;  // "EX2", "RCP": how often, of floating-point numbers
  int integer_reciprocals = 0;                // RCP of a converted integer: integer division
  std::map<int, int> loads, stores;           // of global memory: bytes and how often
  int spills = 0;                             // loads and stores of local memory
  bool waits_for_producer = false;            // ACQBULK, ahead of every load
  bool releases_consumer = false;             // PREEXIT
};

AuditFacts audit(const Section& section);

struct AuditExpectation {
  SumRounding sum;
  std::vector<std::string> unit_functions;
  int access_bytes;  // of every load and store
  bool dependent_launch;
};

struct AuditedKernel {
  std::string op, dtype;
  std::string implementation;  // "cuda.fused"
  std::string architecture;
  std::string kernel;  // "gelu_tanh_fused"
  AuditFacts facts;
  AuditExpectation expected;
  std::vector<std::string> mismatches;  // "stores of 16 bytes, 32 expected"
};

// What of `facts` is not as expected, in words.
std::vector<std::string> compare(const AuditFacts& facts, const AuditExpectation& expected);

// Every kernel of every operator in the listing of "cuda.fused", "cuda.eager" or "cuda.baseline". The
// contract's expectations: the sum is rounded before GELU, tanh is made of ex2 and rcp, accesses are as wide as
// the architecture's, nothing spills, and the dependent launch waits before it reads where the architecture has
// one.
std::vector<AuditedKernel> audit_listing(std::string_view implementation, const Listing& listing);

}  // namespace bitproof::conformance::emulator
