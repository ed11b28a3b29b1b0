#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The manual page is what `make man` writes, and sound.
. "${GT_SRC:-.}/tests/cli/lib.sh"
page=$GT_SRC/docs/man/gemmtune.1

code=0
: >"$work/out"
: >"$work/err"
"$GEMMTUNE" man <"$page.in" >"$work/page" 2>"$work/err" && diff "$page" "$work/page" >"$work/out"
verdict "docs/man/gemmtune.1 is current (else run make man)" $?
for word in '--effort' '--templates' 'weight' 'tied' 'x baseline' '--wide' '"to 95 %"'; do
    grep -q -e "$(echo "$word" | sed 's/^--/-/')" "$page"
    verdict "the manual has $word" $?
done
grep -v '^@command bench$' "$page.in" >"$work/less.in"
"$GEMMTUNE" man <"$work/less.in" >/dev/null 2>"$work/err"
code=$?
[ "$code" -eq 1 ] && grep -q 'no line "@command bench"' "$work/err"
verdict "a command that the page leaves out" $?
if command -v mandoc >/dev/null; then
    mandoc -Tlint -Wwarning "$page" >"$work/out" 2>&1
    verdict "mandoc has nothing to say" $?
else
    echo "ok - mandoc # SKIP not installed"
fi
finish
