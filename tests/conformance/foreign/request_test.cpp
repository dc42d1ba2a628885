// What a check of somebody else's kernel may be asked for.
#include "conformance/foreign/request.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace bitproof::conformance {
namespace {

ForeignRequestText text(const std::string& op) {
  ForeignRequestText request;
  request.op = op;
  request.dtype = "bf16";
  return request;
}

std::string error_of(const ForeignRequestText& request) {
  const Result<ForeignRequest> parsed = parse_foreign_request(request, "--");
  return parsed ? "" : parsed.error().message();
}

TEST(ForeignRequest, HasTheDefaultsOfAQuickCheck) {
  const Result<ForeignRequest> request = parse_foreign_request(text("silu"), "--");
  ASSERT_TRUE(request);
  EXPECT_EQ(request->elementwise->activation, reference::Activation::silu);
  EXPECT_EQ(request->domains, (std::vector<std::string>{"values", "boundary", "random"}));
  EXPECT_EQ(request->profile.name, "pytorch-2.11-cuda");
  EXPECT_EQ(request->equality, "bitwise");
}

TEST(ForeignRequest, OfALinearLayerIsForEitherPath) {
  ForeignRequestText request = text("linear_gelu_tanh");
  const Result<ForeignRequest> eager = parse_foreign_request(request, "--");
  ASSERT_TRUE(eager);
  EXPECT_FALSE(eager->elementwise || eager->epilogue);
  request.profile = "cublaslt-13-gelu-epilogue";
  const Result<ForeignRequest> epilogue = parse_foreign_request(request, "--");
  ASSERT_TRUE(epilogue);
  EXPECT_TRUE(epilogue->epilogue);
  request.domains = "pairs";
  EXPECT_EQ(
      error_of(request),
      "--domain pairs: is no domain of linear_gelu_tanh; use one or more of values, boundary, random, layout, "
      "production, separated by commas");
}

TEST(ForeignRequest, TakesADomainOnceHoweverOftenItIsNamed) {
  ForeignRequestText request = text("bias_gelu_tanh");
  request.domains = "pairs,values,pairs";
  const Result<ForeignRequest> parsed = parse_foreign_request(request, "--");
  ASSERT_TRUE(parsed);
  EXPECT_EQ(parsed->domains, (std::vector<std::string>{"pairs", "values"}));
}

TEST(ForeignRequest, NamesWhatItDoesNotKnow) {
  EXPECT_EQ(error_of(text("relu")),
            "--op relu: is no operator with a contract; use one of bias_gelu_tanh, gelu_tanh, gelu_erf, silu, "
            "linear_gelu_tanh");
  ForeignRequestText request = text("gelu_erf");
  request.dtype = "fp8";
  EXPECT_EQ(error_of(request), "--dtype fp8: is no dtype of this operator; use bf16 or fp16");
  request = text("gelu_erf");
  request.domains = "values,pairs";
  EXPECT_EQ(
      error_of(request),
      "--domain pairs: is no domain of gelu_erf; use one or more of values, boundary, random, production, "
      "layout, separated by commas");
  request = text("gelu_erf");
  request.domains = "";
  EXPECT_NE(error_of(request), "");
  request = text("gelu_erf");
  request.profile = "numpy";
  EXPECT_EQ(error_of(request),
            "--profile numpy: is no profile of gelu_erf; use pytorch-2.11-cuda or "
            "pytorch-2.11-cuda+limit-at-negative-infinity");
  request.profile = "cublaslt-13-gelu-epilogue";
  EXPECT_NE(error_of(request), "") << "that is what linear layers can be held to";
}

TEST(ForeignRequest, TakesBitwiseAndUlpsAndNoOtherEquality) {
  for (const std::string good : {"bitwise", "ulp<=0", "ulp<=12"}) {
    ForeignRequestText request = text("silu");
    request.equality = good;
    EXPECT_EQ(error_of(request), "") << good;
  }
  for (const std::string bad : {"", "ulp", "ulp<=", "ulp<=-1", "ulp<=1.5", "ulp<=1000000", "close"}) {
    ForeignRequestText request = text("silu");
    request.equality = bad;
    EXPECT_NE(error_of(request).find("is no equality; use bitwise, or ulp<=N"), std::string::npos) << bad;
  }
}

TEST(Contracts, AreDataThatSayWhatAKernelCanBeCheckedWith) {
  const auto contracts = nlohmann::json::parse(contracts_json());
  ASSERT_EQ(contracts.size(), 5u);
  for (const auto& contract : contracts) {
    ForeignRequestText request = text(contract.at("operator"));
    for (const std::string domain : contract.at("domains")) {
      request.domains = domain;
      EXPECT_EQ(error_of(request), "");
    }
    EXPECT_EQ(contract.at("dtypes"), (nlohmann::json{"bf16", "fp16"}));
    EXPECT_EQ(contract.at("equality"), "bitwise");
  }
  EXPECT_EQ(contracts.at(0).at("inputs"), (nlohmann::json{"input", "bias"}));
  EXPECT_EQ(contracts.at(3).at("inputs"), nlohmann::json::array({"input"}));
  EXPECT_EQ(contracts.at(4).at("inputs"), (nlohmann::json{"x", "weight", "bias"}));
  EXPECT_EQ(contracts.at(4).at("profiles").back(), "cublaslt-13-gelu-epilogue");
}

}  // namespace
}  // namespace bitproof::conformance
