// The events of a worker as lines: what goes through the pipe.
#pragma once

#include <string>
#include <string_view>

#include "conformance/isolation/share.h"
#include "conformance/isolation/worker_process.h"

namespace bitproof::conformance {

// Sends every event as a line.
class EventSender final : public CheckEvents {
 public:
  explicit EventSender(const SendLine& send) : send_(send) {}
  void started(std::size_t check) override;
  void begun(std::size_t check, std::uint64_t block) override;
  void block_done(std::size_t check, Record of_block) override;
  void finished(std::size_t check) override;
  void failed(std::size_t check, std::string reason) override;

 private:
  const SendLine& send_;
};

// Tells `events` what the line says. False, and nothing told, when it is no line of an EventSender.
bool tell(std::string_view line, CheckEvents& events);

}  // namespace bitproof::conformance
