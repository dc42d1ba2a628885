#include "conformance/emulator/launch.h"

#include <bit>
#include <memory>
#include <vector>

#include <fmt/format.h>

#include "conformance/emulator/constant_bank.h"
#include "conformance/emulator/fault.h"
#include "conformance/emulator/warp.h"
#include "kernels/architecture.h"
#include "reference/environment.h"

namespace bitproof::conformance::emulator {
namespace {

// No kernel of this project executes nearly as many instructions in one warp.
constexpr std::uint64_t kMaxInstructions = 100'000'000;

constexpr std::uint32_t kUnwrittenRegister = 0xA5A5A5A5u;

std::string place(const Program& program, const Instruction& in) {
  return fmt::format("; \"{}\" at {:#06x} of {} ({})", in.text, in.address, program.name, program.architecture);
}

// Lanes that are at one place. Since Volta every lane has its own program counter; those of a fragment agree.
struct Fragment {
  std::uint32_t mask = 0;
  std::uint32_t next = 0;  // index of its next instruction
};

// Executes one warp to its end. Lanes part at branches; they meet where a BSYNC makes them wait for all that
// passed the BSSY together. In which order parted lanes run changes nothing that is not a race.
class WarpRun {
 public:
  WarpRun(const Program& program, Warp& warp) : program_(program), warp_(warp) {}

  void run(std::uint32_t mask) {
    ready_.push_back({mask, 0});
    while (!ready_.empty()) {
      const Fragment fragment = ready_.back();
      ready_.pop_back();
      run_fragment(fragment);
    }
    for (std::size_t barrier = 0; barrier < waiting_.size(); ++barrier) {
      if (waiting_[barrier] == 0) continue;
      const auto lane = static_cast<std::size_t>(std::countr_zero(waiting_[barrier]));
      throw CodeFault("lanes wait for lanes that never come" +
                      place(program_, program_.code[resume_[barrier][lane] - 1]));
    }
  }

 private:
  void run_fragment(Fragment fragment) {
    while (fragment.mask != 0) {
      if (fragment.next >= program_.code.size())
        throw CodeFault("ran past the end" + place(program_, program_.code.back()));
      const Instruction& in = program_.code[fragment.next];
      if (++executed_ > kMaxInstructions) throw CodeFault("does not end" + place(program_, in));
      const std::uint32_t mask = fragment.mask & warp_.predicate(in.guard);
      if (in.control != Control::none) {
        fragment = transfer(in, fragment, mask);
        continue;
      }
      if (mask != 0) execute(in, mask);
      ++fragment.next;
    }
  }

  void execute(const Instruction& in, std::uint32_t mask) {
    try {
      in.execute(warp_, in, mask);
    } catch (const CodeFault& fault) {
      throw CodeFault(fault.what() + place(program_, in));
    } catch (const Unsupported& unsupported) {
      throw Unsupported(unsupported.what() + place(program_, in));
    }
  }

  // The fragment that goes on; what does not go with it is put into ready_ or waits.
  Fragment transfer(const Instruction& in, Fragment fragment, std::uint32_t mask) {
    const std::uint32_t next = fragment.next + 1;
    const Fragment others{fragment.mask & ~mask, next};
    switch (in.control) {
      case Control::none:
        break;
      case Control::branch:
      case Control::call:
        return split({mask, in.target}, others);
      case Control::branch_if: {
        const std::uint32_t taken = mask & warp_.predicate(in.operands[0]);
        return split({taken, in.target}, {fragment.mask & ~taken, next});
      }
      case Control::exit:
        exited_ |= mask;
        release();
        return others;
      case Control::open_region:
        for (int lane = 0; lane < kLanes; ++lane)
          if ((mask >> lane & 1) != 0)
            participants_[in.operands[0].index][static_cast<std::size_t>(lane)] = mask;
        return {fragment.mask, next};
      case Control::close_region:
        if (mask != fragment.mask) throw Unsupported("a guarded BSYNC" + place(program_, in));
        waiting_[in.operands[0].index] |= mask;
        for (int lane = 0; lane < kLanes; ++lane)
          if ((mask >> lane & 1) != 0) resume_[in.operands[0].index][static_cast<std::size_t>(lane)] = next;
        release();
        return {};
      case Control::return_relative:
        return return_from_call(in, mask, others);
    }
    return {};
  }

  Fragment split(Fragment taken, Fragment others) {
    if (taken.mask == 0) return others;
    if (others.mask != 0) ready_.push_back(others);
    return taken;
  }

