#include "conformance/foreign/request.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "conformance/elementwise/domains.h"
#include "conformance/linear/domains.h"
#include "conformance/linear/plan.h"
#include "conformance/report/json_writer.h"
#include "reference/linear/gelu_epilogue.h"

namespace bitproof::conformance {
namespace {

constexpr std::array<std::string_view, 6> kDomains{"values",     "boundary", "random",
                                                   "production", "layout",   "pairs"};
constexpr std::array kDtypes{reference::Dtype::bf16, reference::Dtype::fp16};

// An operator, what its kernels are given, and whose bits they can be held to.
struct Signature {
  std::string_view op;
  std::vector<std::string_view> inputs, profiles;
};

std::vector<Signature> signatures() {
  std::vector<std::string_view> eager;
  for (const reference::Profile& profile : reference::profiles()) eager.push_back(profile.name);
  std::vector<Signature> all;
  const auto add = [&](const ElementwiseOperator& op) {
    all.push_back({op.name, {"input"}, eager});
    if (op.has_bias) all.back().inputs.emplace_back("bias");
  };
  for (const ElementwiseOperator& op : kElementwiseOperators) add(op);
  for (const ElementwiseOperator& op : kContractOnlyOperators) add(op);
  all.push_back({kLinearGeluTanh, {"x", "weight", "bias"}, eager});
  all.back().profiles.push_back(reference::kGeluEpilogueProfile);
  return all;
}

std::optional<Signature> find_signature(std::string_view op) {
  const std::vector<Signature> all = signatures();
  const auto found = std::ranges::find(all, op, &Signature::op);
  return found == all.end() ? std::nullopt : std::optional(*found);
}

std::string operator_names() {
  std::vector<std::string_view> names;
  for (const Signature& each : signatures()) names.push_back(each.op);
  return fmt::format("{}", fmt::join(names, ", "));
}

bool is_equality(std::string_view text) {
  constexpr std::string_view kUlp = "ulp<=";
  if (text == "bitwise") return true;
  const std::string_view digits = text.substr(std::min(kUlp.size(), text.size()));
  return text.starts_with(kUlp) && !digits.empty() && digits.size() <= 5 &&
         digits.find_first_not_of("0123456789") == std::string_view::npos;
}

// Parts between commas, each once.
std::vector<std::string> split(std::string_view text) {
  std::vector<std::string> parts;
  while (true) {
    const std::size_t comma = text.find(',');
    const std::string part(text.substr(0, comma));
    if (std::ranges::find(parts, part) == parts.end()) parts.push_back(part);
    if (comma == std::string_view::npos) return parts;
    text.remove_prefix(comma + 1);
  }
}

// A JSON array of strings.
template <class Names>
std::string array_of(const Names& names) {
  std::string out = "[";
  for (const auto& name : names) {
    if (out.size() > 1) out += ", ";
    append_quoted(out, name);
  }
  return out + "]";
}

}  // namespace

std::vector<std::string> domains_of(std::string_view name) {
  if (name == kLinearGeluTanh) return {kLinearDomains.begin(), kLinearDomains.end()};
  std::vector<std::string> names;
  const auto op = find_elementwise_operator(name);
  for (const std::string_view domain : kDomains)
    if (op && make_domain(domain, *op, reference::Dtype::bf16, Location::host, 1)) names.emplace_back(domain);
  return names;
}

Result<ForeignRequest> parse_foreign_request(const ForeignRequestText& text, std::string_view prefix) {
  const auto bad = [prefix](std::string_view member, std::string_view value, std::string what,
                            std::string remedy) {
    return Error{ErrorKind::bad_argument, std::move(what), fmt::format("{}{} {}", prefix, member, value),
                 std::move(remedy)};
  };
  const auto signature = find_signature(text.op);
  if (!signature) return bad("op", text.op, "is no operator with a contract", "use one of " + operator_names());
  const auto dtype = reference::parse_dtype(text.dtype);
  if (!dtype) return bad("dtype", text.dtype, "is no dtype of this operator", "use bf16 or fp16");
  if (std::ranges::find(signature->profiles, text.profile) == signature->profiles.end())
    return bad("profile", text.profile, fmt::format("is no profile of {}", text.op),
               fmt::format("use {}", fmt::join(signature->profiles, " or ")));
  if (!is_equality(text.equality))
    return bad("equality", text.equality, "is no equality", "use bitwise, or ulp<=N with a number");
  const std::vector<std::string> known = domains_of(text.op);
  std::vector<std::string> domains = split(text.domains);
  for (const std::string& domain : domains)
    if (std::ranges::find(known, domain) == known.end())
      return bad("domain", domain, fmt::format("is no domain of {}", text.op),
                 fmt::format("use one or more of {}, separated by commas", fmt::join(known, ", ")));
  // The epilogue has no eager profile of its own: its differences are explained against the first.
  return ForeignRequest{.op = text.op,
                        .elementwise = find_elementwise_operator(text.op),
                        .dtype = *dtype,
                        .domains = std::move(domains),
                        .profile = reference::find_profile(text.profile).value_or(reference::kPytorch211Cuda),
                        .epilogue = text.profile == reference::kGeluEpilogueProfile,
                        .equality = text.equality,
                        .seed = text.seed};
}

std::string contracts_json() {
  std::vector<std::string_view> dtypes;
  for (const reference::Dtype dtype : kDtypes) dtypes.push_back(reference::name(dtype));
  std::string out = "[";
  for (const Signature& each : signatures()) {
    if (out.size() > 1) out += ",\n ";
    JsonWriter json(out);
    json.text("operator", each.op);
    json.json("inputs", array_of(each.inputs));
    json.json("dtypes", array_of(dtypes));
    json.json("profiles", array_of(each.profiles));
    json.text("equality", "bitwise");
    json.json("domains", array_of(domains_of(each.op)));
    json.end();
  }
  return out + "]";
}

}  // namespace bitproof::conformance
