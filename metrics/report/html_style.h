// The page's style: one column, light or dark as the reader's system is, readable from 360 pixels on.
#pragma once

namespace bitproof::metrics {

inline constexpr const char* kPageStyle = R"css(
:root { --ink:#1b1f24; --dim:#5b6570; --line:#d6dbe1; --paper:#fff; --panel:#f6f7f9; --accent:#1f5fbf;
  --good:#1a7f4b; --warn:#9a6700; --bad:#b3261e; }
@media (prefers-color-scheme: dark) { :root { --ink:#e4e8ec; --dim:#9aa5b1; --line:#353c45; --paper:#14171b;
  --panel:#1d2127; --accent:#7fb0ff; --good:#4cc38a; --warn:#e0b64c; --bad:#ff8a80; } }
* { box-sizing:border-box; }
body { margin:0 auto; padding:24px 16px 64px; max-width:1080px; background:var(--paper); color:var(--ink);
  font:15px/1.5 system-ui,sans-serif; }
h1 { font-size:20px; margin:0 0 4px; } h2 { font-size:16px; margin:32px 0 8px; }
code { font-family:ui-monospace,monospace; font-size:13px; word-break:break-all; }
.dim { color:var(--dim); } .verdict { font-size:18px; font-weight:600; margin:12px 0; }
.identical { color:var(--good); } .different { color:var(--warn); } .failed { color:var(--bad); }
.scroll { overflow-x:auto; } table { border-collapse:collapse; width:100%; }
th, td { text-align:left; vertical-align:top; padding:6px 12px 6px 0; border-bottom:1px solid var(--line); }
th { font-weight:600; color:var(--dim); } td.number, th.number { text-align:right; white-space:nowrap; }
.cards { display:grid; grid-template-columns:repeat(auto-fit,minmax(220px,1fr)); gap:12px; }
.card { background:var(--panel); border:1px solid var(--line); border-radius:8px; padding:12px 14px; }
.card .value { font-size:24px; font-weight:600; font-variant-numeric:tabular-nums; overflow-wrap:anywhere; }
.plot { display:grid; grid-template-columns:auto 1fr; column-gap:8px; margin:8px 0 16px; }
.plot .scale { display:flex; flex-direction:column; justify-content:space-between; text-align:right; font-size:12px;
  color:var(--dim); font-variant-numeric:tabular-nums; }
.plot svg { width:100%; height:140px; display:block; background:var(--panel); border:1px solid var(--line);
  border-radius:4px; }
.plot .frames { grid-column:2; display:flex; justify-content:space-between; font-size:12px; color:var(--dim); }
.trio { display:grid; grid-template-columns:repeat(auto-fit,minmax(240px,1fr)); gap:12px; margin-bottom:20px; }
figure { margin:0; } figure img { width:100%; display:block; border:1px solid var(--line); image-rendering:auto; }
figcaption { font-size:13px; color:var(--dim); margin-top:4px; }
.note { border-left:3px solid var(--warn); padding:2px 10px; margin:6px 0; overflow-wrap:anywhere; }
.note.failed { border-color:var(--bad); color:inherit; }
dl { margin:0; } dt { font-weight:600; margin-top:10px; } dd { margin:0; color:var(--dim); overflow-wrap:anywhere; }
)css";

}  // namespace bitproof::metrics
