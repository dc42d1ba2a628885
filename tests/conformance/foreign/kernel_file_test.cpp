// Files that may hold a kernel, told apart by what is in them.
#include "conformance/foreign/kernel_file.h"

#include <string>

#include <gtest/gtest.h>

#include "tests/conformance/report/samples.h"

namespace bitproof::conformance {
namespace {

class KernelFileTest : public ::testing::Test {
 protected:
  std::string kind(const std::string& name, const std::string& content) {
    testing::write_text(directory_.path() / name, content);
    const Result<KernelFile> file = read_kernel_file(directory_.path() / name);
    if (file) {
      EXPECT_EQ(file->bytes, content);
    }
    return std::string(file ? conformance::name(file->kind) : file.error().message());
  }

  testing::TemporaryDirectory directory_;
};

// The first bytes of a 64-bit little-endian ELF file of this type for this machine.
std::string elf(std::uint16_t type, std::uint16_t machine) {
  std::string bytes(
      "\x7f"
      "ELF\x02\x01\x01",
      7);
  bytes.resize(128);
  bytes[16] = static_cast<char>(type);
  bytes[18] = static_cast<char>(machine);
  return bytes;
}

TEST_F(KernelFileTest, IsToldByItsContent) {
  constexpr std::uint16_t kExecutable = 2, kShared = 3, kX86 = 62, kCuda = 190;
  EXPECT_EQ(kind("a.so", elf(kShared, kX86)), "shared library");
  EXPECT_EQ(kind("a.bin", elf(kExecutable, kCuda)), "cubin");
  EXPECT_EQ(kind("named.cu", ".version 8.0\n.target sm_90\n"), "CUDA source");
  EXPECT_EQ(kind("a.txt", "// made by hand\n.version 8.0\n.target sm_90\n"), "PTX");
  EXPECT_EQ(kind("a.ptx", std::string(".version 8.0\n.target sm_90\n\0", 28)), "PTX");  // as NVRTC gives it
}

TEST_F(KernelFileTest, OfALinearLayerIsASharedLibrary) {
  ForeignRequestText text;
  text.op = "linear_gelu_tanh";
  text.dtype = "bf16";
  KernelFileOptions options;
  options.request = *parse_foreign_request(text, "--");
  const KernelFile source{"layer.cu", KernelFileKind::cuda_source, ""};
  const CudaDevice device{0, {"NVIDIA H200", "sm_90", "580.65.06", "13.0", "13.1.1"}};
  EXPECT_EQ(
      open_kernel_file(source, options, device).error().message(),
      "layer.cu: is a CUDA source, and linear_gelu_tanh is checked as a shared library; wrap the kernel in a "
      "bitproof_kernel (conformance/bitproof.h), or check it from Python");
}

TEST_F(KernelFileTest, IsNoKernelOtherwise) {
  constexpr std::uint16_t kExecutable = 2, kX86 = 62;
  const std::string remedy =
      "is no kernel; give a shared library, a .cu source, PTX (with .version and .target) or a cubin";
  for (const std::string& content : {std::string("import torch\n"), std::string(), elf(kExecutable, kX86),
                                     std::string("\x7f"
                                                 "ELF"),
                                     std::string("PK\0\3 .version .target", 22)})
    EXPECT_TRUE(kind("a.ptx", content).ends_with(remedy)) << kind("a.ptx", content);
  EXPECT_NE(read_kernel_file(directory_.path() / "none").error().message().find("cannot be read"),
            std::string::npos);
  EXPECT_NE(read_kernel_file(directory_.path()).error().message().find("cannot be read"), std::string::npos);
}

}  // namespace
}  // namespace bitproof::conformance
