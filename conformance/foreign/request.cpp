#include "conformance/foreign/request.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "conformance/elementwise/domains.h"
#include "conformance/report/json_writer.h"

namespace bitproof::conformance {
namespace {

constexpr std::array<std::string_view, 6> kDomains{"values",     "boundary", "random",
                                                   "production", "layout",   "pairs"};
constexpr std::array kDtypes{reference::Dtype::bf16, reference::Dtype::fp16};

std::vector<ElementwiseOperator> all_operators() {
  std::vector<ElementwiseOperator> operators(kElementwiseOperators.begin(), kElementwiseOperators.end());
  operators.insert(operators.end(), kContractOnlyOperators.begin(), kContractOnlyOperators.end());
  return operators;
}

std::string operator_names() {
  std::vector<std::string_view> names;
  for (const ElementwiseOperator& op : all_operators()) names.push_back(op.name);
  return fmt::format("{}", fmt::join(names, ", "));
}

std::string profile_names() {
  std::vector<std::string_view> names;
  for (const reference::Profile& profile : reference::profiles()) names.push_back(profile.name);
  return fmt::format("{}", fmt::join(names, " or "));
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

std::vector<std::string> domains_of(const ElementwiseOperator& op) {
  std::vector<std::string> names;
  for (const std::string_view domain : kDomains)
    if (make_domain(domain, op, reference::Dtype::bf16, Location::host, 1)) names.emplace_back(domain);
  return names;
}

Result<ForeignRequest> parse_foreign_request(const ForeignRequestText& text, std::string_view prefix) {
  const auto bad = [prefix](std::string_view member, std::string_view value, std::string what,
                            std::string remedy) {
    return Error{ErrorKind::bad_argument, std::move(what), fmt::format("{}{} {}", prefix, member, value),
                 std::move(remedy)};
  };
  const auto op = find_elementwise_operator(text.op);
  if (!op) return bad("op", text.op, "is no operator with a contract", "use one of " + operator_names());
  const auto dtype = reference::parse_dtype(text.dtype);
  if (!dtype) return bad("dtype", text.dtype, "is no dtype of this operator", "use bf16 or fp16");
  const auto profile = reference::find_profile(text.profile);
  if (!profile) return bad("profile", text.profile, "is no known profile", "use " + profile_names());
  if (!is_equality(text.equality))
    return bad("equality", text.equality, "is no equality", "use bitwise, or ulp<=N with a number");
  const std::vector<std::string> known = domains_of(*op);
  std::vector<std::string> domains = split(text.domains);
  for (const std::string& domain : domains)
    if (std::ranges::find(known, domain) == known.end())
      return bad("domain", domain, fmt::format("is no domain of {}", op->name),
                 fmt::format("use one or more of {}, separated by commas", fmt::join(known, ", ")));
  return ForeignRequest{*op, *dtype, std::move(domains), *profile, text.equality, text.seed};
}

std::string contracts_json() {
  std::vector<std::string_view> dtypes, profiles;
  for (const reference::Dtype dtype : kDtypes) dtypes.push_back(reference::name(dtype));
  for (const reference::Profile& profile : reference::profiles()) profiles.push_back(profile.name);
  std::string out = "[";
  for (const ElementwiseOperator& op : all_operators()) {
    if (out.size() > 1) out += ",\n ";
    JsonWriter json(out);
    json.text("operator", op.name);
    std::vector<std::string_view> inputs{"input"};
    if (op.has_bias) inputs.push_back("bias");
    json.json("inputs", array_of(inputs));
    json.json("dtypes", array_of(dtypes));
    json.json("profiles", array_of(profiles));
    json.text("equality", "bitwise");
    json.json("domains", array_of(domains_of(op)));
    json.end();
  }
  return out + "]";
}

}  // namespace bitproof::conformance
