"""How the page looks: light, dark, on paper, and on a narrow screen."""

from __future__ import annotations

STYLE = """\
:root {
  color-scheme: light dark;
  --back: #ffffff; --text: #1f2328; --quiet: #59636e; --line: #d1d9e0; --tile: #f6f8fa;
  --fine: #6ea8d9; --failed: #e08a1e; --refused: #b3261e;
}
@media (prefers-color-scheme: dark) {
  :root {
    --back: #14171c; --text: #e6e9ee; --quiet: #9aa4b0; --line: #363d47; --tile: #1d2229;
    --fine: #4f86b8; --failed: #e39a3b; --refused: #ff6b5e;
  }
}
* { box-sizing: border-box; }
body {
  margin: 0; background: var(--back); color: var(--text);
  font: 16px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans", sans-serif;
}
main { max-width: 60rem; margin: 0 auto; padding: 1.5rem 1rem 3rem; }
h1 { font-size: 1.5rem; line-height: 1.3; margin: 0 0 1rem; overflow-wrap: anywhere; }
h2 { font-size: 1.15rem; margin: 2.25rem 0 .5rem; }
p { margin: .5rem 0; overflow-wrap: anywhere; }
.quiet { color: var(--quiet); font-size: .875rem; }
.tiles {
  list-style: none; margin: 0 0 1rem; padding: 0; display: grid; gap: .75rem;
  grid-template-columns: repeat(auto-fit, minmax(9rem, 1fr));
}
.tiles li { background: var(--tile); border-radius: .5rem; padding: .75rem 1rem; }
.tiles b {
  display: block; font-size: 1.6rem; line-height: 1.2; font-variant-numeric: tabular-nums;
}
.tiles small { display: block; color: var(--quiet); }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .35rem 1rem; margin: .5rem 0; }
dt { font-weight: 600; grid-column: 1; }
dd { margin: 0; grid-column: 2; overflow-wrap: anywhere; }
.notes { font-size: .875rem; color: var(--quiet); }
.lost dt { font-weight: 400; text-align: right; font-variant-numeric: tabular-nums; }
figure { margin: .5rem 0; }
svg { display: block; overflow: visible; }
svg text { fill: var(--text); font-size: 12px; }
svg text.quiet { fill: var(--quiet); }
svg .name { font-family: ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace; }
svg .end { text-anchor: end; font-variant-numeric: tabular-nums; }
svg .middle { text-anchor: middle; fill: var(--quiet); }
svg line { stroke: var(--line); }
rect.fine { fill: var(--fine); } rect.failed { fill: var(--failed); }
rect.refused { fill: var(--refused); }
.legend { color: var(--quiet); font-size: .875rem; }
.legend span {
  display: inline-block; width: .75em; height: .75em; border-radius: 2px; margin: 0 .35em 0 .75em;
  print-color-adjust: exact; -webkit-print-color-adjust: exact;
}
.legend span:first-child { margin-left: 0; }
.legend .fine { background: var(--fine); } .legend .failed { background: var(--failed); }
.legend .refused { background: var(--refused); }
.wide { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: .9rem; }
caption { text-align: left; color: var(--quiet); font-size: .875rem; padding-bottom: .25rem; }
th, td {
  padding: .3rem .6rem; text-align: right; border-bottom: 1px solid var(--line);
  white-space: nowrap; font-variant-numeric: tabular-nums;
}
thead th { color: var(--quiet); font-weight: 400; }
tr > :first-child { padding-left: 0; } tr > :last-child { padding-right: 0; }
.words { text-align: left; }
.words:not(:first-child) { padding-left: 1.5rem; }
tbody th { font-weight: 500; white-space: normal; overflow-wrap: anywhere; min-width: 9rem; }
summary { cursor: pointer; color: var(--quiet); font-size: .875rem; }
@media (max-width: 40rem) {
  h1 { font-size: 1.25rem; }
  dl.first, dl.notes { grid-template-columns: 1fr; gap: 0; }
  dl.first dt, dl.first dd, dl.notes dt, dl.notes dd { grid-column: 1; }
  dl.first dd, dl.notes dd { margin-bottom: .5rem; }
  table { font-size: .8rem; }
  th, td { padding: .3rem .3rem; }
  td.words { white-space: normal; }
  .words:not(:first-child) { padding-left: .6rem; }
  tbody th { min-width: 6.5rem; }
  .tiles { grid-template-columns: 1fr 1fr; }
}
@media print {
  :root {
    --back: #ffffff; --text: #000000; --quiet: #444444; --line: #bbbbbb; --tile: #ffffff;
    --fine: #6ea8d9; --failed: #e08a1e; --refused: #b3261e;
  }
  body { font-size: 11pt; }
  main { max-width: none; padding: 0; }
  .tiles li { border: 1px solid var(--line); }
  .wide { overflow: visible; }
  details::details-content { content-visibility: visible; display: block; }
  summary { display: none; }
  svg { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
  figure, tr, .wide, .tiles li { break-inside: avoid; }
  h2 { break-after: avoid; }
  thead { display: table-header-group; }
}
"""
