// Hexadecimal numbers, shapes and shards as the command line takes them, and the lines of workers.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "conformance/elementwise/one_element.h"
#include "conformance/gate/bit_layout.h"
#include "conformance/isolation/event_line.h"
#include "conformance/report/shard.h"

using namespace bitproof::conformance;

namespace {

struct Nobody final : CheckEvents {
  void started(std::size_t) override {}
  void begun(std::size_t, std::uint64_t) override {}
  void block_done(std::size_t, Record) override {}
  void finished(std::size_t) override {}
  void failed(std::size_t, std::string) override {}
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const Result<OneElement> element = parse_one_element(text)) {
    const Result<OneElement> again = parse_one_element(to_text(*element));
    if (!again || !(*again == *element)) std::abort();
    for (const ElementwiseOperator& op : kElementwiseOperators)
      (void)case_of(*element, op, bitproof::reference::Dtype::bf16, 1);
  }
  (void)parse_shard(text);
  (void)fields_of(text, *layout_of("fp16"));
  Nobody nobody;
  (void)tell(text, nobody);
  return 0;
}
