#include <map>
#include <set>
#include <sstream>

#include <fmt/format.h>
#include <pugixml.hpp>

#include "conformance/gate/outputs.h"
#include "conformance/gate/text.h"
#include "conformance/report/combine.h"

namespace bitproof::conformance {
namespace {

// XML 1.0 has no control characters but these; a reader would refuse the file.
std::string printable(std::string_view text) {
  std::string out;
  for (const char c : text) out += static_cast<unsigned char>(c) >= 0x20 || c == '\t' || c == '\n' ? c : '?';
  return out;
}

void set(pugi::xml_node node, const char* attribute, std::string_view value) {
  node.append_attribute(attribute).set_value(printable(value).c_str());
}

// A suite counts its cases, and the counts stand before the cases.
class Suite {
 public:
  Suite(pugi::xml_node root, std::string_view name) : node_(root.append_child("testsuite")) {
    set(node_, "name", name);
    for (const char* count : {"tests", "failures", "errors", "skipped"})
      node_.append_attribute(count).set_value(0);
    node_.append_attribute("time").set_value("0");
  }

  pugi::xml_node add_case(std::string_view class_name, std::string_view name, double seconds) {
    pugi::xml_node node = node_.append_child("testcase");
    set(node, "classname", class_name);
    set(node, "name", name);
    set(node, "time", fmt::format("{:.6f}", seconds));
    seconds_ += seconds;
    count("tests");
    node_.attribute("time").set_value(fmt::format("{:.6f}", seconds_).c_str());
    return node;
  }

  void fail(pugi::xml_node test, const Finding& finding) {
    pugi::xml_node failure = test.append_child("failure");
    set(failure, "type", name(finding.kind));
    set(failure, "message", finding.message);
    failure.text().set(printable(finding.message).c_str());
  }

  void skip(pugi::xml_node test, std::string_view why) {
    set(test.append_child("skipped"), "message", why);
    count("skipped");
  }

  void count(const char* what) {
    pugi::xml_attribute attribute = node_.attribute(what);
    attribute.set_value(attribute.as_ullong() + 1);
  }

 private:
  pugi::xml_node node_;
  double seconds_ = 0;
};

std::string waivers_of(const GateResult& result, const std::string& record) {
  std::string text = "waived";
  for (const Finding& finding : result.waived)
    if (finding.record == record) text += fmt::format("; {}: {}", name(finding.kind), finding.message);
  return text;
}

void add_required(pugi::xml_node root, const GateResult& result) {
  std::map<std::string, Suite> suites;  // by architecture
  for (const Outcome& outcome : result.required) {
    const Requirement& r = outcome.requirement;
    Suite& suite = suites.try_emplace(r.architecture, root, r.architecture).first->second;
    pugi::xml_node test = suite.add_case(fmt::format("{}.{}", r.architecture, r.implementation),
                                         fmt::format("{} {} {}", r.op, r.dtype, r.domain),
                                         outcome.record ? outcome.record->seconds : 0.0);
    switch (outcome.state) {
      case Outcome::State::passed:
        test.append_child("system-out")
            .text()
            .set(printable(verdict_of(*outcome.record) + ", " + coverage_of(*outcome.record)).c_str());
        break;
      case Outcome::State::waived:
        suite.skip(test, waivers_of(result, label(r)));
        break;
      case Outcome::State::failed:
        for (const Finding& finding : outcome.findings) suite.fail(test, finding);
        suite.count("failures");
        break;
    }
  }
}

void add_other_findings(pugi::xml_node root, const GateResult& result) {
  std::set<std::string> required;
  for (const Outcome& outcome : result.required) {
    required.insert(label(outcome.requirement));
    if (outcome.record) required.insert(label(*outcome.record));
  }
  std::optional<Suite> suite;
  for (const Finding& finding : result.findings) {
    if (required.contains(finding.record)) continue;
    if (!suite) suite.emplace(root, "evidence");
    suite->fail(suite->add_case("evidence", fmt::format("{}: {}", finding.record, name(finding.kind)), 0),
                finding);
    suite->count("failures");
  }
}

void add_compiled_only(pugi::xml_node root, const GateResult& result) {
  if (result.compiled_only.empty()) return;
  Suite suite(root, "compiled only");
  for (const CompiledOnly& entry : result.compiled_only)
    suite.skip(suite.add_case("compiled only", entry.architecture, 0), "compiled only: " + entry.reason);
}

}  // namespace

std::string to_junit(const GateResult& result) {
  pugi::xml_document document;
  pugi::xml_node declaration = document.append_child(pugi::node_declaration);
  declaration.append_attribute("version").set_value("1.0");
  declaration.append_attribute("encoding").set_value("UTF-8");
  pugi::xml_node root = document.append_child("testsuites");
  set(root, "name", "bitproof gate: " + result.policy);
  add_required(root, result);
  add_other_findings(root, result);
  add_compiled_only(root, result);
  std::ostringstream text;
  document.save(text, "  ", pugi::format_default, pugi::encoding_utf8);
  return std::move(text).str();
}

}  // namespace bitproof::conformance
