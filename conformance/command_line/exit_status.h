// Exit statuses of every command.
#pragma once

namespace bitproof::conformance {

inline constexpr int kPassed = 0;       // the check ran and passed
inline constexpr int kFailed = 1;       // the check ran and failed
inline constexpr int kBadUsage = 2;     // bad usage or unreadable input
inline constexpr int kCouldNotRun = 3;  // no such device, a worker that died, nothing tested

}  // namespace bitproof::conformance
