// What the gate asks of this tree: its machine-code keys and the digests of its reference.
#pragma once

#include "conformance/gate/commands.h"

namespace bitproof::conformance {

GateServices gate_services();

}  // namespace bitproof::conformance
