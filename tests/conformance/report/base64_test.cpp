#include "conformance/report/base64.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace bitproof::conformance {
namespace {

std::vector<std::uint8_t> bytes(std::string_view text) { return {text.begin(), text.end()}; }

TEST(Base64, GivesTheVectorsOfRfc4648) {
  // RFC 4648, section 10.
  EXPECT_EQ(to_base64(bytes("")), "");
  EXPECT_EQ(to_base64(bytes("f")), "Zg==");
  EXPECT_EQ(to_base64(bytes("fo")), "Zm8=");
  EXPECT_EQ(to_base64(bytes("foo")), "Zm9v");
  EXPECT_EQ(to_base64(bytes("foobar")), "Zm9vYmFy");
}

TEST(Base64, RefusesWhatIsNotItsOwnOutput) {
  // Length, alphabet, padding in the middle, white space, and set bits under the padding ("Zh==" is "f" and a
  // stray bit).
  for (const char* text : {"Zg", "Zg=", "Zg=*", "Z===", "====", "Zg==Zg==", " Zg=", "Zg==\n", "Zh=="})
    EXPECT_EQ(from_base64(text), std::nullopt) << text;
}

RC_GTEST_PROP(Base64, RoundTripsAnyBytes, (const std::vector<std::uint8_t>& any)) {
  RC_ASSERT(from_base64(to_base64(any)) == any);
}

}  // namespace
}  // namespace bitproof::conformance
