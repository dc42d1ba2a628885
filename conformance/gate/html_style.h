// The style sheet of the report page: readable from 400 to 1280 px and in the dark.
#pragma once

#include <string_view>

namespace bitproof::conformance {

inline constexpr std::string_view kHtmlStyle = R"css(
:root{color-scheme:light dark;--text:#1c2024;--soft:#5c6670;--page:#f6f7f9;--card:#fff;--line:#d9dee3;
--good:#12703f;--good-bg:#dff5e8;--warn:#8a5300;--warn-bg:#fff0d6;--bad:#b3261e;--bad-bg:#fde4e1;--none-bg:#eceff2;
--sign:#ffd9d2;--exponent:#d5e6ff;--significand:#dcf3d8}
@media(prefers-color-scheme:dark){:root{--text:#e6e8ea;--soft:#9aa4ae;--page:#14171a;--card:#1d2125;--line:#363d44;
--good:#6fd49b;--good-bg:#173626;--warn:#f3bd66;--warn-bg:#3b2c12;--bad:#ff9d94;--bad-bg:#46201d;--none-bg:#2a3036;
--sign:#63332b;--exponent:#243f66;--significand:#27482a}}
*{box-sizing:border-box}
body{margin:0;background:var(--page);color:var(--text);font:15px/1.5 system-ui,sans-serif}
main{max-width:1200px;margin:0 auto;padding:24px 20px 48px}
h1{font-size:24px;margin:0 0 4px}h2{font-size:18px;margin:32px 0 10px}h3{font-size:16px;margin:0 0 12px;overflow-wrap:anywhere}
h4{font-size:14px;margin:18px 0 8px}.columns h4{margin-top:0}
.soft{color:var(--soft)}.mono,code{font-family:ui-monospace,Menlo,Consolas,"DejaVu Sans Mono",monospace;font-size:13px}
.card{background:var(--card);border:1px solid var(--line);border-radius:8px;padding:16px;margin:0 0 16px}
.scroll{overflow-x:auto;background:var(--card);border:1px solid var(--line);border-radius:8px}
table{border-collapse:collapse;width:100%}
th,td{text-align:left;padding:7px 12px;border-bottom:1px solid var(--line);vertical-align:top}
tr:last-child>*{border-bottom:0}th{font-weight:600;white-space:nowrap}thead th{color:var(--soft);font-size:13px}
.records td:last-child{white-space:nowrap}.layout td:last-child{white-space:nowrap}
.tag{display:inline-block;border-radius:5px;padding:1px 8px;white-space:nowrap;font-size:13px;font-weight:600}
.good{background:var(--good-bg);color:var(--good)}.waived{background:var(--warn-bg);color:var(--warn)}
.bad{background:var(--bad-bg);color:var(--bad)}.none{background:var(--none-bg);color:var(--soft)}
.bar{height:5px;border-radius:3px;background:var(--none-bg);overflow:hidden;margin-top:4px;min-width:90px;max-width:220px}
.bar i{display:block;height:100%;background:var(--good)}
.columns{display:grid;grid-template-columns:minmax(0,1fr) minmax(0,1fr);gap:24px}
.facts{display:grid;grid-template-columns:max-content minmax(0,1fr);gap:3px 14px;margin:0}
.facts dt{color:var(--soft)}.facts dd{margin:0;overflow-wrap:anywhere}
.layout{overflow-x:auto;margin:0 0 14px}.layout table{width:auto}
.layout th,.layout td{border:0;padding:2px 8px 2px 0}
.field{display:inline-flex;gap:1px}.bit{width:15px;text-align:center;border-radius:2px;padding:1px 0}
.s .bit{background:var(--sign)}.e .bit{background:var(--exponent)}.f .bit{background:var(--significand)}
.bit.differs{outline:2px solid var(--bad);outline-offset:-1px;font-weight:700}
.histogram{display:grid;grid-template-columns:max-content minmax(0,1fr) max-content;gap:2px 10px;align-items:center}
.histogram i{display:block;height:14px;background:var(--bad);border-radius:2px}
.map{display:grid;grid-template-columns:max-content minmax(0,512px);gap:4px 8px}
.map .picture{position:relative;aspect-ratio:1;border:1px solid var(--line)}
.map img,.map svg{position:absolute;inset:0;width:100%;height:100%;image-rendering:pixelated}
.map circle{fill:none;stroke:#b3261e;stroke-width:1.2}
.map .rows,.map .cols{display:flex;justify-content:space-between;font-size:12px;color:var(--soft)}.map .rows{flex-direction:column}
.legend{display:flex;flex-wrap:wrap;gap:4px 12px;font-size:12px;margin-top:8px}
.legend i{display:inline-block;width:11px;height:11px;border-radius:2px;margin-right:4px;vertical-align:-1px}
pre{margin:8px 0 0;padding:10px;border-radius:6px;background:var(--none-bg);white-space:pre-wrap;overflow-wrap:anywhere}
a{color:inherit}
@media(max-width:760px){
main{padding:16px 12px 32px}.columns{grid-template-columns:minmax(0,1fr)}
.records thead{display:none}.records tr{display:block;padding:8px 0;border-bottom:1px solid var(--line)}
.records tr:last-child{border-bottom:0}
.records td{display:grid;grid-template-columns:110px minmax(0,1fr);border:0;padding:2px 12px;overflow-wrap:anywhere;white-space:normal}
.records td::before{content:attr(data-label);color:var(--soft);font-size:13px}
.records td:empty{display:none}.records .tag{justify-self:start}
.facts{grid-template-columns:minmax(0,1fr);gap:0}.facts dd{margin-bottom:6px}
.tag{white-space:normal}.bit{width:11px}.layout,.layout .mono{font-size:12px}.layout td:last-child{display:none}
.layout th,.layout td{padding-right:5px}th,td{padding:6px 9px}
}
)css";

}  // namespace bitproof::conformance
