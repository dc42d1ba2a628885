#include <algorithm>
#include <bit>
#include <cmath>
#include <set>

#include <fmt/format.h>

#include "conformance/gate/bit_layout.h"
#include "conformance/gate/error_map.h"
#include "conformance/gate/html_style.h"
#include "conformance/gate/matrix.h"
#include "conformance/gate/outputs.h"
#include "conformance/gate/text.h"
#include "conformance/report/base64.h"
#include "conformance/report/combine.h"
#include "conformance/report/json_reader.h"

namespace bitproof::conformance {
namespace {

// More rows than anyone reads would only make a page that no browser opens.
constexpr std::size_t kMostRecords = 2000;
constexpr std::size_t kMostSources = 200;
constexpr std::size_t kMostDetails = 100;
// Single wrong inputs are a pixel or two; up to so many of them are circled.
constexpr std::size_t kMostCircles = 100;

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

const char* class_of(Tone tone) {
  switch (tone) {
    case Tone::good:
      return "good";
    case Tone::waived:
      return "waived";
    case Tone::bad:
      return "bad";
    case Tone::none:
      return "none";
  }
  return "none";
}

std::string tag(Tone tone, std::string_view text) {
  return fmt::format(R"(<span class="tag {}">{}</span>)", class_of(tone), escaped(text));
}

// --- Parts of the page ---------------------------------------------------------------------------------------

std::string matrix_html(const Matrix& matrix) {
  std::string html = R"(<div class="scroll"><table><thead><tr><th></th>)";
  for (const std::string& column : matrix.columns) html += fmt::format("<th>{}</th>", escaped(column));
  html += "</tr></thead><tbody>";
  for (const Matrix::Row& row : matrix.rows) {
    html += fmt::format("<tr><th>{}</th>", escaped(row.name));
    for (const Cell& cell : row.cells) html += fmt::format("<td>{}</td>", tag(cell.tone, cell.text));
    html += "</tr>";
  }
  return html + "</tbody></table></div>\n";
}

std::string record_row(const Record& record, const std::string& profile, std::size_t index) {
  const double part =
      record.total == 0 ? 0.0 : static_cast<double>(record.tested) / static_cast<double>(record.total);
  // A part must not look like the whole, so the percentage is rounded down.
  const double percent = std::floor(std::clamp(part, 0.0, 1.0) * 1000) / 10;
  std::string verdict = tag(tone_of(record.verdict), verdict_of(record));
  if (!record.reason.empty()) verdict += fmt::format(R"(<div class="soft">{}</div>)", escaped(record.reason));
  const std::string mismatches =
      record.mismatches == 0
          ? (record.tested > 0 ? "0" : "")
          : fmt::format(R"(<a href="#record-{}">{}</a> <span class="soft">{}, max {} ULP</span>)", index,
                        record.mismatches, escaped(kinds_of(record.kinds)), record.max_ulp);
  const auto cell = [](const char* label, const std::string& html) {
    return fmt::format(R"(<td data-label="{}">{}</td>)", label, html.empty() ? "" : "<div>" + html + "</div>");
  };
  return "<tr>" + cell("operator", escaped(record.op + " " + record.dtype)) +
         cell("implementation", escaped(record.implementation)) +
         cell("domain", escaped(record.domain) +
                            (record.profile == profile
                                 ? ""
                                 : R"(<div class="soft">profile )" + escaped(record.profile) + "</div>")) +
         cell("device", escaped(record.device + " (" + record.architecture + ")")) + cell("verdict", verdict) +
         cell("coverage", fmt::format(R"({}<div class="bar"><i style="width:{:.1f}%"></i></div>)",
                                      escaped(coverage_of(record)), percent)) +
         cell("mismatches", mismatches) + cell("time", escaped(timing_of(record))) + "</tr>\n";
}

std::string records_html(const Report& report) {
  std::string html =
      R"(<div class="scroll"><table class="records"><thead><tr><th>operator</th><th>implementation</th><th>domain</th>)"
      R"(<th>device</th><th>verdict</th><th>coverage</th><th>mismatches</th><th>time</th></tr></thead><tbody>)"
      "\n";
  const std::size_t shown = std::min(report.records.size(), kMostRecords);
  for (std::size_t i = 0; i < shown; ++i) html += record_row(report.records[i], report.profile, i);
  html += "</tbody></table></div>\n";
  if (shown < report.records.size())
    html += fmt::format("<p class=\"soft\">{} more records are in the report.</p>\n",
                        report.records.size() - shown);
  return html;
}

std::string fields_html(const BitFields& fields, const BitFields& other) {
  const auto field = [](const char* name, const std::string& bits, const std::string& against) {
    std::string html = fmt::format(R"(<td><span class="field {}">)", name);
    for (std::size_t i = 0; i < bits.size(); ++i)
      html += fmt::format(R"(<span class="bit{}">{}</span>)", bits[i] != against[i] ? " differs" : "", bits[i]);
    return html + "</span></td>";
  };
  return field("s", fields.sign, other.sign) + field("e", fields.exponent, other.exponent) +
         field("f", fields.significand, other.significand);
}

std::string bits_html(const Record& record) {
  const std::optional<BitLayout> layout = layout_of(record.dtype);
  if (!layout) return "";
  const Counterexample& c = *record.first;
  const auto expected = fields_of(c.expected, *layout), got = fields_of(c.got, *layout);
  if (!expected || !got) return "";
  const auto row = [](const char* what, const std::string& hex, double value, const std::string& fields) {
    return fmt::format(R"(<tr><th>{}</th><td>{}</td>{}<td>{}</td></tr>)", what, escaped(hex), fields,
                       value_of(value));
  };
  return R"(<div class="layout mono"><table><tr class="soft"><td></td><td></td><td>sign</td><td>exponent</td>)"
         R"(<td>significand</td><td></td></tr>)" +
         row("expected", c.expected, c.expected_value, fields_html(*expected, *got)) +
         row("got", c.got, c.got_value, fields_html(*got, *expected)) + "</table></div>\n";
}

std::string fact(std::string_view name, const std::string& value) {
  return value.empty() ? "" : fmt::format("<dt>{}</dt><dd>{}</dd>", name, escaped(value));
}

std::string counterexample_html(const Record& record) {
  if (!record.first) return "";
  const Counterexample& c = *record.first;
  std::string html = "<h4>First counterexample</h4>\n";
  if (c.is_of_an_element()) {
    html += bits_html(record) + R"(<dl class="facts">)";
    html += fact("inputs", what(c));
    html += fact("expected", fmt::format("{} = {}", c.expected, value_of(c.expected_value)));
    html += fact("got", fmt::format("{} = {}", c.got, value_of(c.got_value)));
    html += fact("difference", fmt::format("{}, {} ULP", c.kind, c.ulp));
    html += fact("parts at", c.parts_at);
  } else {
    html += R"(<dl class="facts">)";
    html += fact("first", what(c));
    html += fact("expected", c.expected);
    html += fact("got", fmt::format("{}, {}", c.got, c.kind));
  }
  html += fact("where", fmt::format("{}, block {}", where(c), c.block));
  html += fact("layout", c.layout);
  html += fact("diagnosis", c.diagnosis);
  if (c.smallest) html += fact("smallest", in_words(*c.smallest));
  html += "</dl>\n";
  if (!c.reproduce.empty()) html += fmt::format("<pre>{}</pre>\n", escaped(c.reproduce));
  if (c.smallest && !c.smallest->reproduce.empty())
    html += fmt::format("<pre>{}</pre>\n", escaped(c.smallest->reproduce));
  return html;
}

// "0", "1", "2-3", ... of a bucket.
std::string bucket_name(std::size_t bucket) {
  if (bucket < 2) return std::to_string(bucket);
  const std::uint64_t from = std::uint64_t{1} << (bucket - 1);
  return fmt::format("{}-{}", from, 2 * from - 1);
}

std::string histogram_html(const UlpHistogram& histogram) {
  const std::uint64_t most = *std::ranges::max_element(histogram);
  if (most == 0) return "";
  std::size_t last = histogram.size() - 1;
  while (histogram[last] == 0) --last;
  std::string html = "<h4>Mismatches by ULP distance (logarithmic)</h4>\n<div class=\"histogram\">\n";
  for (std::size_t bucket = 0; bucket <= last; ++bucket) {
    // Logarithmic, and one mismatch is to be seen: log2(1 + n), longest bar 100 %.
    const double width =
        100 * std::log2(1 + static_cast<double>(histogram[bucket])) / std::log2(1 + static_cast<double>(most));
    html += fmt::format("<span>{}</span><span><i style=\"width:{:.1f}%\"></i></span><span>{}</span>\n",
                        bucket_name(bucket), width, histogram[bucket]);
  }
  return html + "</div>\n";
}

// What separates the two computations where they differ, with one example each.
std::string causes_html(const Record& record) {
  if (record.causes.empty()) return "";
  std::string html =
      "<h4>Why they differ</h4>\n<div class=\"scroll\"><table><thead><tr><th>cause</th><th>count</th>"
      "<th>of tested</th><th>first example</th></tr></thead><tbody>\n";
  for (const Cause& cause : record.causes) {
    const Counterexample& c = cause.first;
    html += fmt::format(
        "<tr><td>{}</td><td>{}</td><td>{:.4f} %</td><td>{}: expected {}, got {} (row {}, column {}, block "
        "{})</td></tr>\n",
        escaped(cause.name), cause.count,
        100 * static_cast<double>(cause.count) / static_cast<double>(std::max<std::uint64_t>(record.tested, 1)),
        escaped(what(c)), escaped(c.expected), escaped(c.got), c.row, c.column, c.block);
  }
  return html + "</tbody></table></div>\n";
}

std::string circles(const std::vector<std::uint8_t>& errors) {
  std::string svg = R"(<svg viewBox="0 0 256 256">)";
  for (std::size_t i = 0; i < errors.size(); ++i) {
    if (errors[i] != 0)
      svg += fmt::format(R"(<circle cx="{}.5" cy="{}.5" r="4"><title>{:#06x}: {} ULP</title></circle>)",
                         i % kMapSide, i / kMapSide, i, errors[i]);
  }
  return svg + "</svg>";
}

std::string map_html(const Record& record) {
  if (record.errors.size() != kMapSide * kMapSide) return "";
  const auto wrong =
      static_cast<std::size_t>(std::ranges::count_if(record.errors, [](std::uint8_t e) { return e != 0; }));
  std::string html = fmt::format(
      "<h4>All 65,536 inputs</h4>\n<p class=\"soft\">{} inputs are off by at least one ULP. Row: high byte "
      "(the lower half "
      "is negative); column: low byte.</p>\n"
      R"(<div class="map"><div class="rows"><span>0x0000</span><span>0x4000</span><span>0x8000</span><span>0xc000</span>)"
      R"(<span>0xff00</span></div><div class="picture"><img alt="Error of each input" )"
      R"(src="data:image/bmp;base64,{}">)",
      wrong, to_base64(to_bitmap(record.errors)));
  if (wrong <= kMostCircles) html += circles(record.errors);
  html +=
      R"(</div><div></div><div class="cols"><span>+0x00</span><span>+0x80</span><span>+0xff</span></div></div>)";
  html += R"(<div class="legend"><span class="soft">ULP</span>)";
  for (const MapColour& colour : kMapColours)
    html += fmt::format(R"(<span><i style="background:{}"></i>{}</span>)", colour.hex, colour.label);
  return html + "</div>\n";
}

std::string details_html(const Record& record, std::size_t index) {
  std::string html = fmt::format("<section class=\"card\" id=\"record-{}\">\n<h3>{} {}</h3>\n", index,
                                 escaped(label(record)), tag(tone_of(record.verdict), name(record.verdict)));
  html += fmt::format("<p>{} ({}), by at most {} ULP; profile {}.</p>\n", escaped(differences(record)),
                      escaped(kinds_of(record.kinds)), record.max_ulp, escaped(record.profile));
  html += "<div class=\"columns\"><div>\n" + counterexample_html(record) + "</div><div>\n" +
          histogram_html(record.ulp_histogram) + "</div></div>\n";
  return html + causes_html(record) + map_html(record) + "</section>\n";
}

// What is wrong before what is known to be.
std::string all_details_html(const Report& report) {
  std::vector<std::size_t> wrong;
  for (std::size_t i = 0; i < report.records.size(); ++i)
    if (report.records[i].mismatches > 0) wrong.push_back(i);
  std::ranges::stable_partition(wrong,
                                [&](std::size_t i) { return tone_of(report.records[i].verdict) == Tone::bad; });
  if (wrong.empty()) return "";
  std::string html = "<h2>Mismatches</h2>\n";
  for (std::size_t i = 0; i < std::min(wrong.size(), kMostDetails); ++i)
    html += details_html(report.records[wrong[i]], wrong[i]);
  if (wrong.size() > kMostDetails)
    html += fmt::format("<p class=\"soft\">{} more records with mismatches are in the report.</p>\n",
                        wrong.size() - kMostDetails);
  return html;
}

// Which algorithms a vendor's library was asked to run.
std::string algorithms_html(const Report& report) {
  std::string rows;
  std::set<std::string> said;
  for (const Record& record : report.records)
    for (const LibraryAlgorithm& algorithm : record.algorithms)
      for (const std::string& shape : algorithm.shapes) {
        if (record.sampled && record.domain != "production") continue;
        const std::string row =
            fmt::format("<tr><td>{} {} {}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>\n",
                        escaped(record.op), escaped(record.dtype), escaped(record.implementation),
                        escaped(record.library_version), escaped(shape), escaped(algorithm.description),
                        algorithm.splits, algorithm.workspace_bytes);
        if (said.insert(row).second && said.size() <= kMostDetails) rows += row;
      }
  if (rows.empty()) return "";
  return "<h2>Algorithms of the library</h2>\n<div class=\"scroll\"><table><thead><tr><th>implementation</th>"
         "<th>version</th><th>shape</th><th>algorithm</th><th>splits</th><th>workspace, bytes</th></tr></thead>"
         "<tbody>\n" +
         rows + "</tbody></table></div>\n";
}

std::string environment_html(const Environment& e) {
  std::string html = R"(<dl class="facts">)";
  html +=
      fact("host", e.host) + fact("processor", e.cpu) + fact("system", e.os) + fact("toolchain", e.toolchain);
  for (const Device& d : e.devices)
    html += fact("device", fmt::format("{} ({}), driver {}, CUDA {}, cuBLASLt {}", d.name, d.architecture,
                                       d.driver, d.cuda_runtime, d.cublaslt));
  html += fact("tool", fmt::format("bitproof {}, build {}", e.tool_version, e.tool_build)) +
          fact("started", e.started);
  return html + "</dl>\n";
}

std::string sources_html(const Report& report) {
  if (report.sources.empty()) return "";
  std::string html =
      "<h2>Merged from</h2>\n<div "
      "class=\"scroll\"><table><thead><tr><th>host</th><th>shard</th><th>devices</th>"
      "<th>started</th><th>records</th><th>time</th></tr></thead><tbody>\n";
  const std::size_t shown = std::min(report.sources.size(), kMostSources);
  for (std::size_t i = 0; i < shown; ++i) {
    const Source& s = report.sources[i];
    std::string devices;
    for (const Device& device : s.environment.devices) devices += (devices.empty() ? "" : ", ") + device.name;
    html += fmt::format("<tr><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{:.3g} s</td></tr>\n",
                        escaped(s.environment.host), name(s.shard),
                        escaped(devices.empty() ? s.environment.cpu : devices), escaped(s.environment.started),
                        s.records, s.seconds);
  }
  html += "</tbody></table></div>\n";
  if (shown < report.sources.size())
    html += fmt::format("<p class=\"soft\">{} more are in the report.</p>\n", report.sources.size() - shown);
  return html;
}

// One line that says how it stands, before anything else.
std::string summary_html(const Report& report) {
  std::array<std::size_t, 4> count{};
  for (const Record& record : report.records) ++count[static_cast<std::size_t>(tone_of(record.verdict))];
  const auto of = [&](Tone tone) { return count[static_cast<std::size_t>(tone)]; };
  std::string html;
  if (of(Tone::good) > 0) html += tag(Tone::good, fmt::format("{} passed", of(Tone::good))) + " ";
  if (of(Tone::bad) > 0) html += tag(Tone::bad, fmt::format("{} wrong", of(Tone::bad))) + " ";
  if (of(Tone::waived) > 0)
    html += tag(Tone::waived, fmt::format("{} known or refused", of(Tone::waived))) + " ";
  if (of(Tone::none) > 0) html += tag(Tone::none, fmt::format("{} not run", of(Tone::none))) + " ";
  if (html.empty()) html = tag(Tone::bad, "no records");
  if (report.shard.count > 1)
    html += fmt::format("<p>Shard {}: a part of every domain only.</p>", name(report.shard));
  return html;
}

}  // namespace

std::string to_html(const Report& report) {
  std::string html = fmt::format(
      "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
      "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n"
      "<title>bitproof: {}</title>\n<style>{}</style></head>\n<body><main>\n",
      escaped(report.run_id), kHtmlStyle);
  html +=
      fmt::format("<h1>bitproof report</h1>\n<p class=\"soft\">profile {}, seed {}, run {}</p>\n<p>{}</p>\n",
                  escaped(report.profile), report.seed, escaped(report.run_id), summary_html(report));
  if (const auto& score = report.mutation_score) html += fmt::format("<p>{}</p>\n", in_words(*score));
  html += "<h2>Operators and architectures</h2>\n" + matrix_html(matrix_of(report));
  html += all_details_html(report);
  html += "<h2>Records</h2>\n" + records_html(report);
  html += algorithms_html(report);
  html += "<h2>Environment</h2>\n<div class=\"card\">" + environment_html(report.environment) + "</div>\n";
  html += sources_html(report);
  return html + "</main></body></html>\n";
}

}  // namespace bitproof::conformance
