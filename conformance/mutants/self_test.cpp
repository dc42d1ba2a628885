#include "conformance/mutants/self_test.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "conformance/isolation/isolated_shares.h"
#include "conformance/isolation/time_limit.h"
#include "conformance/mutants/mutant.h"

namespace bitproof::conformance {
namespace {

using reference::Dtype;

// Where trials take place.
struct Place {
  Location location;
  std::string device, architecture;
  int device_id;
};

enum class Role { mutant, unmutated, must_be_killed, must_survive };

struct Trial {
  Role role;
  Fault fault;
  std::string what;  // of a control
  Sequence sequence;
  PlannedCheck planned;
  Survival survival;
  std::uint64_t survived_blocks = 0;
};

// Notes in which block each trial is killed.
class Watch final : public CheckEvents {
 public:
  Watch(std::vector<Trial>& trials, const SelfTestOptions& options) : trials_(trials), options_(options) {}

  void started(std::size_t) override {}
  void begun(std::size_t, std::uint64_t block) override { begun_ = block; }
  void block_done(std::size_t trial, Record of_block) override {
    Trial& t = trials_[trial];
    if (t.survival.killed || !t.survival.error.empty()) return;
    const std::uint64_t block = begun_;
    if (of_block.verdict == Verdict::error) {
      t.survival.error = of_block.reason;
    } else if (is_flawless(of_block)) {
      t.survival.inputs += t.sequence.inputs_of(block);
      ++t.survived_blocks;
    } else {
      kill(t, block, of_block);
    }
  }
  void finished(std::size_t trial) override {
    Trial& t = trials_[trial];
    t.survival.complete = t.survival.killed || t.survived_blocks == t.sequence.blocks();
    begun_ = 0;
    options_.progress(++done_, trials_.size());
  }
  void failed(std::size_t trial, std::string reason) override {
    Survival& survival = trials_[trial].survival;
    if (!survival.killed && survival.error.empty()) survival.error = std::move(reason);
    finished(trial);
  }

 private:
  static void kill(Trial& trial, std::uint64_t block, const Record& of_block) {
    // A write outside the output is known after the whole block.
    const std::optional<Counterexample>& first = of_block.first;
    const std::uint64_t until = first && first->is_of_an_element()
                                    ? first->row * first->width + first->column + 1
                                    : trial.sequence.inputs_of(block);
    trial.survival.killed = true;
    trial.survival.domain = trial.sequence.domain(block);
    trial.survival.inputs = trial.sequence.inputs_before(block) + until;
    trial.survival.how = first                                  ? first->kind
                         : of_block.verdict == Verdict::refused ? of_block.reason
                                                                : "digest";
  }

  std::vector<Trial>& trials_;
  const SelfTestOptions& options_;
  std::uint64_t begun_ = 0;  // of the trial at work: they run one after the other
  std::uint64_t done_ = 0;
};

class Planner {
 public:
  explicit Planner(const SelfTestOptions& options) : options_(options) {}

  void add(const Place& place, Role role, Fault fault, const ElementwiseOperator& op, Dtype dtype,
           const ElementwiseImplementation& implementation, const std::string& what) {
    Sequence sequence(op, dtype, implementation, place.device, place.architecture, options_.seeds);
    PlannedCheck planned = sequence.planned(place.device_id);
    Survival survival;
    survival.implementation = implementation.name;
    survival.op = op.name;
    survival.dtype = name(dtype);
    survival.device = place.device;
    trials.push_back({role, fault, what, std::move(sequence), std::move(planned), std::move(survival), 0});
  }

  void add_place(const Place& place) {
    const bool on_host = place.location == Location::host;
    const auto mutant = on_host ? host_mutant : device_mutant;
    for (const Dtype dtype : {Dtype::bf16, Dtype::fp16}) {
      add(place, Role::must_be_killed, Fault::none, kElementwiseOperators[0], dtype,
          on_host ? host_one_bit_control() : device_one_bit_control(), "one flipped bit");
      for (const ElementwiseOperator& op : kElementwiseOperators) {
        add(place, Role::must_survive, Fault::none, op, dtype, mutant(Fault::none),
            "the mutants' kernel without a fault");
        for (const ElementwiseImplementation& correct :
             on_host ? host_implementations() : device_implementations())
          add(place, Role::unmutated, Fault::none, op, dtype, correct, "");
      }
      for (const FaultInfo& info : all_faults()) {
        if (on_host && info.shows != Shows::everywhere) continue;
        if (dtype == Dtype::bf16 && info.same_bits_in_bf16) continue;
        // Mutants do not share what they remember: one implementation per trial.
        add(place, Role::mutant, info.fault, kElementwiseOperators[0], dtype, mutant(info.fault), "");
      }
    }
  }

