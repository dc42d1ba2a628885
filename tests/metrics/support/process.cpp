#include "tests/metrics/support/process.h"

#include <stdexcept>

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/metrics/support/files.h"

extern char** environ;

namespace bitproof::metrics::test {

Finished run(const std::vector<std::string>& arguments) {
  const TemporaryDirectory folder;
  const std::string output = (folder / "output").string(), error = (folder / "error").string();
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, output.c_str(), O_WRONLY | O_CREAT, 0600);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, error.c_str(), O_WRONLY | O_CREAT, 0600);
  std::vector<char*> pointers;
  for (const std::string& argument : arguments) pointers.push_back(const_cast<char*>(argument.c_str()));
  pointers.push_back(nullptr);
  pid_t process = 0;
  const int spawned = posix_spawnp(&process, pointers[0], &actions, nullptr, pointers.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (spawned != 0) throw std::runtime_error("cannot run " + arguments[0]);
  int status = 0;
  waitpid(process, &status, 0);
  return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), read_file(output),
          read_file(error)};
}

std::string ffmpeg(std::vector<std::string> arguments) {
  const std::vector<std::string> quiet = {"ffmpeg", "-hide_banner", "-nostdin", "-nostats", "-y"};
  arguments.insert(arguments.begin(), quiet.begin(), quiet.end());
  Finished finished = run(arguments);
  if (finished.status != 0) throw std::runtime_error("ffmpeg failed: " + finished.error);
  return finished.output + finished.error;
}

Finished frames(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), BITPROOF_FRAMES);
  return run(arguments);
}

}  // namespace bitproof::metrics::test
