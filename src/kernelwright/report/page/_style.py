"""How the page looks: light and dark, on paper, and with colours that everybody can tell apart.

Nothing is told by colour alone: accepted and rejected differ in shape, changed lines are marked, cells bear numbers.
"""

from __future__ import annotations

STYLE = """
:root{--ink:#1c2024;--soft:#5b6570;--paper:#fff;--line:#d5dae0;--wash:#f4f6f8;--blue:#0067a5;--band:#0067a52e;
--dot:#4b9cd3;--bad:#c04a00;--del:#fde3d3;--ins:#d7f0e4;
--s0:#8a5a83;--s1:#cdb3cc;--f0:#e3f0f9;--f1:#b5d8ef;--f2:#74b4dd;--f3:#2274ab;--f4:#0a4674}
@media screen and (prefers-color-scheme:dark){:root{
--ink:#e6e9ec;--soft:#9aa5b1;--paper:#14181c;--line:#343c45;--wash:#1c2228;
--blue:#6cc1ff;--band:#6cc1ff38;--dot:#4b90c4;--bad:#ff9a52;--del:#4a2a17;--ins:#123d30;
--s0:#a877a0;--s1:#5d4560;--f0:#1d3242;--f1:#22506f;--f2:#2f77a5;--f3:#62abd9;--f4:#b9e0fa}}
*{box-sizing:border-box}
body{margin:0 auto;max-width:68rem;padding:1.5rem 1.25rem 4rem;background:var(--paper);color:var(--ink);
font:15px/1.5 system-ui,-apple-system,"Segoe UI",sans-serif}
h1{font-size:1.6rem;margin:0;overflow-wrap:anywhere}
h2{font-size:1.2rem;margin:2.6rem 0 .6rem;padding-top:.7rem;border-top:1px solid var(--line)}
h3{font-size:1rem;margin:1.4rem 0 .3rem}
#result h2{border:0;margin-top:1rem;padding:0}
p{margin:.4rem 0}.note,figcaption,small,caption small{color:var(--soft)}
figcaption{font-size:.87em}figcaption span{margin-right:1.2em}
code,pre,.diff{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;font-size:.87em}
nav{display:flex;flex-wrap:wrap;gap:0 1.1rem;margin-top:.5rem}a{color:var(--blue)}
.speeds{display:flex;flex-wrap:wrap;gap:.4rem 3rem}.big{font-size:1.7rem;font-weight:650}
dl{display:grid;grid-template-columns:max-content 1fr;gap:.25rem 1.2rem;margin:1rem 0 0}
dt{color:var(--soft)}dd{margin:0;overflow-wrap:anywhere}
.wide{overflow-x:auto;margin:.5rem 0}table{border-collapse:collapse;font-variant-numeric:tabular-nums}
th,td{padding:.22rem .7rem .22rem 0;text-align:left;vertical-align:top}
th{font-weight:600;color:var(--soft)}tbody tr{border-top:1px solid var(--line)}
.n{text-align:right;white-space:nowrap}td{overflow-wrap:break-word}
details{margin:.7rem 0}summary{cursor:pointer;color:var(--blue)}
pre{background:var(--wash);padding:.8rem;overflow-x:auto;border-radius:4px;white-space:pre-wrap;overflow-wrap:anywhere}
figure{margin:.5rem 0;overflow-x:auto}.tall{min-width:36rem}.chart{display:block;width:100%;height:auto}
.chart text{font-size:12px;fill:var(--soft)}.chart .axis{fill:var(--ink)}
.grid{stroke:var(--line);fill:none}.eager{stroke:var(--soft);stroke-dasharray:5 4;fill:none}
.band{fill:var(--band);stroke:none}.best{fill:none;stroke:var(--blue);stroke-width:2.2;stroke-linejoin:round}
.dot{fill:var(--dot);stroke:var(--paper);stroke-width:.8}.ring{fill:none;stroke:var(--dot);stroke-width:1.4}
.dots{fill:none;stroke:var(--dot);stroke-width:3;stroke-linecap:round}
.bad{fill:none;stroke:var(--bad);stroke-width:1.5}
.edge{fill:none;stroke:var(--soft);stroke-opacity:.55}.edge.won{stroke:var(--blue);stroke-opacity:1;stroke-width:2.6}
.k-best{color:var(--blue)}.k-dot{color:var(--dot)}.k-bad{color:var(--bad)}
.panels{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(26rem,100%),1fr));gap:1.4rem 2rem}
.panels.three{grid-template-columns:repeat(auto-fit,minmax(min(17rem,100%),1fr))}
.cells{width:100%;table-layout:fixed}.cells caption{text-align:left;font-weight:600;padding-bottom:.2rem}
.cells th{font-weight:400;font-size:.78rem;padding:.15rem .3rem;vertical-align:middle;hyphens:auto}
.cells thead th{text-align:center;vertical-align:bottom}.cells tr{border:0}
.cells td{height:2.9rem;text-align:center;vertical-align:middle;padding:.1rem;border:1px solid var(--line)}
.cells thead td{border:0;height:auto}.cells td b{display:block;font-weight:600;line-height:1.15}
.cells td small{color:inherit;font-size:.72rem}
.none{color:var(--soft)}.top{outline:3px solid var(--ink);outline-offset:-3px}
.legend{display:flex;flex-wrap:wrap;gap:.3rem}.shade{padding:.05rem .6rem;font-size:.8rem;border:1px solid var(--line)}
.s0{background:var(--s0);color:#fff}.s1{background:var(--s1);color:var(--ink)}.f0{background:var(--f0);color:var(--ink)}
.f1{background:var(--f1);color:var(--ink)}.f2{background:var(--f2);color:#000}
.f3{background:var(--f3);color:#fff}.f4{background:var(--f4);color:#fff}
@media screen and (prefers-color-scheme:dark){.f2{color:#fff}.f3,.f4,.s0{color:#000}}
.diff{width:100%;table-layout:fixed}.diff tr{border:0}
.diff td{padding:0 .4rem;white-space:pre-wrap;overflow-wrap:anywhere}
.diff .number{width:3.6rem}.diff td:nth-child(odd):not([colspan]){color:var(--soft);text-align:right;white-space:nowrap}
.diff th{padding-left:.4rem}.del{background:var(--del)}.ins{background:var(--ins)}.diff .none{background:var(--wash)}
.gap td{text-align:center;color:var(--soft)}
@media print{html{font-size:11px}.tall{min-width:0}body{max-width:none;padding:0;font-size:1rem;
print-color-adjust:exact;-webkit-print-color-adjust:exact}nav{display:none}
figure,.cells,tr{break-inside:avoid}h2,h3{break-after:avoid}
.panels{grid-template-columns:1fr 1fr}.panels.three{grid-template-columns:1fr 1fr 1fr}}
"""
