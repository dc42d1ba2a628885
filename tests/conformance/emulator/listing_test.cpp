// The text of nvdisasm, taken apart.
#include "conformance/emulator/listing.h"

#include <string>

#include <gtest/gtest.h>

#include "conformance/emulator/fault.h"
#include "conformance/emulator/listings.h"
#include "conformance/report/sha256.h"

namespace bitproof::conformance::emulator {
namespace {

const std::string kListing = R"(	.target	sm_90

//--------------------- .text.first --------------------------
	.section	.text.first,"ax",@progbits
	.sectioninfo	@"SHI_REGISTERS=16"
        .size           first,(.L_x_2 - first)
first:
.text.first:
        /*0000*/                   LDC R1, c[0x0][0x28] ;
.L_x_0:
        /*0010*/              @!P0 FFMA R4, |R5|.reuse, -R6, 0.5 ;
        /*0020*/                   LDG.E.128 R12, desc[UR10][R4.64+0x10] ;
        /*0030*/                   RET.REL.NODEC R10 `(first) ;
	.section	.nv.info,"",@progbits
        /*0040*/                   NOT AN INSTRUCTION ;
	.section	.text.second,"ax",@progbits
second:
        /*0000*/                   EXIT ;
)";

TEST(Listing, HasTheSectionsOfCodeAndNoOthers) {
  const Listing listing = parse_listing(kListing);
  EXPECT_EQ(listing.architecture, "sm_90");
  ASSERT_EQ(listing.sections.size(), 2u);
  EXPECT_EQ(listing.sections[0].name, "first");
  EXPECT_EQ(listing.sections[0].lines.size(), 4u);
  EXPECT_EQ(listing.sections[1].name, "second");
}

TEST(Listing, TakesALineApartAndDropsReuseHints) {
  const Listing listing = parse_listing(kListing);
  const Line& line = listing.sections[0].lines[1];
  EXPECT_EQ(line.address, 0x10u);
  EXPECT_EQ(line.guard, "@!P0");
  EXPECT_EQ(line.mnemonic, "FFMA");
  EXPECT_EQ(line.operands, (std::vector<std::string>{"R4", "|R5|", "-R6", "0.5"}));
  EXPECT_EQ(line.text, "@!P0 FFMA R4, |R5|, -R6, 0.5");
}

TEST(Listing, KeepsAnAddressOneOperand) {
  const Listing listing = parse_listing(kListing);
  EXPECT_EQ(listing.sections[0].lines[2].operands, (std::vector<std::string>{"R12", "desc[UR10][R4.64+0x10]"}));
}

TEST(Listing, SeparatesTheRegisterOfAReturnFromItsFunction) {
  const Listing listing = parse_listing(kListing);
  EXPECT_EQ(listing.sections[0].lines[3].operands, (std::vector<std::string>{"R10", "`(first)"}));
}

TEST(Listing, LabelsAreAddressesOfTheirSection) {
  const Listing listing = parse_listing(kListing);
  EXPECT_EQ(listing.sections[0].labels.at(".L_x_0"), 0x10u);
  EXPECT_EQ(listing.sections[0].labels.at("first"), 0u);
}

TEST(Listing, RefusesWhatIsNoListing) {
  EXPECT_THROW(parse_listing(""), Unsupported);
  EXPECT_THROW(parse_listing("nvdisasm fatal: cannot open"), Unsupported);
  EXPECT_THROW(parse_listing("\t.target sm_90\n\t.section\t.text.f,\"ax\"\n /*00zz*/ EXIT ;\n"), Unsupported);
}

// "0.53" cut to "0.5" would be another number.
TEST(Listing, RefusesALineThatIsCutOff) {
  EXPECT_THROW(parse_listing("\t.target sm_90\n\t.section\t.text.f,\"ax\"\n /*0000*/ FADD R0, R1, 0.5"),
               Unsupported);
}

std::string why_not(std::string_view text, std::string_view sha256, std::string_view architecture) {
  try {
    return "none: " + verified_listing(text, sha256, architecture, "listings/f.sass").architecture;
  } catch (const Unsupported& unsupported) {
    return unsupported.what();
  }
}

TEST(Listing, IsTakenOnlyAsTheBuildMadeIt) {
  const std::string built = sha256_hex(kListing);
  EXPECT_EQ(why_not(kListing, built, "sm_90"), "none: sm_90");
  const char* other = "listings/f.sass is not the listing that this executable was built with; build again";
  EXPECT_EQ(why_not(kListing.substr(0, kListing.size() - 1), built, "sm_90"), other);
  EXPECT_EQ(why_not(kListing + "\n", built, "sm_90"), other);
  EXPECT_EQ(why_not("", built, "sm_90"), other);
  EXPECT_EQ(why_not(kListing, built, "sm_100"),
            "listings/f.sass is machine code for sm_90, not for sm_100; build again");
}

TEST(Listing, FindsOneKernelByThePartsOfItsName) {
  const Listing listing = parse_listing(kListing);
  EXPECT_EQ(find_section(listing, {"sec", "ond"}).name, "second");
  EXPECT_THROW(find_section(listing, {"third"}), Unsupported);
  EXPECT_THROW(find_section(listing, {""}), Unsupported);  // several
}

}  // namespace
}  // namespace bitproof::conformance::emulator
