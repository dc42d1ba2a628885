// The recorded tables are the ones that were recorded: their SHA-256 is that of the manifest.
#include <array>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <openssl/sha.h>

namespace {

const std::filesystem::path kOracles = std::filesystem::path(BITPROOF_FIXTURES) / "oracles";

std::string read(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

std::string sha256(const std::string& text) {
  std::array<unsigned char, SHA256_DIGEST_LENGTH> digest{};
  SHA256(reinterpret_cast<const unsigned char*>(text.data()), text.size(), digest.data());
  std::string hex;
  for (const unsigned char byte : digest) {
    hex += "0123456789abcdef"[byte >> 4];
    hex += "0123456789abcdef"[byte & 0xF];
  }
  return hex;
}

TEST(OracleManifest, EveryFileHasItsRecordedDigestAndSize) {
  const auto manifest = nlohmann::json::parse(read(kOracles / "manifest.json"));
  ASSERT_FALSE(manifest.at("files").empty());
  for (const auto& [name, entry] : manifest.at("files").items()) {
    const std::string content = read(kOracles / name);
    EXPECT_EQ(sha256(content), entry.at("sha256").get<std::string>()) << name;
    if (!entry.contains("dtype")) continue;
    const std::size_t size = entry.at("dtype") == "uint32" ? 4 : 2;
    EXPECT_EQ(content.size(), entry.at("count").get<std::size_t>() * size) << name;
  }
}

TEST(OracleManifest, NamesEveryTable) {
  const auto manifest = nlohmann::json::parse(read(kOracles / "manifest.json"));
  for (const auto& file : std::filesystem::directory_iterator(kOracles)) {
    const std::string name = file.path().filename().string();
    if (name != "manifest.json") {
      EXPECT_TRUE(manifest.at("files").contains(name)) << name;
    }
  }
}

}  // namespace
