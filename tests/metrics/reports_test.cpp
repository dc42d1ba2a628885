#include <cmath>
#include <limits>
#include <sstream>
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "metrics/report/base64.h"
#include "metrics/report/csv.h"
#include "metrics/report/curve.h"
#include "metrics/report/html.h"
#include "metrics/report/json.h"
#include "metrics/report/text.h"
#include "tests/metrics/support/clip.h"
#include "tests/metrics/support/files.h"

namespace bitproof::metrics::test {
namespace {

template <class Report>
std::string report_of(const Request& request) {
  std::ostringstream out;
  Report report(out);
  Observer* observers[] = {&report};
  compare(request, observers);
  return out.str();
}

Request mixed_request(const TemporaryDirectory& folder) {
  // Of three frames the second is identical: numbers, infinity and counts in one report.
  const Clip a = make_clip(small_shape(), 3, 1, 3);
  Clip b = make_clip(small_shape(), 3, 2, 3);
  b[1] = a[1];
  write_clip(folder / "a.y4m", small_shape(), a);
  write_clip(folder / "b & <b>.y4m", small_shape(), b);
  return request_for(folder / "a.y4m", folder / "b & <b>.y4m");
}

TEST(JsonReports, InfinityIsNullWithItsReasonAndIdentical) {
  const TemporaryDirectory folder;
  const std::string text = report_of<JsonReport>(mixed_request(folder));
  for (const char* forbidden : {"Infinity", "NaN", "inf,", "nan"})
    EXPECT_EQ(text.find(forbidden), std::string::npos);
  const auto report = nlohmann::json::parse(text);
  const auto& identical = report.at("per_frame").at(1);
  EXPECT_EQ(identical.at("identical"), true);
  EXPECT_EQ(identical.at("squared_error"), 0);
  EXPECT_TRUE(identical.at("psnr").at("average").is_null());
  EXPECT_EQ(identical.at("psnr").at("identical"), true);
  EXPECT_EQ(identical.at("psnr").at("average_reason"), "identical: infinite");
  EXPECT_EQ(identical.at("ssim").at("all"), 1);
  EXPECT_EQ(report.at("psnr").at("identical_frames"), 1);
  EXPECT_EQ(report.at("psnr").at("finite_frames"), 2);
  EXPECT_EQ(report.at("worst_frames").size(), 2U);
  EXPECT_EQ(report.at("identity").at("frame").at("equal"), 1);
}

TEST(JsonReports, NumbersReadBackToTheSameBits) {
  const TemporaryDirectory folder;
  const Request request = mixed_request(folder);
  const Outcome outcome = compare(request, {});
  const auto report = nlohmann::json::parse(report_of<JsonReport>(request));
  EXPECT_EQ(report.at("psnr").at("average").get<double>(), *score_of(outcome, "psnr", "average").value);
  EXPECT_EQ(report.at("ssim").at("one_minus_all").get<double>(), *score_of(outcome, "ssim", "all").one_minus);
}

TEST(JsonReports, NotApplicableIsNullWithItsReason) {
  const TemporaryDirectory folder;
  const Shape tiny{"gray", "mono", 7, 7, 1, 0, 0, 8};
  write_clip(folder / "a.y4m", tiny, make_clip(tiny, 1, 1, 3));
  write_clip(folder / "b.y4m", tiny, make_clip(tiny, 1, 2, 3));
  const auto report =
      nlohmann::json::parse(report_of<JsonReport>(request_for(folder / "a.y4m", folder / "b.y4m")));
  EXPECT_TRUE(report.at("ssim").at("all").is_null());
  EXPECT_EQ(report.at("ssim").at("identical"), false);
  EXPECT_NE(report.at("ssim").at("all_reason").get<std::string>().find("too few"), std::string::npos);
}

TEST(CsvReports, OneLinePerFrameUnderOneHeader) {
  const TemporaryDirectory folder;
  std::istringstream lines(report_of<CsvReport>(mixed_request(folder)));
  std::vector<std::string> rows;
  std::size_t comments = 0;
  for (std::string line; std::getline(lines, line);)
    line.starts_with("#") ? void(++comments) : rows.push_back(line);
  ASSERT_EQ(rows.size(), 4U);
  EXPECT_TRUE(rows[0].starts_with("frame_a,frame_b,identical,squared_error,"));
  for (const std::string& row : rows)
    EXPECT_EQ(std::count(row.begin(), row.end(), ','), std::count(rows[0].begin(), rows[0].end(), ','));
  EXPECT_TRUE(rows[2].starts_with("1,1,true,0,0,"));
  EXPECT_GE(comments, 2U);  // the definitions
}

TEST(HtmlReports, APageThatNeedsNothingElse) {
  const TemporaryDirectory folder;
  const std::string page = report_of<HtmlReport>(mixed_request(folder));
  for (const char* outside : {"http://", "https://", "<script", "<link", "url("})
    EXPECT_EQ(page.find(outside), std::string::npos) << outside;
  EXPECT_NE(page.find("b &amp; &lt;b&gt;.y4m"), std::string::npos);  // names are escaped
  EXPECT_EQ(page.find("<b>.y4m"), std::string::npos);
  EXPECT_NE(page.find("data:image/png;base64,"), std::string::npos);   // the difference
  EXPECT_NE(page.find("data:image/jpeg;base64,"), std::string::npos);  // the frames
  EXPECT_NE(page.find("PSNR = 10 log10(peak^2 / MSE)"), std::string::npos);
  // Pictures are base64, in which any three letters can stand together.
  std::string words = page;
  for (std::size_t at = 0; (at = words.find("base64,", at)) != std::string::npos; ++at)
    words.erase(at, words.find_first_of("\"')", at) - at);
  EXPECT_EQ(words.find("nan"), std::string::npos);
  EXPECT_TRUE(page.ends_with("</body></html>\n"));
}

TEST(Text, ASimilarityReadsOneOnlyWhenNothingDiffers) {
  const auto shown = [](double one_minus) {
    return show(Score{.key = "all", .value = 1 - one_minus, .one_minus = one_minus, .best = one_minus == 0});
  };
  EXPECT_EQ(shown(0), "1");
  EXPECT_EQ(shown(2e-12), "1 - 2.0e-12");
  EXPECT_EQ(shown(4e-6), "1 - 4.0e-06");
  EXPECT_EQ(shown(0.25), "0.750000");
}

TEST(Text, InfiniteAndNotApplicableAreWords) {
  EXPECT_EQ(show(Score{.key = "average", .reason = "identical: infinite", .best = true}), "infinite");
  EXPECT_EQ(show(Score{.key = "average", .reason = "not applicable"}), "n/a");
}

TEST(Base64, TheExamplesOfRfc4648) {
  const auto encoded = [](std::string_view text) {
    return base64(std::as_bytes(std::span(text.data(), text.size())));
  };
  EXPECT_EQ(encoded(""), "");
  EXPECT_EQ(encoded("f"), "Zg==");
  EXPECT_EQ(encoded("fo"), "Zm8=");
  EXPECT_EQ(encoded("foobar"), "Zm9vYmFy");
}

TEST(Curves, StayBoundedAndKeepEveryExtreme) {
  Curve curve;
  constexpr std::uint64_t kFrames = 100000, kOutlier = 77777;
  for (std::uint64_t frame = 0; frame < kFrames; ++frame)
    curve.add(frame, frame == kOutlier ? -5.0 : 40.0, false);
  const auto& buckets = curve.buckets();
  EXPECT_LE(buckets.size(), Curve::kMostBuckets);
  std::uint64_t next = 0;
  int outliers = 0;
  for (const CurveBucket& bucket : buckets) {
    EXPECT_EQ(bucket.first, next);  // no frame is lost
    next = bucket.last + 1;
    outliers += *bucket.least == -5.0;
    EXPECT_EQ(*bucket.greatest, 40.0);
  }
  EXPECT_EQ(next, kFrames);
  EXPECT_EQ(outliers, 1);
}

}  // namespace
}  // namespace bitproof::metrics::test
