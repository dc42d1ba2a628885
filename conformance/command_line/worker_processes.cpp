#include "conformance/command_line/worker_processes.h"

#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;

namespace bitproof::conformance {
namespace {

constexpr int kCouldNotRun = 3;

struct Started {
  pid_t process = -1;
  int error = 0;
};

Started start(const Worker& worker, const std::filesystem::path& directory) {
  std::vector<std::string> words{"/proc/self/exe"};
  words.insert(words.end(), worker.arguments.begin(), worker.arguments.end());
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);

  const std::string log = (directory / worker.name / "log").string();
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, log.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644);
  posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
  Started started;
  started.error = posix_spawn(&started.process, "/proc/self/exe", &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  return started;
}

WorkerExit wait_for(const Worker& worker, const Started& started) {
  if (started.error != 0)
    return {worker.name, kCouldNotRun, std::string("could not be started: ") + std::strerror(started.error)};
  int status = 0;
  while (waitpid(started.process, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFSIGNALED(status))
    return {worker.name, kCouldNotRun, "ended by signal " + std::to_string(WTERMSIG(status))};
  return {worker.name, WEXITSTATUS(status), ""};
}

}  // namespace

std::vector<WorkerExit> run_workers(const std::vector<Worker>& workers,
                                    const std::filesystem::path& directory) {
  std::vector<Started> started;
  for (const Worker& worker : workers) started.push_back(start(worker, directory));
  std::vector<WorkerExit> exits;
  for (std::size_t i = 0; i < workers.size(); ++i) exits.push_back(wait_for(workers[i], started[i]));
  return exits;
}

}  // namespace bitproof::conformance
