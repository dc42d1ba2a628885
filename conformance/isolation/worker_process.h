// A child process that does some work and answers in lines: what it does to itself, a crash, a hang or a lost
// CUDA context, ends there.
//
// The child is a fork, so the work is any function. Therefore this process must not have initialised CUDA,
// whose contexts do not survive a fork, and should have no other threads: fork() copies only the calling one.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <sys/types.h>

#include "conformance/report/result.h"

namespace bitproof::conformance {

// Sends one line, without its newline, to the parent. Thread-safe.
using SendLine = std::function<void(std::string_view)>;

class WorkerProcess {
 public:
  // Forks. The child runs `work` and exits; an exception that leaves it ends it with status 3. Its standard
  // output is this process's standard error, and of the open files it keeps only the standard ones.
  //
  // The child leads a process group of its own and is killed when the thread that started it ends.
  // `memory_bytes` limits its address space, 0 does not; CUDA reserves far more than it uses, so that work on a
  // device needs 0. The kernel's out-of-memory killer takes the child before this process.
  static Result<WorkerProcess> start(const std::function<void(const SendLine&)>& work,
                                     std::uint64_t memory_bytes = 0);

  WorkerProcess(WorkerProcess&& other) noexcept;
  WorkerProcess& operator=(WorkerProcess&& other) noexcept;
  // Kills the child and its whole group, and waits for it.
  ~WorkerProcess();

  // The complete lines that have arrived; does not wait.
  std::vector<std::string> take_lines();

  // Whether no line will come any more.
  bool finished() const { return finished_; }

  // Becomes readable when a line arrives or the child has closed its end.
  int descriptor() const { return descriptor_; }

  // Ends the child and its group. Returns how the child had ended of itself, empty if it exited with status 0,
  // and "still running" if it had not ended: "ended by signal 11, segmentation fault".
  std::string stop();

 private:
  WorkerProcess(pid_t process, int descriptor);
  bool has_ended();

  pid_t process_ = -1;
  int descriptor_ = -1;
  bool finished_ = false;
  bool ended_ = false;
  std::string pending_;  // the beginning of a line
};

// Waits until one of `workers` has something to take, at most `at_most`.
void wait_for_any(const std::vector<const WorkerProcess*>& workers, std::chrono::milliseconds at_most);

// While an object of this lives, SIGINT, SIGTERM and SIGHUP kill the groups of all workers before they end this
// process. Of a signal that is ignored or handled already, nothing changes.
class StopWorkersOnSignal {
 public:
  StopWorkersOnSignal();
  ~StopWorkersOnSignal();
  StopWorkersOnSignal(const StopWorkersOnSignal&) = delete;
  StopWorkersOnSignal& operator=(const StopWorkersOnSignal&) = delete;
};

// What `question` returns, asked in a child process: the lines it sends. The error says how the child ended, or
// that `time_limit` was over.
Result<std::vector<std::string>> ask_child(const std::function<void(const SendLine&)>& question,
                                           std::chrono::seconds time_limit);

}  // namespace bitproof::conformance
