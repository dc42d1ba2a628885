// Compiled with -ffp-contract=fast -mfma, against this project's rule, to see it noticed.
#include <optional>
#include <string>

#include "reference/environment.h"

namespace bitproof::reference {

std::optional<std::string> environment_fault_seen_by_contracted_code() { return environment_fault(); }

}  // namespace bitproof::reference
