#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# links.sh - every link of a page to a file of the tree leads somewhere, and to a heading that is there.
. "${GT_SRC:-.}/tests/cli/lib.sh"
code=0
: >"$work/err"

# links FILE...: "FILE TARGET" for each link that is no address; code in `...` and indented code do not count
links() {
    awk '
        /^    / || /^```/ { next }
        {
            rest = $0
            gsub(/`[^`]*`/, "", rest)
            while (match(rest, /\]\([^)]*\)/)) {
                print FILENAME, substr(rest, RSTART + 2, RLENGTH - 3)
                rest = substr(rest, RSTART + RLENGTH)
            }
        }' "$@" | grep -v ' [a-z]*://'
}

# anchors FILE: the anchors of its headings
anchors() {
    sed -n 's/^##* *//p' "$1" | tr '[:upper:]' '[:lower:]' | sed 's/\[\([^]]*\)\]([^)]*)/\1/g; s/[^a-z0-9 _-]//g; s/ /-/g'
}

# lost ROOT: the links of its pages that lead nowhere
lost() (
    cd "$1" || exit 1
    # shellcheck disable=SC2046
    links $(find ./*.md docs templates -name '*.md' 2>/dev/null) >"$work/links"
    while read -r file target; do
        path=${target%%#*}
        there=$file
        [ -z "$path" ] || there=$(dirname "$file")/$path
        if [ ! -e "$there" ]; then
            echo "$file: $target"
        elif [ "$path" != "$target" ]; then
            anchors "$there" | grep -qx -e "${target#*#}" || echo "$file: $target"
        fi
    done <"$work/links"
)

lost "$GT_SRC" >"$work/out"
[ ! -s "$work/out" ] && [ "$(wc -l <"$work/links")" -gt 100 ]
verdict "every link leads somewhere" $?

mkdir -p "$work/tree/docs"
# shellcheck disable=SC2016 # Markdown
printf '# A page\n\n## What `it` costs, today\n\n[here](#what-it-costs-today) [there](docs/b.md#b)\n' >"$work/tree/a.md"
# shellcheck disable=SC2016 # Markdown
printf '# B\n\n[back](../a.md#a-page) [no](../c.md) `[code](x.md)`\n\n[none](#c) [away](https://example.org/x)\n' >"$work/tree/docs/b.md"
lost "$work/tree" >"$work/out"
[ "$(cat "$work/out")" = "docs/b.md: ../c.md
docs/b.md: #c" ]
verdict "a lost page and a lost heading are named" $?
finish
