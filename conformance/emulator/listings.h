// Where the machine code to emulate comes from: the listings that the build made of the cubins whose hashes are
// the machine-code keys. They lie beside the executable, so that they travel with it; nothing is disassembled
// at run time.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "conformance/emulator/listing.h"
#include "conformance/report/result.h"

namespace bitproof::conformance::emulator {

// Why the listing of `implementation` ("cuda.fused") for `architecture` cannot be had, with the remedy; empty
// if it can.
std::string listing_unavailable(std::string_view implementation, std::string_view architecture);

// The listing, taken apart, once per process. Throws Unsupported if it is missing or is not the one that the
// build made.
std::shared_ptr<const Listing> find_listing(std::string_view implementation, std::string_view architecture);

// `text`, taken apart, if it is the listing of `architecture` that the build made. Throws Unsupported with the
// name of its file and the remedy if it is stale, truncated or another one.
Listing verified_listing(std::string_view text, std::string_view sha256, std::string_view architecture,
                         const std::filesystem::path& file);

// "build/release/bin/listings", of the running executable.
std::filesystem::path listings_directory();

}  // namespace bitproof::conformance::emulator
