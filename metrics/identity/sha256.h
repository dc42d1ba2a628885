// SHA-256 as every other tool prints it (FIPS 180-4), computed by OpenSSL.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <span>
#include <string>

namespace bitproof::metrics {

struct Digest {
  std::array<std::byte, 32> bytes{};

  std::string hex() const;  // 64 lower-case digits
  bool operator==(const Digest&) const = default;
};

// Takes bytes in any number of pieces; the digest is that of their concatenation.
class Sha256 {
 public:
  Sha256();
  ~Sha256();
  Sha256(Sha256&&) noexcept;
  Sha256& operator=(Sha256&&) noexcept;

  void update(std::span<const std::byte> bytes);
  Digest finish();  // and starts anew

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace bitproof::metrics
