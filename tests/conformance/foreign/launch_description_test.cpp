// How somebody else's CUDA kernel is launched: words, files, and which tensors it is given.
#include "conformance/foreign/launch_description.h"

#include <array>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/conformance/report/samples.h"
#include "tests/conformance/report/schema.h"

namespace bitproof::conformance {
namespace {

using Quantity = Extent::Quantity;

std::string error_of(const LaunchText& text, bool has_bias = true) {
  const Result<LaunchDescription> launch = parse_launch(text, has_bias, "--");
  return launch ? "" : launch.error().message();
}

LaunchDescription launch_of(const LaunchText& text, bool has_bias = true) {
  return *parse_launch(text, has_bias, "--");
}

TEST(Extent, DividesAndRoundsUp) {
  EXPECT_EQ(parse_extent("elements/1024")->of(3, 1000), 3u);  // 3000 / 1024 = 2.93
  EXPECT_EQ(parse_extent("width/256")->of(3, 512), 2u);
  EXPECT_EQ(parse_extent("rows")->of(3, 512), 3u);
  EXPECT_EQ(parse_extent("7")->of(3, 512), 7u);
  EXPECT_EQ(parse_extent("elements")->of(1u << 20, 1u << 20), std::uint64_t{1} << 40);
}

TEST(Extent, IsNothingElse) {
  for (const std::string bad :
       {"", "/", "0", "-1", "rows/0", "rows/", "/4", "rows*2", "columns", "rows/4/2", "1.5"})
    EXPECT_FALSE(parse_extent(bad)) << bad;
}

TEST(LaunchDescription, HasOneThreadAnElementUnlessToldOtherwise) {
  const LaunchDescription launch = launch_of({.threads = "64,2"});
  EXPECT_EQ(launch.threads, (std::array<std::uint32_t, 3>{64, 2, 1}));
  EXPECT_EQ(launch.grid[0], (Extent{Quantity::elements, 1, 128}));
  EXPECT_EQ(launch.grid[1].of(5, 5), 1u);
  using A = LaunchArgument;
  EXPECT_EQ(launch.arguments, (std::vector<A>{A::input, A::bias, A::output, A::rows, A::width}));
  EXPECT_EQ(launch_of({}, false).arguments, (std::vector<A>{A::input, A::output, A::rows, A::width}));
}

TEST(LaunchDescription, NamesWhatItCannotRead) {
  EXPECT_NE(
      error_of({.arguments = "input,size"}).find("--arguments size: is nothing that a kernel can be given"),
      std::string::npos);
  EXPECT_NE(error_of({.arguments = "input,bias"}, false).find("the operator has no bias"), std::string::npos);
  for (const std::string bad : {"", "0", "2048", "32,64", "8,8,8,8", "x"})
    EXPECT_NE(error_of({.threads = bad}).find("is no block of threads"), std::string::npos) << bad;
  for (const std::string bad : {"", "rows,", "1,1,1,1", "many"})
    EXPECT_NE(error_of({.grid = bad}).find("is no rule for a grid"), std::string::npos) << bad;
  EXPECT_NE(error_of({.shared_bytes = 1u << 30}).find("more than any device has"), std::string::npos);
  EXPECT_NE(error_of({.width_multiple = 0}).find("divides no width"), std::string::npos);
  for (const std::uint64_t bad : {0u, 1u, 3u, 512u})
    EXPECT_NE(error_of({.alignment_bytes = bad}).find("is no alignment"), std::string::npos) << bad;
}

TEST(LaunchFile, GivesWhatTheCommandLineDoesNot) {
  const testing::TemporaryDirectory directory;
  const auto file = directory.path() / "kernel.json";
  testing::write_text(file, R"({"entry": "gelu", "arguments": ["output", "input", "elements"], "threads": [128],
                                "grid": ["elements/512", 2], "shared_bytes": 64, "width_multiple": 8,
                                "alignment_bytes": 16})");
  const Result<LaunchText> text = with_launch_file({.entry = "mine"}, file);
  ASSERT_TRUE(text) << text.error().message();
  EXPECT_EQ(text->entry, "mine");
  const LaunchDescription launch = launch_of(*text);
  using A = LaunchArgument;
  EXPECT_EQ(launch.arguments, (std::vector<A>{A::output, A::input, A::elements}));
  EXPECT_EQ(launch.threads[0], 128u);
  EXPECT_EQ(launch.grid[0], (Extent{Quantity::elements, 1, 512}));
  EXPECT_EQ(launch.grid[1].of(1, 1), 2u);
  EXPECT_EQ(launch.shared_bytes, 64u);
  EXPECT_EQ(launch.width_multiple, 8u);
  EXPECT_EQ(launch.alignment_bytes, 16u);
}

TEST(LaunchFile, ErrorsNameTheFileAndTheMember) {
  const testing::TemporaryDirectory directory;
  const auto file = directory.path() / "kernel.json";
  const auto error = [&](const std::string& content) {
    testing::write_text(file, content);
    const Result<LaunchText> text = with_launch_file({}, file);
    return text ? "" : text.error().message();
  };
  EXPECT_EQ(error("{"), file.string() + ": is no JSON object; see conformance/launch.schema.json");
  EXPECT_EQ(error("[]"), file.string() + ": is no JSON object; see conformance/launch.schema.json");
  EXPECT_NE(error(R"({"block": 4})").find("/block is no member of a launch description"), std::string::npos);
  EXPECT_NE(error(R"({"width_multiple": "8"})").find("/width_multiple is no number"), std::string::npos);
  EXPECT_NE(error(R"({"grid": [[1]]})").find("/grid is neither"), std::string::npos);
  EXPECT_NE(error(R"({"grid": {"x": 1}})").find("/grid is neither"), std::string::npos);
  std::filesystem::remove(file);
  EXPECT_NE(with_launch_file({}, file).error().message().find("cannot be read"), std::string::npos);
}

TEST(LaunchFile, OfTheExampleIsWhatTheSchemaAllows) {
  const std::filesystem::path source = BITPROOF_SOURCE;
  const auto read = [](const std::filesystem::path& file) {
    return nlohmann::json::parse(testing::read_text(file));
  };
  const auto schema = read(source / "conformance/launch.schema.json");
  EXPECT_EQ(testing::violation(schema, read(source / "examples/bias_gelu.json")), "");
  EXPECT_NE(testing::violation(schema, {{"block", 4}}), "");
  const Result<LaunchText> text = with_launch_file({}, source / "examples/bias_gelu.json");
  ASSERT_TRUE(text);
  EXPECT_EQ(error_of(*text), "");
}

// A case of `rows` x `width`, laid out as a harness's arena would be.
std::string why_not(const LaunchDescription& launch, std::uint64_t rows, std::uint64_t width,
                    const Layout& layout = {}) {
  Case c;
  c.rows = rows;
  c.width = width;
  c.layout = layout;
  static std::array<std::uint16_t, 128> arena;  // its address matters, and nothing is read
  auto* const base =
      reinterpret_cast<std::uint16_t*>((reinterpret_cast<std::uintptr_t>(arena.data()) + 255) / 256 * 256);
  const Tensors tensors(place(c, true), true, base, reference::Dtype::bf16, DLDevice{kDLCUDA, 0});
  return can_launch(launch, tensors).reason;
}

TEST(LaunchPredicate, GivesTheKernelTheTensorsThatItServes) {
  EXPECT_EQ(why_not(launch_of({}), 3, 7), "");
  EXPECT_EQ(why_not(launch_of({.width_multiple = 8}), 3, 7), "width 7 is not a multiple of 8");
  EXPECT_EQ(why_not(launch_of({.alignment_bytes = 16}), 3, 8, {.bias_offset = 4}),
            "bias is not aligned to 16 bytes");
  EXPECT_EQ(why_not(launch_of({.alignment_bytes = 16}), 3, 8, {.bias_offset = 8}), "");
  EXPECT_EQ(why_not(launch_of({}), 3, 8, {.row_gap = 8}),
            "input is not contiguous, and the kernel is not given its stride");
  EXPECT_EQ(why_not(launch_of({.arguments = "input,bias,output,rows,width,input_stride,output_stride"}), 3, 8,
                    {.row_gap = 8}),
            "");
  EXPECT_EQ(why_not(launch_of({.grid = "width/256,rows"}), 65535, 8), "");
  EXPECT_EQ(why_not(launch_of({.grid = "width/256,rows"}), 65536, 8),
            "its grid would have 65536 blocks along y; CUDA allows 65535");
}

}  // namespace
}  // namespace bitproof::conformance