  std::vector<Trial> trials;

 private:
  const SelfTestOptions& options_;
};

}  // namespace

bool MutantResult::killed() const {
  return !trials.empty() && std::ranges::all_of(trials, [](const Survival& s) { return s.killed; });
}

MutationScore SelfTestResult::score() const {
  MutationScore score;
  score.total = mutants.size();
  score.killed = static_cast<std::uint64_t>(std::ranges::count_if(mutants, &MutantResult::killed));
  score.false_alarms = static_cast<std::uint64_t>(std::ranges::count_if(unmutated, &Survival::killed));
  return score;
}

std::uint64_t SelfTestResult::errors() const {
  const auto failed = [](const Survival& survival) { return !survival.error.empty(); };
  std::ptrdiff_t count = std::ranges::count_if(unmutated, failed);
  for (const MutantResult& mutant : mutants) count += std::ranges::count_if(mutant.trials, failed);
  for (const Control& control : controls) count += failed(control.survival) ? 1 : 0;
  return static_cast<std::uint64_t>(count);
}

bool SelfTestResult::all_complete() const { return std::ranges::all_of(unmutated, &Survival::complete); }

bool SelfTestResult::controls_hold() const {
  return !controls.empty() && std::ranges::all_of(controls, &Control::as_it_must);
}

bool SelfTestResult::passed() const {
  const MutationScore s = score();
  return scored() && s.total > 0 && s.killed == s.total && s.false_alarms == 0;
}

bool SelfTestResult::scored() const {
  return controls_hold() && all_complete() && !unmutated.empty() && errors() == 0;
}

bool SelfTestResult::failed() const {
  return std::ranges::any_of(unmutated, &Survival::killed) ||
         std::ranges::any_of(mutants,
                             [](const MutantResult& mutant) {
                               return std::ranges::any_of(mutant.trials, &Survival::survived);
                             }) ||
         std::ranges::any_of(controls, [](const Control& control) {
           return control.must_be_killed ? control.survival.survived() : control.survival.killed;
         });
}

SelfTestResult run_self_test(const SelfTestOptions& options) {
  const auto start = std::chrono::steady_clock::now();
  Planner planner(options);
  if (options.cpu) planner.add_place({Location::host, "cpu", "x86_64", 0});
  if (options.gpu)
    planner.add_place(
        {Location::device, options.gpu->label(), options.gpu->facts.architecture, options.gpu->id});

  std::vector<Share> shares;
  for (std::size_t i = 0; i < planner.trials.size(); ++i) {
    const Trial& trial = planner.trials[i];
    std::vector<std::uint64_t> blocks(trial.sequence.blocks());
    std::iota(blocks.begin(), blocks.end(), std::uint64_t{0});
    // One worker for all of a device: a context each would take longer than the test.
    shares.push_back({.check = i,
                      .implementation = "self test",
                      .device = trial.survival.device,
                      .start = trial.planned.start,
                      .blocks = std::move(blocks),
                      .time_limit = options.time_limit.value_or(kLongestTimeLimit)});
  }
  Watch watch(planner.trials, options);
  run_isolated(std::move(shares), watch);

  SelfTestResult result;
  for (Trial& trial : planner.trials) {
    switch (trial.role) {
      case Role::mutant: {
        auto found = std::ranges::find(result.mutants, trial.fault, &MutantResult::fault);
        if (found == result.mutants.end()) {
          result.mutants.push_back({trial.fault, {}});
          found = std::prev(result.mutants.end());
        }
        found->trials.push_back(std::move(trial.survival));
        break;
      }
      case Role::unmutated:
        result.unmutated.push_back(std::move(trial.survival));
        break;
      case Role::must_be_killed:
      case Role::must_survive:
        result.controls.push_back(
            {std::move(trial.what), trial.role == Role::must_be_killed, std::move(trial.survival)});
        break;
    }
  }
  for (const FaultInfo& info : all_faults())
    if (std::ranges::find(result.mutants, info.fault, &MutantResult::fault) == result.mutants.end())
      result.not_run.push_back(
          {info.fault, options.gpu ? "not selected" : "shows on a GPU only; " + options.no_gpu_because});
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return result;
}

}  // namespace bitproof::conformance
