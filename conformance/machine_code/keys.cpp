#include "conformance/machine_code/keys.h"

#include "conformance/report/sha256.h"

namespace bitproof::conformance {

const std::vector<MachineCodeKey>& machine_code_keys() {
  static const std::vector<MachineCodeKey> keys{
#include "conformance/machine_code_keys.inc"
  };
  return keys;
}

std::optional<std::string> machine_code_key(std::string_view implementation, std::string_view architecture) {
  if (implementation == "reference") return "";
  // What is emulated is the machine code of the implementation on the device.
  constexpr std::string_view kEmulated = "emulated.";
  if (implementation.starts_with(kEmulated))
    return machine_code_key("cuda." + std::string(implementation.substr(kEmulated.size())), architecture);
  for (const MachineCodeKey& entry : machine_code_keys())
    if (entry.implementation == implementation && entry.architecture == architecture)
      return std::string(entry.key);
  return std::nullopt;
}

std::string architecture_key(std::string_view architecture) {
  std::string content;
  for (const MachineCodeKey& entry : machine_code_keys())
    if (entry.architecture == architecture)
      content += std::string(entry.implementation) + ' ' + std::string(entry.key) + '\n';
  return sha256_hex(content);
}

}  // namespace bitproof::conformance
