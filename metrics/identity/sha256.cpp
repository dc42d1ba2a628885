#include "metrics/identity/sha256.h"

#include <stdexcept>

#include <fmt/format.h>
#include <openssl/evp.h>

namespace bitproof::metrics {
namespace {

void check(int status) {
  if (status != 1) throw std::runtime_error("OpenSSL cannot compute SHA-256");
}

}  // namespace

std::string Digest::hex() const {
  std::string text;
  text.reserve(2 * bytes.size());
  for (const std::byte byte : bytes)
    fmt::format_to(std::back_inserter(text), "{:02x}", std::to_integer<int>(byte));
  return text;
}

struct Sha256::State {
  EVP_MD_CTX* context = EVP_MD_CTX_new();

  State() { check(EVP_DigestInit_ex(context, EVP_sha256(), nullptr)); }
  ~State() { EVP_MD_CTX_free(context); }
  State(const State&) = delete;
  State& operator=(const State&) = delete;
};

Sha256::Sha256() : state_(std::make_unique<State>()) {}
Sha256::~Sha256() = default;
Sha256::Sha256(Sha256&&) noexcept = default;
Sha256& Sha256::operator=(Sha256&&) noexcept = default;

void Sha256::update(std::span<const std::byte> bytes) {
  check(EVP_DigestUpdate(state_->context, bytes.data(), bytes.size()));
}

Digest Sha256::finish() {
  Digest digest;
  check(EVP_DigestFinal_ex(state_->context, reinterpret_cast<unsigned char*>(digest.bytes.data()), nullptr));
  check(EVP_DigestInit_ex(state_->context, EVP_sha256(), nullptr));
  return digest;
}

}  // namespace bitproof::metrics
