#include "metrics/report/html.h"

#include <algorithm>
#include <string>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ostream.h>

#include "metrics/report/html_style.h"
#include "metrics/report/plot.h"
#include "metrics/report/text.h"

namespace bitproof::metrics {
namespace {

std::string escape(std::string_view text) {
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

std::string count_of(const std::optional<std::uint64_t>& frames) {
  return frames ? std::to_string(*frames) : "unknown";
}

void write_head(std::ostream& out, const Outcome& outcome) {
  const std::string_view verdict = name(outcome.verdict());
  fmt::print(
      out,
      "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" "
      "content=\"width=device-width, initial-scale=1\"><title>{}: {}</title><style>{}</style></head><body>\n",
      verdict, escape(headline(outcome)), kPageStyle);
  fmt::print(out, "<h1>Are two videos the same?</h1>\n<div class=\"verdict {}\">{}: {}</div>\n", verdict,
             verdict, escape(headline(outcome)));
  out << "<div class=\"scroll\"><table><tr><th></th><th>input</th><th class=\"number\">frames</th></tr>\n";
  for (std::size_t side = 0; side < 2; ++side)
    fmt::print(out,
               "<tr><td>{}</td><td><code>{}</code><br><span class=\"dim\">{}</span></td><td "
               "class=\"number\">{}</td></tr>\n",
               side == 0 ? 'A' : 'B', escape(outcome.inputs[side].path),
               escape(outcome.formats[side] ? outcome.formats[side]->describe() : ""),
               count_of(outcome.frames[side]));
  out << "</table></div>\n";
}

void write_notes(std::ostream& out, const Outcome& outcome) {
  for (const Failure& failure : outcome.failures)
    fmt::print(out, "<div class=\"note failed\">failed: {}</div>\n", escape(failure.message));
  for (const std::string& warning : outcome.warnings)
    fmt::print(out, "<div class=\"note\">warning: {}</div>\n", escape(warning));
}

void write_identity(std::ostream& out, const Outcome& outcome) {
  out << "<h2>Identity</h2>\n<table><tr><th>level</th><th>result</th></tr>\n";
  for (const LevelRow& row : level_rows(outcome)) {
    std::string digests;
    if (!row.a.empty() && row.a == row.b) digests = fmt::format("<br><code>{}</code>", row.a);
    if (!row.a.empty() && row.a != row.b)
      digests = fmt::format("<br><code>A {}</code><br><code>B {}</code>", row.a, row.b);
    fmt::print(out, "<tr><td>{}</td><td>{}{}</td></tr>\n", row.name, escape(row.result), digests);
  }
  out << "</table>\n";
  if (outcome.first_difference)
    fmt::print(out, "<p>First difference: {}.</p>\n", escape(show(*outcome.first_difference)));
}

void write_metrics(std::ostream& out, const Outcome& outcome, const std::vector<Curve>& curves) {
  out << "<h2>Distance</h2>\n<div class=\"cards\">\n";
  for (const MetricResult& metric : outcome.metrics) {
    const Score* score = metric.summary.find(metric.entry->headline);
    if (score == nullptr) continue;
    std::string rest;
    for (const Score& other : metric.summary.scores)
      if (&other != score)
        rest += fmt::format("{} {}<br>", escape(other.key), escape(show_with_unit(other, metric.entry->unit)));
    for (const Count& count : metric.summary.counts)
      rest += fmt::format("{} {}<br>", escape(count.key), count.value);
    fmt::print(out,
               "<div class=\"card\"><div class=\"dim\">{}, {}</div><div class=\"value\">{}</div><div "
               "class=\"dim\">{}</div></div>\n",
               escape(metric.entry->title), escape(score->key),
               escape(show_with_unit(*score, metric.entry->unit)), rest);
  }
  out << "</div>\n";
  for (std::size_t i = 0; i < curves.size(); ++i) {
    const MetricEntry& entry = *outcome.metrics[i].entry;
    const std::string plot = plot_html(curves[i], entry);
    if (plot.empty()) continue;
    fmt::print(out, "<h2>{} of each frame{}</h2>\n{}\n", escape(entry.title),
               entry.unit.empty() ? "" : fmt::format(" ({})", entry.unit), plot);
  }
}

std::string picture(std::string_view source, std::string_view caption) {
  if (source.empty())
    return fmt::format("<figure><figcaption>{}: not convertible to RGB</figcaption></figure>", caption);
  return fmt::format("<figure><img src=\"{}\" alt=\"{}\"><figcaption>{}</figcaption></figure>", source, caption,
                     caption);
}

void write_worst_table(std::ostream& out, const Outcome& outcome) {
  out << "<h2>Worst frames</h2>\n<div class=\"scroll\"><table><tr><th class=\"number\">frame</th><th "
         "class=\"number\">squared error</th>";
  for (const MetricResult& metric : outcome.metrics)
    fmt::print(out, "<th class=\"number\">{}</th>", escape(metric.entry->title));
  out << "</tr>\n";
  for (const PairResult& pair : outcome.worst) {
    fmt::print(out, "<tr><td class=\"number\">{}</td><td class=\"number\">{}</td>", pair.index_a,
               show_error(pair));
    for (std::size_t i = 0; i < pair.metrics.size(); ++i) {
      const MetricEntry& entry = *outcome.metrics[i].entry;
      const Score* score = pair.metrics[i].find(entry.headline);
      fmt::print(out, "<td class=\"number\">{}</td>", score ? escape(show_with_unit(*score, entry.unit)) : "");
    }
    out << "</tr>\n";
  }
  out << "</table></div>\n";
}

void write_metadata(std::ostream& out, const Outcome& outcome) {
  out << "<h2>Metadata differences</h2>\n";
  if (outcome.metadata_differences.empty()) {
    out << "<p class=\"dim\">None.</p>\n";
    return;
  }
  out << "<p class=\"dim\">Reported, never applied: frames are paired by their number.</p>\n<div "
         "class=\"scroll\"><table><tr>"
         "<th>what</th><th>A</th><th>B</th></tr>\n";
  for (const MetadataDifference& difference : outcome.metadata_differences)
    fmt::print(out, "<tr><td>{}</td><td>{}</td><td>{}</td></tr>\n", escape(difference.name),
               escape(difference.a), escape(difference.b));
  out << "</table></div>\n";
}

void write_definitions(std::ostream& out, const Outcome& outcome) {
  out << "<h2>Definitions</h2>\n<dl>\n";
  for (const MetricResult& metric : outcome.metrics)
    if (!metric.definition.text.empty())
      fmt::print(out, "<dt>{}</dt><dd>{}</dd>\n", escape(metric.entry->title), escape(metric.definition.text));
  out << "</dl>\n";
}

}  // namespace

void HtmlReport::on_start(const Outcome& outcome) { curves_.resize(outcome.metrics.size()); }

void HtmlReport::on_pair(const Outcome& outcome, const PairResult& result, const FramePair& pair) {
  for (std::size_t i = 0; i < result.metrics.size(); ++i) {
    const Score* score = result.metrics[i].find(outcome.metrics[i].entry->headline);
    if (score != nullptr) curves_[i].add(result.index_a, score->value, score->best);
  }
  const double error = result.mean_squared_error;
  const bool full = drawn_.size() == most_pictures_;
  if (result.identical || most_pictures_ == 0 || (full && error <= drawn_.back().mean_squared_error)) return;
  const auto place = std::find_if(drawn_.begin(), drawn_.end(),
                                  [&](const Drawn& other) { return other.mean_squared_error < error; });
  drawn_.insert(place, {result.index_a, error, draw(pair)});
  if (drawn_.size() > most_pictures_) drawn_.pop_back();
}

void HtmlReport::on_finish(const Outcome& outcome) {
  write_head(out_, outcome);
  write_notes(out_, outcome);
  write_identity(out_, outcome);
  if (outcome.compared > 0) {
    write_metrics(out_, outcome, curves_);
    if (!outcome.worst.empty()) write_worst_table(out_, outcome);
    for (const Drawn& drawn : drawn_)
      fmt::print(
          out_, "<h2>Frame {}</h2>\n<div class=\"trio\">{}{}{}</div>\n", drawn.index,
          picture(drawn.pictures.a, "A"), picture(drawn.pictures.b, "B"),
          picture(drawn.pictures.difference,
                  fmt::format("difference, on a logarithmic scale; brightest: {:g}", drawn.pictures.peak)));
  }
  write_metadata(out_, outcome);
  write_definitions(out_, outcome);
  out_ << "</body></html>\n" << std::flush;
}

}  // namespace bitproof::metrics
