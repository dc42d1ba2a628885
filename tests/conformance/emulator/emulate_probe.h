// Runs a probe in the emulator.
#pragma once

#include <cstdint>
#include <vector>

#include "conformance/emulator/program.h"
#include "tests/conformance/emulator/probes.h"

namespace bitproof::conformance::emulator {

// The words that the probe leaves; poisoned where it writes nothing, as tests/gpu/run_probes.cpp does.
std::vector<std::uint32_t> emulate_probe(const Probe& probe, const Program& program);

}  // namespace bitproof::conformance::emulator
