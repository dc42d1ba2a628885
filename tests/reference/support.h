// What the tests of the reference share.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <ios>
#include <ostream>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "reference/half.h"

namespace bitproof::reference {

// How GoogleTest and RapidCheck print a value: its bits.
template <Half T>
std::ostream& operator<<(std::ostream& stream, T value) {
  constexpr std::array kDigits{'0', '1', '2', '3', '4', '5', '6', '7', '8', '9', 'A', 'B', 'C', 'D', 'E', 'F'};
  stream << name(T::kDtype) << " 0x";
  for (int shift = 12; shift >= 0; shift -= 4)
    stream << kDigits[static_cast<std::size_t>(value.bits >> shift & 0xF)];
  return stream;
}

template <Half T>
std::vector<T> all_values() {
  std::vector<T> values;
  values.reserve(65536);
  for (std::uint32_t bits = 0; bits < 65536; ++bits) values.push_back(T{static_cast<std::uint16_t>(bits)});
  return values;
}

// A table of fixtures/oracles: entry i belongs to the input whose 16 bits are i.
template <class Entry>
std::vector<Entry> oracle(const std::string& file) {
  std::ifstream stream(std::string(BITPROOF_FIXTURES) + "/oracles/" + file, std::ios::binary);
  std::vector<Entry> entries(65536);
  const auto bytes = static_cast<std::streamsize>(entries.size() * sizeof(Entry));
  stream.read(reinterpret_cast<char*>(entries.data()), bytes);
  if (stream.gcount() != bytes) throw std::runtime_error("cannot read the oracle " + file);
  return entries;
}

template <Half T>
std::string oracle_name(const std::string& stem) {
  return stem + std::string(name(T::kDtype)) + ".bin";
}

// Zeros, ends of the subnormals, around one, ends of the normals, infinities, NaNs of several payloads and
// signs.
template <Half T>
std::vector<T> special_values() {
  std::vector<T> values;
  const T one = round_to<T>(1.0f);
  const T nans[] = {kCanonicalNan<T>, T{static_cast<std::uint16_t>(kPositiveInfinity<T>.bits + 1)},
                    T{static_cast<std::uint16_t>(kPositiveInfinity<T>.bits | kSmallestNormal<T>.bits >> 1)}};
  for (const T value :
       {T{0}, kSmallestSubnormal<T>, next_down(kSmallestNormal<T>), kSmallestNormal<T>, next_down(one), one,
        next_up(one), round_to<T>(3.0f), kLargest<T>, kPositiveInfinity<T>, nans[0], nans[1], nans[2]}) {
    values.push_back(value);
    values.push_back(negated(value));
  }
  return values;
}

// Bit patterns for properties, all equally likely from the first case on: RapidCheck's own integers start
// small, which as FP32 bits would be subnormals only.
template <class Bits>
Bits any_bits() {
  return *rc::gen::resize(rc::kNominalSize, rc::gen::arbitrary<Bits>());
}

template <class T>
class ForEachDtype : public ::testing::Test {};

using Dtypes = ::testing::Types<Bf16, Fp16>;

}  // namespace bitproof::reference
