// What the emulator reports instead of guessing. Both name the instruction and its address.
#pragma once

#include <stdexcept>
#include <string>

namespace bitproof::conformance::emulator {

// The text holds something that the emulator does not implement or cannot read: nothing is claimed about the
// code.
class Unsupported : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// The code did what no correct kernel does: an access outside its tensors, misaligned or to memory that nothing
// wrote; lanes that wait for ever; a uniform value that is not uniform. A finding about the code.
class CodeFault : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace bitproof::conformance::emulator
