#include "conformance/isolation/worker_process.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <exception>
#include <mutex>
#include <utility>

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace bitproof::conformance {
namespace {

constexpr int kCouldNotRun = 3;

// A child that has closed its end gets five seconds to exit: a driver may take a while to tear down a context.
constexpr int kExitPolls = 5000;
constexpr unsigned kExitPollMicroseconds = 1000;

// The groups alive, for the signal handler: 0 is a free slot.
constexpr std::size_t kMostWorkers = 256;
std::array<std::atomic<pid_t>, kMostWorkers> live_groups;

void remember_group(pid_t group) {
  for (std::atomic<pid_t>& slot : live_groups) {
    pid_t free = 0;
    if (slot.compare_exchange_strong(free, group)) return;
  }
}

void forget_group(pid_t group) {
  for (std::atomic<pid_t>& slot : live_groups) {
    pid_t held = group;
    if (slot.compare_exchange_strong(held, 0)) return;
  }
}

extern "C" void stop_workers_and_end(int signal) {
  for (const std::atomic<pid_t>& slot : live_groups)
    if (const pid_t group = slot.load(); group > 0) ::kill(-group, SIGKILL);
  // The handler was installed for one signal only: the default now ends this process.
  ::raise(signal);
}

constexpr std::array kEndingSignals{SIGINT, SIGTERM, SIGHUP};

void write_all(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(descriptor, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    // The parent is gone; so shall this process be.
    if (written <= 0) ::_exit(kCouldNotRun);
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

void close_all_but(int kept) {
  const long most = ::sysconf(_SC_OPEN_MAX);
#if defined(CLOSE_RANGE_CLOEXEC)
  const auto last = static_cast<unsigned>(kept);
  if ((last == 3 || ::close_range(3, last - 1, 0) == 0) && ::close_range(last + 1, ~0u, 0) == 0) return;
#endif
  for (int descriptor = 3; descriptor < std::min(most, 65536L); ++descriptor)
    if (descriptor != kept) ::close(descriptor);
}

void prefer_as_victim_of_memory_shortage() {
  const int file = ::open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
  if (file < 0) return;
  (void)!::write(file, "500", 3);
  ::close(file);
}

void limit_memory(std::uint64_t bytes) {
  if (bytes == 0) return;
  const rlimit limit{bytes, bytes};
  (void)::setrlimit(RLIMIT_AS, &limit);
}

[[noreturn]] void run_child(int descriptor, pid_t parent, const std::function<void(const SendLine&)>& work,
                            std::uint64_t memory_bytes) {
  ::setpgid(0, 0);
  for (const int signal : kEndingSignals) ::signal(signal, SIG_DFL);
  ::signal(SIGPIPE, SIG_IGN);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(kCouldNotRun);  // it died before we asked to be told
  ::dup2(STDERR_FILENO, STDOUT_FILENO);
  close_all_but(descriptor);
  prefer_as_victim_of_memory_shortage();
  limit_memory(memory_bytes);
  int status = 0;
  try {
    std::mutex mutex;
    work([&mutex, descriptor](std::string_view line) {
      std::string text(line);
      text += '\n';
      const std::lock_guard lock(mutex);
      write_all(descriptor, text);
    });
  } catch (const std::exception& failure) {
    std::fprintf(stderr, "bitproof: worker: %s\n", failure.what());
    status = kCouldNotRun;
  }
  std::fflush(nullptr);
  // No destructors of static objects: the work may have left them broken.
  ::_exit(status);
}

std::string lower_case_first(std::string text) {
  if (!text.empty() && text[0] >= 'A' && text[0] <= 'Z') text[0] = static_cast<char>(text[0] - 'A' + 'a');
  return text;
}

std::string words_for(int status) {
  if (WIFEXITED(status)) {
    const int code = WEXITSTATUS(status);
    return code == 0 ? "" : "exited with status " + std::to_string(code);
  }
  const int signal = WTERMSIG(status);
  std::string words =
      "ended by signal " + std::to_string(signal) + ", " + lower_case_first(::strsignal(signal));
  if (signal == SIGKILL) words += "; the kernel does so to a process that exhausts the memory";
  return words;
}

Error cannot_start(const char* call) {
  return {ErrorKind::unreadable, std::string(call) + ": " + std::strerror(errno), "worker process",
          "raise the limits of processes and open files (ulimit -u, ulimit -n)"};
}

}  // namespace

Result<WorkerProcess> WorkerProcess::start(const std::function<void(const SendLine&)>& work,
                                           std::uint64_t memory_bytes) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return cannot_start("pipe2");
  std::fflush(nullptr);  // else the child would write it again
  const pid_t parent = ::getpid();
  const pid_t process = ::fork();
  if (process < 0) {
    const Error error = cannot_start("fork");
    ::close(ends[0]);
    ::close(ends[1]);
    return error;
  }
  if (process == 0) run_child(ends[1], parent, work, memory_bytes);
  ::close(ends[1]);
  ::setpgid(process, process);  // also here: either may be first
  remember_group(process);
  ::fcntl(ends[0], F_SETFL, O_NONBLOCK);
  return WorkerProcess(process, ends[0]);
}

WorkerProcess::WorkerProcess(pid_t process, int descriptor) : process_(process), descriptor_(descriptor) {}

WorkerProcess::WorkerProcess(WorkerProcess&& other) noexcept
    : process_(std::exchange(other.process_, -1)),
      descriptor_(std::exchange(other.descriptor_, -1)),
      finished_(other.finished_),
      ended_(other.ended_),
      pending_(std::move(other.pending_)) {}

WorkerProcess& WorkerProcess::operator=(WorkerProcess&& other) noexcept {
  std::swap(process_, other.process_);
  std::swap(descriptor_, other.descriptor_);
  std::swap(finished_, other.finished_);
  std::swap(ended_, other.ended_);
  std::swap(pending_, other.pending_);
  return *this;
}

WorkerProcess::~WorkerProcess() {
  if (process_ > 0) (void)stop();
}

std::vector<std::string> WorkerProcess::take_lines() {
  std::vector<std::string> lines;
  // Asked before reading, so that nothing can come after what is read if the answer was yes. A grandchild may
  // hold the pipe open after the child has ended.
  const bool ended = has_ended();
  std::array<char, 65536> buffer;
  while (!finished_) {
    const ssize_t size = ::read(descriptor_, buffer.data(), buffer.size());
    if (size < 0 && errno == EINTR) continue;
    if (size == 0 || (size < 0 && ended)) finished_ = true;
    if (size <= 0) break;
    pending_.append(buffer.data(), static_cast<std::size_t>(size));
  }
  std::size_t begin = 0;
  for (std::size_t end; (end = pending_.find('\n', begin)) != std::string::npos; begin = end + 1)
    lines.push_back(pending_.substr(begin, end - begin));
  pending_.erase(0, begin);
  return lines;
}

bool WorkerProcess::has_ended() {
  // Seen, not reaped: until stop() reaps it, no other process can get its number, which is its group's too.
  siginfo_t info{};
  if (!ended_)
    ended_ = ::waitid(P_PID, static_cast<id_t>(process_), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
             info.si_pid == process_;
  return ended_;
}

std::string WorkerProcess::stop() {
  // One that has closed its end is about to exit: that is how it ended, not what we do to it.
  for (int i = 0; finished_ && !has_ended() && i < kExitPolls; ++i) ::usleep(kExitPollMicroseconds);
  const bool ended = has_ended();
  // What the child may have started is still in its group.
  ::kill(-process_, SIGKILL);
  forget_group(process_);
  int status = 0;
  while (::waitpid(process_, &status, 0) < 0 && errno == EINTR) {
  }
  ::close(descriptor_);
  process_ = -1;
  descriptor_ = -1;
  return ended ? words_for(status) : "still running";
}

void wait_for_any(const std::vector<const WorkerProcess*>& workers, std::chrono::milliseconds at_most) {
  // A child can end without closing the pipe (a grandchild has it), which poll() does not see: look again soon.
  constexpr std::chrono::milliseconds kLookAgain{200};
  std::vector<pollfd> descriptors;
  for (const WorkerProcess* worker : workers) descriptors.push_back({worker->descriptor(), POLLIN, 0});
  const auto wait = std::clamp(at_most, std::chrono::milliseconds{0}, kLookAgain);
  (void)::poll(descriptors.data(), descriptors.size(), static_cast<int>(wait.count()));
}

StopWorkersOnSignal::StopWorkersOnSignal() {
  for (const int signal : kEndingSignals) {
    struct sigaction now {};
    if (::sigaction(signal, nullptr, &now) != 0 || now.sa_handler != SIG_DFL) continue;
    struct sigaction ours {};
    ours.sa_handler = stop_workers_and_end;
    ours.sa_flags = static_cast<int>(SA_RESETHAND | SA_NODEFER);
    (void)::sigaction(signal, &ours, nullptr);
  }
}

StopWorkersOnSignal::~StopWorkersOnSignal() {
  for (const int signal : kEndingSignals) {
    struct sigaction now {};
    if (::sigaction(signal, nullptr, &now) == 0 && now.sa_handler == stop_workers_and_end)
      (void)::signal(signal, SIG_DFL);
  }
}

Result<std::vector<std::string>> ask_child(const std::function<void(const SendLine&)>& question,
                                           std::chrono::seconds time_limit) {
  Result<WorkerProcess> worker = WorkerProcess::start(question);
  if (!worker) return worker.error();
  std::vector<std::string> answer;
  const auto deadline = std::chrono::steady_clock::now() + time_limit;
  while (!worker->finished() && std::chrono::steady_clock::now() < deadline) {
    wait_for_any({&*worker}, time_limit);
    for (std::string& line : worker->take_lines()) answer.push_back(std::move(line));
  }
  const std::string ending = worker->stop();
  if (!ending.empty())
    return Error{
        ErrorKind::unreadable,
        ending == "still running" ? "no answer in " + std::to_string(time_limit.count()) + " s" : ending,
        "worker process", "see what it printed"};
  return answer;
}

}  // namespace bitproof::conformance
