// The widest access of one thread, as packed words.
#pragma once

#include <cstdint>
#include <cstring>

#include "kernels/primitives.h"

namespace bitproof::kernels {

template <int kBytes>
struct alignas(kBytes) Vector {
  static constexpr int kWords = kBytes / 4;
  static constexpr int kElements = kBytes / 2;
  std::uint32_t words[kWords];
};

// Streaming accesses: every element is touched once, so loads take no line of the first-level cache and stores
// are the first to be evicted (PTX ISA, "ld", .L1::no_allocate; "cache operators", .cs). Not the non-coherent
// path: the output may be the input.
template <int kBytes>
BITPROOF_KERNEL Vector<kBytes> load_streaming(const std::uint16_t* address) {
  Vector<kBytes> v;
#if defined(__CUDACC__)
  if constexpr (kBytes == 16) {
    asm volatile("ld.global.L1::no_allocate.v4.b32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(v.words[0]), "=r"(v.words[1]), "=r"(v.words[2]), "=r"(v.words[3])
                 : "l"(address)
                 : "memory");
  } else {
    asm volatile("ld.global.L1::no_allocate.v8.b32 {%0, %1, %2, %3, %4, %5, %6, %7}, [%8];"
                 : "=r"(v.words[0]), "=r"(v.words[1]), "=r"(v.words[2]), "=r"(v.words[3]), "=r"(v.words[4]),
                   "=r"(v.words[5]), "=r"(v.words[6]), "=r"(v.words[7])
                 : "l"(address)
                 : "memory");
  }
#else
  std::memcpy(&v, address, sizeof v);
#endif
  return v;
}

template <int kBytes>
BITPROOF_KERNEL void store_streaming(std::uint16_t* address, const Vector<kBytes>& v) {
#if defined(__CUDACC__)
  if constexpr (kBytes == 16) {
    asm volatile("st.global.cs.v4.b32 [%0], {%1, %2, %3, %4};"
                 :
                 : "l"(address), "r"(v.words[0]), "r"(v.words[1]), "r"(v.words[2]), "r"(v.words[3])
                 : "memory");
  } else {
    asm volatile("st.global.cs.v8.b32 [%0], {%1, %2, %3, %4, %5, %6, %7, %8};"
                 :
                 : "l"(address), "r"(v.words[0]), "r"(v.words[1]), "r"(v.words[2]), "r"(v.words[3]),
                   "r"(v.words[4]), "r"(v.words[5]), "r"(v.words[6]), "r"(v.words[7])
                 : "memory");
  }
#else
  std::memcpy(address, &v, sizeof v);
#endif
}

// Bias is read by every row tile: an ordinary load, which keeps it in the caches.
template <int kBytes>
BITPROOF_KERNEL Vector<kBytes> load_cached(const std::uint16_t* address) {
  Vector<kBytes> v;
#if defined(__CUDACC__)
  v = *reinterpret_cast<const Vector<kBytes>*>(address);
#else
  std::memcpy(&v, address, sizeof v);
#endif
  return v;
}

}  // namespace bitproof::kernels
