// The script of the page of `gemmtune report`: sorts and filters the table of problems, and
// opens a row. Texts of the data become text nodes and nothing else.
"use strict";
(() => {
  const SVG = "http://www.w3.org/2000/svg";
  const COLOURS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#6e7781"];
  const table = document.getElementById("problems");
  if (!table) return;
  const data = JSON.parse(document.getElementById("data").textContent);
  const body = table.tBodies[0];
  const heads = [...table.tHead.rows[0].cells];
  const rows = [...body.rows];
  const titles = heads.map(h => h.textContent);
  rows.forEach((row, i) => { row.dataset.i = i; });

  // ---- elements ----

  function element(name, content, attributes) {
    const e = document.createElement(name);
    for (const [key, value] of Object.entries(attributes || {})) e.setAttribute(key, value);
    for (const part of [content].flat()) if (part != null) e.append(part);
    return e;
  }

  function drawn(name, attributes, content) {
    const e = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes)) e.setAttribute(key, value);
    if (content != null) e.append(content);
    return e;
  }

  function time(ns) {
    if (!(ns > 0)) return "-";
    const [size, unit] = [[1e9, "s"], [1e6, "ms"], [1e3, "us"], [1, "ns"]].find(([s]) => ns >= s * 0.9995) || [1, "ns"];
    return Number((ns / size).toPrecision(3)) + " " + unit;
  }

  function bytes(count) {
    if (count == null) return "-";
    const [size, unit] = [[2 ** 30, "GiB"], [2 ** 20, "MiB"], [2 ** 10, "KiB"], [1, "B"]].find(([s]) => count >= s) || [1, "B"];
    return Number((count / size).toPrecision(3)) + " " + unit;
  }

  function list(head, lines) {
    const cells = (line, name) => element("tr", line.map(c => element(name, c)));
    return element("table", [element("thead", cells(head, "th")), element("tbody", lines.map(l => cells(l, "td")))]);
  }

  // ---- points ----

  function pairs(form, values) {
    if (form < 0) return [];
    const v = values.split(" ");
    return data.forms[form][1].split(" ").filter(Boolean).map((name, i) => [name, v[i]]);
  }
  const familyOf = form => form < 0 ? "?" : data.forms[form][0];
  const pointText = (form, values) => form < 0 ? values : pairs(form, values).map(p => p.join("=")).join(" ");

  // ---- a problem ----

  function inWords(row) {
    const [form, values] = row.k[0];
    const family = data.families[familyOf(form)] || { about: "", params: {} };
    const section = element("section", [element("h3", "Kernel: " + familyOf(form)), element("p", family.about)]);
    const words = element("dl");
    for (const [name, value] of pairs(form, values))
      words.append(element("dt", element("code", name + "=" + value)), element("dd", family.params[name] || ""));
    section.append(words);
    return section;
  }

  function finals(row) {
    const lines = row.k.map(([form, values, ns, low, high, flags, workspace], i) => [
      String(i + 1), time(ns), high > 0 ? time(low) + " to " + time(high) : "", bytes(workspace),
      [flags & 1 && "tied", !(flags & 2) && "imported", flags & 4 && "older sources"].filter(Boolean).join(", "),
      familyOf(form) + " " + pointText(form, values)]);
    return element("section", [element("h3", "Finals"),
      list(["", "time", "95 % interval", "workspace", "", "kernel"], lines)], { class: "whole" });
  }

  function ceiling(row) {
    const ns = row.k[0][2], section = element("section", element("h3", "Roofline"));
    section.append(element("p", row.r > 0
      ? `${time(ns)}; arithmetic and memory allow ${time(row.r)}, so the kernel has ${(100 * row.r / ns).toFixed(1)} %.`
      : `${time(ns)}; the ceilings of this device are not known.`));
    if (row.v.length)
      section.append(list(["library", "workspace", "its time over ours", "95 % interval", "verdict"],
        row.v.map(([name, workspace, ratio, low, high, verdict]) =>
          [name, bytes(workspace), ratio.toFixed(3), low.toFixed(3) + " to " + high.toFixed(3), verdict])));
    return section;
  }

  // The best kernel of each family, the slowest first: from naive to tuned.
  function ladder(row) {
    const best = new Map();
    for (const [form, , ns] of row.t)
      if (ns > 0) best.set(familyOf(form), Math.min(ns, best.get(familyOf(form)) || Infinity));
    const steps = [...best].sort((a, b) => b[1] - a[1]);
    const section = element("section", element("h3", "Families, by their best kernel"));
    const least = steps.length ? steps[steps.length - 1][1] : 1;
    for (const [family, ns] of steps)
      section.append(element("div", [element("span", `${family} ${time(ns)}`),
        element("i", null, { style: `width:${(100 * least / ns).toFixed(2)}%`, title: (ns / least).toFixed(2) + " times the best" })],
        { class: "bar" }));
    return section;
  }

  // Each trial by its place and time, and the best so far.
  function search(row) {
    const W = 420, H = 220, L = 52, B = 24, T = 8;
    const times = row.t.map(t => t[2]).filter(ns => ns > 0);
    const section = element("section", element("h3", "Search"));
    if (!times.length) return section;
    const low = Math.min(...times), high = Math.max(...times, low * 1.01);
    const x = i => L + (W - L - 8) * (i + 0.5) / row.t.length;
    const y = ns => T + (H - T - B) * (1 - Math.log(ns / low) / Math.log(high / low));
    const families = [...new Set(row.t.map(t => familyOf(t[0])))];
    const colour = family => COLOURS[Math.min(families.indexOf(family), COLOURS.length - 1)];
    const picture = drawn("svg", { viewBox: `0 0 ${W} ${H}`, role: "img", "font-size": 11, fill: "currentColor",
      "aria-label": `${times.length} trials, from ${time(high)} to ${time(low)}` });
    let best = Infinity, path = "";
    row.t.forEach(([form, values, ns], i) => {
      if (!(ns > 0)) return;
      if (ns < best) { path += `${path ? `H${x(i).toFixed(1)}V` : `M${x(i).toFixed(1)} `}${y(ns).toFixed(1)}`; best = ns; }
      picture.append(drawn("circle", { cx: x(i).toFixed(1), cy: y(ns).toFixed(1), r: 2.5, fill: colour(familyOf(form)) },
        drawn("title", {}, `${time(ns)} ${familyOf(form)} ${pointText(form, values)}`)));
    });
    picture.append(drawn("path", { d: path + `H${W - 8}`, fill: "none", stroke: "currentColor", "stroke-width": 1.2 }),
      drawn("text", { x: 0, y: y(low) + 4 }, time(low)), drawn("text", { x: 0, y: y(high) + 10 }, time(high)),
      drawn("text", { x: L, y: H - 6 }, "first trial"),
      drawn("text", { x: W - 8, y: H - 6, "text-anchor": "end" }, "last trial"));
    section.append(picture);
    section.append(element("p", families.slice(0, 12).flatMap(f => [
      element("span", "\u25cf ", { style: "color:" + colour(f) }), f + "  "]), { class: "dull" }));
    if (row.t.length < row.all[0]) section.append(element("p", `${row.t.length} of ${row.all[0]} trials are shown.`, { class: "dull" }));
    return section;
  }

  // Parameters of the winner's family by the share of the spread of times (as logarithms)
  // that their values explain: the correlation ratio, less what as many values would explain
  // by chance (Kelley 1935).
  function parameters(row) {
    const form = row.k.length ? row.k[0][0] : -1;
    const trials = row.t.filter(t => t[0] === form && t[2] > 0);
    const section = element("section", element("h3", "Parameters that matter"));
    if (form < 0 || trials.length < 8) return null;
    const mean = list => list.reduce((a, b) => a + b, 0) / list.length;
    const logs = trials.map(t => Math.log(t[2]));
    const all = mean(logs), spread = mean(logs.map(v => (v - all) ** 2)) || 1;
    const found = data.forms[form][1].split(" ").map((name, i) => {
      const by = new Map();
      trials.forEach((t, j) => {
        const value = t[1].split(" ")[i];
        by.set(value, [...(by.get(value) || []), logs[j]]);
      });
      const between = [...by.values()].reduce((sum, l) => sum + l.length * (mean(l) - all) ** 2, 0) / trials.length;
      const chance = (trials.length - 1) / (trials.length - by.size);
      return { name, by, share: by.size > 1 && by.size < trials.length ? 1 - (1 - between / spread) * chance : 0 };
    }).filter(p => p.share > 0).sort((a, b) => b.share - a.share).slice(0, 3);
    for (const p of found)
      section.append(element("p", `${p.name}: its values explain ${(100 * p.share).toFixed(0)} % of the spread`),
        list([p.name, "best", "mean", "trials"], [...p.by].sort((a, b) => Math.min(...a[1]) - Math.min(...b[1])).slice(0, 8)
          .map(([value, l]) => [value, time(Math.exp(Math.min(...l))), time(Math.exp(mean(l))), String(l.length)])));
    return found.length ? section : null;
  }

  function failures(row) {
    const section = element("section", element("h3", `Failures: ${row.all[1]} of ${row.all[0]} trials`));
    for (const [outcome, error, command] of row.x)
      section.append(element("p", [outcome + (error ? ": " + error : ""), element("br"), element("code", command)]));
    return section;
  }

  function detail(row) {
    const box = element("div", null, { class: "detail-body" });
    if (row.k.length) box.append(ceiling(row), inWords(row));
    if (row.t && row.t.some(t => t[2] > 0)) {
      box.append(search(row), ladder(row));
      const matters = parameters(row);
      if (matters) box.append(matters);
    }
    if (row.k.length) box.append(finals(row));
    if (row.all && row.all[1] > 0) box.append(failures(row));
    box.append(element("section", [element("h3", "The same in a terminal"),
      element("code", `gemmtune show ${/^[\w,.:=@+-]*$/.test(row.n) ? row.n : `'${row.n}'`} --device ${row.d}`)]));
    return box;
  }

  function toggle(row, button) {
    const next = row.nextElementSibling;
    if (next && next.className === "detail") {
      next.remove();
      button.setAttribute("aria-expanded", "false");
      return;
    }
    const cell = element("td", detail(data.rows[row.dataset.i]), { colspan: heads.length });
    row.after(element("tr", cell, { class: "detail" }));
    button.setAttribute("aria-expanded", "true");
  }

  rows.forEach(row => {
    const cell = row.cells[0];
    const button = element("button", cell.textContent, { type: "button", "aria-expanded": "false" });
    button.addEventListener("click", () => toggle(row, button));
    cell.replaceChildren(button);
  });

  // ---- sort ----

  function closeAll() {
    body.querySelectorAll("tr.detail").forEach(d => d.remove());
    body.querySelectorAll("[aria-expanded=true]").forEach(b => b.setAttribute("aria-expanded", "false"));
  }

  function keyOf(row, column) {
    const cell = row.cells[column];
    return "v" in cell.dataset ? Number(cell.dataset.v) : cell.textContent;
  }

  // Empty cells come last in either order.
  function compare(a, b, sign) {
    if (a === "" || b === "") return (a === "") - (b === "");
    return sign * (typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b)));
  }

  heads.forEach((head, column) => {
    const button = element("button", head.textContent, { type: "button" });
    button.addEventListener("click", () => {
      const sign = head.getAttribute("aria-sort") === "ascending" ? -1 : 1;
      heads.forEach(h => h.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", sign > 0 ? "ascending" : "descending");
      closeAll();
      const keys = new Map(rows.map(r => [r, keyOf(r, column)]));
      rows.sort((a, b) => compare(keys.get(a), keys.get(b), sign) || a.dataset.i - b.dataset.i);
      body.append(...rows);
    });
    head.replaceChildren(button);
  });

  // ---- filter ----

  const controls = element("div", null, { class: "controls" });
  const count = element("span", "", { role: "status", class: "dull" });
  const text = element("input", null, { type: "search", placeholder: "f32-nn, batch, 4096 ..." });
  const choices = [];
  controls.append(element("label", ["part of a row ( / )", text]));
  for (const title of ["device", "type", "layout", "class", "family", "verdict", "status", "needs"]) {
    const column = titles.indexOf(title);
    if (column < 0) continue;
    const values = [...new Set(rows.map(r => r.cells[column].textContent))].filter(Boolean).sort();
    if (values.length < 2) continue;
    const select = element("select", [element("option", "any", { value: "" }), ...values.map(v => element("option", v))]);
    choices.push([column, select]);
    controls.append(element("label", [title, select]));
  }

  function filter() {
    const words = text.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    closeAll();
    for (const row of rows) {
      const whole = words.length ? row.textContent.toLowerCase() : "";
      row.hidden = !(words.every(w => whole.includes(w)) &&
        choices.every(([column, select]) => !select.value || row.cells[column].textContent === select.value));
      shown += !row.hidden;
    }
    count.textContent = `${shown} of ${rows.length} problems`;
  }
  text.addEventListener("input", filter);
  choices.forEach(([, select]) => select.addEventListener("change", filter));
  controls.append(count);
  table.parentElement.before(controls);
  document.addEventListener("keydown", e => {
    if (e.key === "/" && !/INPUT|SELECT/.test(document.activeElement.tagName)) {
      e.preventDefault();
      text.focus();
    }
  });
  filter();

  window.addEventListener("beforeprint", () => document.querySelectorAll("details").forEach(d => { d.open = true; }));
})();
