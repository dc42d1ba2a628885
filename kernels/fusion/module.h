// A model as a tree of named parts, and the parts where a fused kernel may take over.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace bitproof::kernels {

class Linear;

// Owns nothing: children must outlive it. The tree must not change while requests run.
class Module {
 public:
  explicit Module(std::string name) : name_(std::move(name)) {}
  virtual ~Module() = default;
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;

  void add(Module& child) { children_.push_back(&child); }

  const std::string& name() const { return name_; }
  std::span<Module* const> children() const { return children_; }

 private:
  std::string name_;
  std::vector<Module*> children_;
};

// The fusions there are; a gate (quality_gate.h) is in charge of each.
enum class Fusion {
  linear_gelu,      // the cuBLASLt GELU_BIAS epilogue: other bits than eager
  nvfp4_bias_gelu,  // the bias of an NVFP4 layer is added by the fused bias + GELU kernel: the bits of eager
};
inline constexpr std::size_t kFusions = 2;

// A part whose first linear layer is followed by bias and GELU.
class FusionSite : public Module {
 public:
  using Module::Module;

  // Null: there is none.
  virtual Linear* first_linear() const = 0;

  bool is_marked(Fusion fusion) const { return state(fusion).marked; }
  bool is_mounted(Fusion fusion) const { return state(fusion).mounted; }

 private:
  friend class QualityGate;

  struct State {
    std::atomic<bool> marked{false}, mounted{false};
    bool before = false;  // what to restore; guarded by the gate
  };
  State& state(Fusion fusion) { return states_[static_cast<std::size_t>(fusion)]; }
  const State& state(Fusion fusion) const { return states_[static_cast<std::size_t>(fusion)]; }

  std::array<State, kFusions> states_;
};

}  // namespace bitproof::kernels
