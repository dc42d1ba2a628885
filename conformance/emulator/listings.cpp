#include "conformance/emulator/listings.h"

#include <fstream>
#include <iterator>
#include <map>
#include <mutex>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "conformance/emulator/fault.h"
#include "conformance/report/sha256.h"

namespace bitproof::conformance::emulator {
namespace {

struct BuiltListing {
  std::string_view implementation, architecture, file, sha256;
};

// Written by the build (conformance/emulator/listing_table.cmake); empty without nvdisasm.
const std::vector<BuiltListing>& built_listings() {
  static const std::vector<BuiltListing> listings{
#include "conformance/emulator_listings.inc"
  };
  return listings;
}

const BuiltListing* find(std::string_view implementation, std::string_view architecture) {
  for (const BuiltListing& listing : built_listings())
    if (listing.implementation == implementation && listing.architecture == architecture) return &listing;
  return nullptr;
}

std::string missing(const std::filesystem::path& file) {
  return fmt::format("no machine code: {} is missing; carry the folder \"listings\" beside the executable",
                     file.string());
}

std::shared_ptr<const Listing> load(const BuiltListing& built) {
  const std::filesystem::path file = listings_directory() / built.file;
  std::ifstream stream(file, std::ios::binary);
  if (!stream) throw Unsupported(missing(file));
  const std::string text{std::istreambuf_iterator<char>(stream), {}};
  return std::make_shared<const Listing>(verified_listing(text, built.sha256, built.architecture, file));
}

}  // namespace

Listing verified_listing(std::string_view text, std::string_view sha256, std::string_view architecture,
                         const std::filesystem::path& file) {
  if (sha256_hex(text) != sha256)
    throw Unsupported(file.string() + " is not the listing that this executable was built with; build again");
  Listing listing = parse_listing(text);
  if (listing.architecture != architecture)
    throw Unsupported(fmt::format("{} is machine code for {}, not for {}; build again", file.string(),
                                  listing.architecture, architecture));
  return listing;
}

std::filesystem::path listings_directory() {
  std::error_code error;
  return std::filesystem::read_symlink("/proc/self/exe", error).parent_path() / "listings";
}

std::string listing_unavailable(std::string_view implementation, std::string_view architecture) {
  if (built_listings().empty())
    return "no machine code: nvdisasm of CUDA 13 was missing when this was built; build with ./bitproof, which "
           "installs it, or put the CUDA toolkit's on PATH, run cmake and build again";
  const BuiltListing* const built = find(implementation, architecture);
  if (built == nullptr)
    return fmt::format("this build has no machine code of {} for {}", implementation, architecture);
  std::error_code error;
  const std::filesystem::path file = listings_directory() / built->file;
  return std::filesystem::is_regular_file(file, error) ? "" : missing(file);
}

std::shared_ptr<const Listing> find_listing(std::string_view implementation, std::string_view architecture) {
  static std::mutex mutex;
  static std::map<std::pair<std::string, std::string>, std::shared_ptr<const Listing>> known;
  const BuiltListing* const built = find(implementation, architecture);
  if (built == nullptr) throw Unsupported(listing_unavailable(implementation, architecture));
  const std::lock_guard lock(mutex);
  std::shared_ptr<const Listing>& listing = known[{std::string(implementation), std::string(architecture)}];
  if (!listing) listing = load(*built);
  return listing;
}

}  // namespace bitproof::conformance::emulator
