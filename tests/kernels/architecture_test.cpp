#include "kernels/architecture.h"

#include <algorithm>
#include <string>

#include <gtest/gtest.h>

namespace bitproof::kernels {
namespace {

TEST(ArchitectureTable, IsAscendingAndNamedAfterTheCapability) {
  EXPECT_TRUE(std::ranges::is_sorted(kArchitectures, {}, &ArchitectureTraits::compute_capability));
  for (const ArchitectureTraits& traits : kArchitectures)
    EXPECT_EQ(traits.name, "sm_" + std::to_string(traits.compute_capability));
}

TEST(ArchitectureTable, HasEveryArchitectureThatIsCompiledFor) {
  for (const int capability : {80, 86, 89, 90, 100, 103, 120})
    EXPECT_EQ(traits_for(capability).compute_capability, capability);
  EXPECT_EQ(kArchitectures.size(), 7u);
}

TEST(ArchitectureTable, VectorsHave16BytesBefore100And32BytesFromThere) {
  for (int capability = 80; capability <= 121; ++capability)
    EXPECT_EQ(traits_for(capability).vector_bytes, capability < 100 ? 16 : 32) << capability;
}

TEST(ArchitectureTable, DependentLaunchExistsFrom90On) {
  for (int capability = 80; capability <= 121; ++capability)
    EXPECT_EQ(traits_for(capability).programmatic_dependent_launch, capability >= 90) << capability;
}

TEST(ArchitectureTable, ACapabilityBetweenTwoRowsIsTheLowerOne) {
  EXPECT_EQ(traits_for(87).name, "sm_86");
  EXPECT_EQ(traits_for(101).name, "sm_100");
  EXPECT_EQ(traits_for(110).name, "sm_103");
  EXPECT_EQ(traits_for(121).name, "sm_120");
  EXPECT_EQ(traits_for(75).name, "sm_80") << "below the first row there is no other";
}

TEST(ArchitectureTable, IsFoundByExactName) {
  for (const ArchitectureTraits& traits : kArchitectures)
    EXPECT_EQ(find_architecture(traits.name)->compute_capability, traits.compute_capability);
  for (const char* const unknown : {"sm_70", "sm_9", "sm_900", "90", "SM_90", "x86_64", ""})
    EXPECT_FALSE(find_architecture(unknown)) << unknown;
}

}  // namespace
}  // namespace bitproof::kernels
