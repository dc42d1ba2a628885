// The kernels' headers as one text: what a reproducer has in it, so that it compiles without the sources.
#pragma once

#include <string>
#include <string_view>

namespace bitproof::conformance {

enum class SourceFor { cpu, gpu };

// "conformance/mutants/body.h" and all that it includes, each once and before what needs it. For a GPU without
// the models of its instructions in `reference`, which only the CPU needs. Throws std::logic_error for a header
// that the build did not embed (conformance/CMakeLists.txt says which it did).
std::string single_source(std::string_view header, SourceFor target);

}  // namespace bitproof::conformance
