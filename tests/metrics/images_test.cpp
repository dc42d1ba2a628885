// Pictures: depth and alpha as stored, floats that are not finite, animations that must not be cut to one
// picture.
#include <algorithm>
#include <cmath>
#include <limits>

#include <gtest/gtest.h>
#include <opencv2/imgcodecs.hpp>

#include "tests/metrics/support/clip.h"
#include "tests/metrics/support/files.h"
#include "tests/metrics/support/process.h"

namespace bitproof::metrics::test {
namespace {

class Images : public testing::Test {
 protected:
  std::filesystem::path write(std::string_view name, const cv::Mat& image) {
    const std::filesystem::path file = folder_ / name;
    EXPECT_TRUE(cv::imwrite(file.string(), image));
    return file;
  }
  TemporaryDirectory folder_;
};

TEST_F(Images, AlphaIsKept) {
  cv::Mat image(16, 16, CV_8UC4, cv::Scalar(10, 20, 30, 200));
  const auto a = write("a.png", image);
  image.at<cv::Vec4b>(3, 5)[3] = 203;
  const Outcome outcome = compare_files(a, write("b.png", image));
  EXPECT_EQ(outcome.squared_error, 9U);
  ASSERT_TRUE(outcome.first_difference);
  EXPECT_EQ(outcome.first_difference->plane, 'a');
}

TEST_F(Images, SixteenBitsAreKept) {
  cv::Mat image(16, 16, CV_16UC3, cv::Scalar(1000, 2000, 3000));
  const auto a = write("a.png", image);
  image.at<cv::Vec3w>(0, 0)[2] = 3001;  // red
  const Outcome outcome = compare_files(a, write("b.png", image));
  EXPECT_EQ(outcome.squared_error, 1U);
  EXPECT_EQ(outcome.first_difference->plane, 'r');
  EXPECT_EQ(outcome.formats[0]->planes[0].depth, 16);
}

TEST_F(Images, AlphaAgainstNoneIsAMismatch) {
  const Outcome outcome = compare_files(write("a.png", cv::Mat(16, 16, CV_8UC4, cv::Scalar::all(9))),
                                        write("b.png", cv::Mat(16, 16, CV_8UC3, cv::Scalar::all(9))));
  EXPECT_TRUE(has_failure(outcome, FailureKind::mismatch));
  EXPECT_NE(failure_text(outcome).find("channels differ: A has rgba (rgba), B has rgb (rgb24)"),
            std::string::npos)
      << failure_text(outcome);
}

TEST_F(Images, FloatsAreMeasuredAndSsimOfIntegersIsNotApplicable) {
  cv::Mat image(16, 16, CV_32FC1, cv::Scalar(0.5));
  const auto a = write("a.tiff", image);
  image.at<float>(2, 2) = 0.75F;
  const Outcome outcome = compare_files(a, write("b.tiff", image));
  EXPECT_EQ(outcome.exit_status(), 0) << failure_text(outcome);
  EXPECT_FALSE(outcome.squared_error);
  // One error of 0.25 among 256 samples, peak 1: MSE = 2^-12.
  EXPECT_DOUBLE_EQ(*score_of(outcome, "psnr", "average").value, 10 * std::log10(4096.0));
  EXPECT_FALSE(score_of(outcome, "ssim", "all").value);
}

TEST_F(Images, NotFiniteFloatsAreCountedAndFail) {
  cv::Mat image(16, 16, CV_32FC1, cv::Scalar(0.5));
  const auto a = write("a.tiff", image);
  image.at<float>(2, 2) = std::numeric_limits<float>::quiet_NaN();
  image.at<float>(2, 3) = std::numeric_limits<float>::infinity();
  const Outcome outcome = compare_files(a, write("b.tiff", image));
  EXPECT_TRUE(has_failure(outcome, FailureKind::not_finite));
  EXPECT_EQ(outcome.exit_status(), 1);
  EXPECT_NE(failure_text(outcome).find("0 samples of A and 2 of B are NaN or infinite, first in frame 0"),
            std::string::npos)
      << failure_text(outcome);
}

TEST_F(Images, FoldersAreOrderedByNumberNotByName) {
  for (const char* side : {"a", "b"}) std::filesystem::create_directory(folder_ / side);
  for (int number = 1; number <= 11; ++number) {
    const cv::Mat image(16, 16, CV_8UC1, cv::Scalar(number));
    write("a/frame" + std::to_string(number) + ".png", image);  // frame10 sorts before frame2
    write("b/" + std::to_string(1000 + number) + ".png", image);
  }
  const Outcome outcome = compare_files(folder_ / "a", folder_ / "b");
  EXPECT_TRUE(outcome.identical()) << failure_text(outcome);
  EXPECT_EQ(outcome.compared, 11U);
  ASSERT_FALSE(outcome.metadata_differences.empty());
  EXPECT_EQ(outcome.metadata_differences[0].name, "image numbers");
}

TEST_F(Images, AGapInTheNumbersIsSaid) {
  const cv::Mat image(16, 16, CV_8UC1, cv::Scalar(1));
  std::filesystem::create_directory(folder_ / "a");
  write("a/1.png", image);
  write("a/3.png", image);
  const Outcome outcome = compare_files(folder_ / "a", folder_ / "a");
  ASSERT_FALSE(outcome.warnings.empty());
  EXPECT_NE(outcome.warnings[0].find("2 images carry the numbers 1 to 3"), std::string::npos);
}

TEST_F(Images, ADamagedPictureOfAFolderNamesTheFrame) {
  std::filesystem::create_directory(folder_ / "a");
  write("a/1.png", cv::Mat(16, 16, CV_8UC1, cv::Scalar(1)));
  write_file(folder_ / "a/2.png", "not a picture");
  const Outcome outcome = compare_files(folder_ / "a", folder_ / "a");
  EXPECT_TRUE(has_failure(outcome, FailureKind::decode));
  EXPECT_NE(failure_text(outcome).find("2.png: frame 1: "), std::string::npos) << failure_text(outcome);
  EXPECT_EQ(outcome.exit_status(), 1);
}

TEST_F(Images, EveryPictureOfAnAnimationIsCompared) {
  for (const char* name : {"a.gif", "a.apng"}) {
    ffmpeg({"-v", "error", "-f", "lavfi", "-i", "testsrc2=size=32x32:rate=5", "-frames:v", "4",
            (folder_ / name).string()});
    EXPECT_EQ(compare_files(folder_ / name, folder_ / name).compared, 4U) << name;
  }
  std::filesystem::rename(folder_ / "a.apng", folder_ / "a.png");
  EXPECT_EQ(compare_files(folder_ / "a.png", folder_ / "a.png").compared, 4U);
}

TEST_F(Images, SeveralPagesAreRefusedRatherThanCutToOne) {
  const std::vector<cv::Mat> pages(3, cv::Mat(16, 16, CV_8UC1, cv::Scalar(1)));
  ASSERT_TRUE(cv::imwrite((folder_ / "a.tiff").string(), pages));
  const Outcome outcome = compare_files(folder_ / "a.tiff", folder_ / "a.tiff");
  EXPECT_EQ(outcome.exit_status(), 2);
  EXPECT_NE(failure_text(outcome).find("holds 3 pages"), std::string::npos) << failure_text(outcome);
}

TEST_F(Images, SeveralPicturesInAFileOfAFolderAreRefusedToo) {
  const std::vector<cv::Mat> pages(3, cv::Mat(16, 16, CV_8UC1, cv::Scalar(1)));
  std::filesystem::create_directory(folder_ / "pages");
  ASSERT_TRUE(cv::imwrite((folder_ / "pages/1.tiff").string(), pages));
  const Outcome refused = compare_files(folder_ / "pages", folder_ / "pages");
  EXPECT_EQ(refused.exit_status(), 2);
  EXPECT_NE(failure_text(refused).find("1.tiff: frame 0: holds 3 pages"), std::string::npos)
      << failure_text(refused);

  std::filesystem::create_directory(folder_ / "animations");
  write("animations/1.png", pages[0]);
  ffmpeg({"-v", "error", "-f", "lavfi", "-i", "testsrc2=size=16x16:rate=5", "-frames:v", "2", "-f", "apng",
          (folder_ / "animations/2.png").string()});
  const Outcome broken = compare_files(folder_ / "animations", folder_ / "animations");
  EXPECT_EQ(broken.exit_status(), 1);
  EXPECT_EQ(broken.compared, 1U);
  EXPECT_NE(failure_text(broken).find("2.png: frame 1: is an animation"), std::string::npos)
      << failure_text(broken);
}

TEST_F(Images, APaletteReadsAsTheColoursOfItsEntries) {
  // FFmpeg's conversion from a palette to RGBA looks the entries up and changes none.
  ffmpeg({"-v", "error", "-i", fixture("clips/rgb_a.png").string(), "-lavfi",
          "split[a][b];[a]palettegen=max_colors=64[p];[b][p]paletteuse", "-pix_fmt", "pal8", "-c:v", "rawvideo",
          (folder_ / "a.nut").string()});
  ffmpeg({"-v", "error", "-i", (folder_ / "a.nut").string(), "-pix_fmt", "rgba", "-c:v", "rawvideo",
          (folder_ / "b.nut").string()});
  const Outcome outcome = compare_files(folder_ / "a.nut", folder_ / "b.nut");
  EXPECT_TRUE(outcome.identical()) << failure_text(outcome);
  EXPECT_EQ(outcome.formats[0]->pixel_format, "pal8");
}

TEST_F(Images, PlanesOfDifferentDepthsWeighAlikeInPsnr) {
  // rgb565: red has 5 bits, green 6. Every red sample is off by one of 31, nothing else differs: the mean
  // squared error is 1/3 of one red step.
  write_file(folder_ / "a.raw", std::string(2 * 16 * 16, '\0'));
  std::string red;
  for (int i = 0; i < 16 * 16; ++i) red += std::string("\0\x08", 2);
  write_file(folder_ / "b.raw", red);
  Request request = request_for(folder_ / "a.raw", folder_ / "b.raw");
  request.raw[0] = request.raw[1] = *parse_raw_format("16x16:rgb565le");
  const Outcome outcome = compare(request, {});
  EXPECT_DOUBLE_EQ(*score_of(outcome, "psnr", "r").value, 10 * std::log10(31.0 * 31));
  EXPECT_DOUBLE_EQ(*score_of(outcome, "psnr", "average").value, 10 * std::log10(31.0 * 31 * 3));
  EXPECT_NE(std::find(outcome.warnings.begin(), outcome.warnings.end(),
                      "PSNR: plane r: its peak is 31; `average` takes in its errors scaled up to 63"),
            outcome.warnings.end());
}

TEST_F(Images, APictureAgainstAFrameOfAVideoOfTheSameLayout) {
  const auto picture = fixture("clips/rgb_a.png");
  ffmpeg({"-v", "error", "-i", picture.string(), "-c:v", "ffv1", "-pix_fmt", "gbrp",
          (folder_ / "b.mkv").string()});
  const Outcome outcome = compare_files(picture, folder_ / "b.mkv");
  EXPECT_TRUE(outcome.identical()) << failure_text(outcome);
}

}  // namespace
}  // namespace bitproof::metrics::test