  // Lanes of one call have one return address; others go their own way.
  Fragment return_from_call(const Instruction& in, std::uint32_t mask, Fragment others) {
    const Source low(warp_, in.operands[0], 0), high(warp_, in.operands[0], 1);
    if (others.mask != 0) ready_.push_back(others);
    while (mask != 0) {
      const std::uint32_t offset = low[std::countr_zero(mask)];
      std::uint32_t together = 0;
      for (int lane = 0; lane < kLanes; ++lane)
        if ((mask >> lane & 1) != 0 && low[lane] == offset) together |= 1u << lane;
      if (high[std::countr_zero(mask)] != 0 || offset % kInstructionBytes != 0)
        throw CodeFault(fmt::format("returns to {:#x}", offset) + place(program_, in));
      mask &= ~together;
      ready_.push_back({together, in.target + offset / kInstructionBytes});
    }
    return {};
  }

  // Lets go the lanes at barriers for which nobody is missing any more.
  void release() {
    for (std::size_t barrier = 0; barrier < waiting_.size(); ++barrier) {
      for (std::uint32_t left = waiting_[barrier]; left != 0;) {
        const auto lane = static_cast<std::size_t>(std::countr_zero(left));
        const std::uint32_t together = participants_[barrier][lane] & ~exited_;
        left &= ~(together | 1u << lane);
        if ((waiting_[barrier] & together) != together) continue;
        waiting_[barrier] &= ~together;
        ready_.push_back({together, resume_[barrier][lane]});
      }
    }
  }

  static constexpr std::size_t kBarriers = 16;
  const Program& program_;
  Warp& warp_;
  std::vector<Fragment> ready_;
  std::uint32_t exited_ = 0;
  std::uint64_t executed_ = 0;
  std::array<std::uint32_t, kBarriers> waiting_{};  // lanes at a BSYNC
  // By barrier and lane: who passed its BSSY together with it, and where it goes on after its BSYNC.
  std::array<std::array<std::uint32_t, kLanes>, kBarriers> participants_{}, resume_{};
};

ConstantBank constants(const Program& program, const Geometry& geometry,
                       std::span<const std::byte> parameters) {
  const auto traits = kernels::find_architecture(program.architecture);
  if (!traits) throw Unsupported("no constant layout is known of " + program.architecture);
  const ConstantLayout layout = constant_layout(traits->compute_capability);
  ConstantBank bank;
  bank.store(layout.block_dimensions, geometry.block);
  bank.store(layout.grid_dimensions, geometry.grid);
  bank.store(layout.stack_pointer, std::uint32_t{0});
  bank.store(layout.memory_descriptor, std::uint64_t{0});
  bank.store_bytes(layout.parameters, parameters);
  return bank;
}

// Threads `first` to `first` + 31 of a block, x fastest (CUDA C++ Programming Guide, "Thread Hierarchy").
std::uint32_t place_threads(Warp& warp, const std::array<std::uint32_t, 3>& block, std::uint32_t first) {
  std::uint32_t mask = 0;
  for (int lane = 0; lane < kLanes; ++lane) {
    const std::uint32_t thread = first + static_cast<std::uint32_t>(lane);
    warp.thread[0][lane] = thread % block[0];
    warp.thread[1][lane] = thread / block[0] % block[1];
    warp.thread[2][lane] = thread / block[0] / block[1];
    warp.thread[3][lane] = static_cast<std::uint32_t>(lane);
    if (thread < block[0] * block[1] * block[2]) mask |= 1u << lane;
  }
  return mask;
}

void reset(Warp& warp, std::uint32_t registers) {
  for (std::uint32_t i = 0; i < registers; ++i) warp.registers[i].values.fill(kUnwrittenRegister);
  warp.registers[kZeroRegister].values.fill(0);
  warp.uniform.fill(kUnwrittenRegister);
  warp.predicates.fill(0);
  warp.uniform_predicates.fill(0);
  warp.predicates[kTruePredicate] = warp.uniform_predicates[kTruePredicate] = kAllLanes;
}

}  // namespace

void launch(const Program& program, const Geometry& geometry, std::span<const std::byte> parameters,
            GlobalMemory& memory) {
  reference::require_environment();
  const ConstantBank bank = constants(program, geometry, parameters);
  const auto warp = std::make_unique<Warp>();
  warp->constants = &bank;
  warp->memory = &memory;
  const std::uint32_t threads = geometry.block[0] * geometry.block[1] * geometry.block[2];
  for (std::uint32_t z = 0; z < geometry.grid[2]; ++z)
    for (std::uint32_t y = 0; y < geometry.grid[1]; ++y)
      for (std::uint32_t x = 0; x < geometry.grid[0]; ++x)
        for (std::uint32_t first = 0; first < threads; first += kLanes) {
          reset(*warp, program.registers);
          warp->block = {x, y, z};
          WarpRun(program, *warp).run(place_threads(*warp, geometry.block, first));
        }
}

}  // namespace bitproof::conformance::emulator
