# SPDX-License-Identifier: Apache-2.0
"""report_page.py PAGE LIST.json [SCRIPTS] - a page of `gemmtune report` beside what `list --json`
printed of the same database: tags are closed, the only scripts are the data and ours, and every
winner's time stands in the data and in the table. Prints "ok" or what is wrong; exit 1."""
import html.parser
import json
import sys

VOID = {"meta", "br", "img", "link", "input", "hr"}
OPTIONAL = {"td", "tr", "li", "th"}  # HTML lets their ends out
ALLOWED = {"html", "head", "meta", "title", "style", "body", "h1", "h2", "p", "nav", "a", "section",
           "details", "summary", "ul", "li", "code", "figure", "figcaption", "svg", "desc", "g",
           "rect", "path", "polyline", "polygon", "circle", "text", "div", "table", "thead",
           "tbody", "tr", "th", "td", "noscript", "script", "img"}


class Page(html.parser.HTMLParser):
    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.open, self.wrong, self.scripts, self.rows, self.ids = [], [], [], [], set()

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        if tag not in ALLOWED:
            self.wrong.append(f"a tag <{tag}>")
        self.wrong += [f"an attribute {a}" for a in attributes if a.startswith("on") or
                       a in ("href", "src") and not attributes[a].startswith(("#", "data:"))]
        if "id" in attributes:
            self.ids.add(attributes["id"])
        if tag == "script":
            self.scripts.append("")
        if tag == "tr" and "winners" in self.ids:
            self.rows.append([])
        if tag == "td" and self.rows:
            self.rows[-1].append(attributes.get("data-v", ""))
        if tag in VOID:
            return
        while self.open and self.open[-1] in OPTIONAL and tag in ("td", "tr", "li", "th"):
            if tag in ("tr", "li") or self.open[-1] != "tr":
                self.open.pop()
            else:
                break
        self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)
        if tag not in VOID:
            self.handle_endtag(tag)

    def handle_endtag(self, tag):
        while self.open and self.open[-1] in OPTIONAL and self.open[-1] != tag:
            self.open.pop()
        if not self.open or self.open.pop() != tag:
            self.wrong.append(f"</{tag}> at line {self.getpos()[0]}")

    def handle_data(self, data):
        if self.open and self.open[-1] == "script":
            self.scripts[-1] += data


def main(path, listed, scripts=2):
    page = Page()
    with open(path, encoding="utf-8") as f:
        page.feed(f.read())
    wrong = page.wrong + [f"<{tag}> is not closed" for tag in page.open]
    if len(page.scripts) != int(scripts):
        wrong.append(f"{len(page.scripts)} scripts")
    with open(listed, encoding="utf-8") as f:
        winners = json.load(f)
    rows = json.loads(page.scripts[0])["rows"] if len(page.scripts) == 2 else []
    times = {(r["d"], r["n"]): r["k"][0][2] for r in rows if r["k"]}
    shown = {cell for row in page.rows for cell in row}
    for w in winners:
        found = times.get((w["device"], w["problem"]))
        if found is None or abs(found - w["median_ns"]) > 1e-4 * w["median_ns"]:
            wrong.append(f"{w['problem']}: {found} in the data, {w['median_ns']} in the list")
        elif f"{found:.6g}" not in shown:
            wrong.append(f"{w['problem']}: {found} is not in the table")
    if len(times) != len(winners):
        wrong.append(f"{len(times)} winners in the data, {len(winners)} in the list")
    print("\n".join(wrong[:10]) or "ok")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
