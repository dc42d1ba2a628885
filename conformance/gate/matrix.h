// The overview that all outputs share: operator and dtype against architecture.
#pragma once

#include <string>
#include <vector>

#include "conformance/gate/gate.h"

namespace bitproof::conformance {

enum class Tone { good, waived, bad, none };

// bit_exact and within_contract are good, mismatch and error bad, nothing is none, the rest is in between.
Tone tone_of(Verdict verdict);

struct Cell {
  Tone tone = Tone::none;
  std::string text = "-";
};

struct Matrix {
  std::vector<std::string> columns;  // architectures
  struct Row {
    std::string name;         // "bias_gelu_tanh bf16"
    std::vector<Cell> cells;  // one per column
  };
  std::vector<Row> rows;
};

// Required records: "pass 6/6", "FAIL 5/6", "pass 6/6, 1 waived"; "compiled only" where the policy says so.
Matrix matrix_of(const GateResult& result);

// Any records: "6 bit_exact", "5 bit_exact, 1 mismatch".
Matrix matrix_of(const Report& report);

}  // namespace bitproof::conformance
