#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Sweep files that are wrong: exit 3, one sentence with file, line and path, before any device.
. "${GT_SRC:-.}/tests/cli/lib.sh"

# refused NAME PATTERN TEXT: a sweep file with this text.
refused() {
    printf '%s' "$3" >"$work/s.json"
    expect "$1" 3 "$2" tune --device 0 --sizes "$work/s.json" --db "$work/t.db"
}
# entry NAME PATTERN TEXT: this entry stands in line 3.
entry() {
    refused "$1" "s.json:3: $2" "$(printf '{"format": 1,\n"sizes": [\n%s\n]}' "$3")"
}

expect "missing file" 3 "nowhere.json" tune --device 0 --sizes "$work/nowhere.json"
mkdir "$work/folder"
expect "a folder" 3 "folder" tune --device 0 --sizes "$work/folder"
refused "empty file" "s.json" ''
refused "not JSON, and no log" 's.json: neither a list of problems in JSON nor lines of' 'sizes: 1'
refused "a log without a product" 's.json: no line can be tuned: 1 complex, 1 of another function$' \
    'rocblas-bench -f gemm -r f32_c -m 1 -n 1 -k 1
rocblas-bench -f trsm -r f32_r -m 1 -n 1'
refused "a log that is cut" 's.json: no line can be tuned: 1 damaged .line 1: there is no K.$' \
    'rocblas-bench -f gemm -r f32_r -m 1 -n 1'
refused "cut short" "s.json:" '{"format": 1, "sizes": ["f32-nn-1x1x1"'
refused "text behind the end" "s.json:1: " '{"format": 1, "sizes": ["f32-nn-1x1x1"]} x'
refused "no sizes" '"sizes" is missing' '{"format": 1}'
refused "empty sizes" '/sizes: must be a list' '{"format": 1, "sizes": []}'
refused "newer format" '/format: must be 1, not 2' '{"format": 2, "sizes": ["f32-nn-1x1x1"]}'
refused "unknown key of the file" '/size: unknown key, did you mean "sizes"' '{"format": 1, "size": []}'
entry "wrong type of entry" '/sizes/0: must be a problem name or an object' '12'
entry "wrong type of a dimension" '/sizes/0/m: must be' '{"dtype": "f32", "m": true, "n": 1, "k": 1}'
entry "negative" '/sizes/0/m: must be from 1 to 2147483647, not -4' '{"dtype": "f32", "m": -4, "n": 1, "k": 1}'
entry "1e99" '/sizes/0/m: must be from 1' '{"dtype": "f32", "m": 1e99, "n": 1, "k": 1}'
entry "2^53 + 1" '.*' '{"dtype": "f32", "m": 9007199254740993, "n": 1, "k": 1}'
entry "a fraction" '/sizes/0/m: must be an integer' '{"dtype": "f32", "m": 1.5, "n": 1, "k": 1}'
entry "unknown key" '/sizes/0/mm: unknown key' '{"dtype": "f32", "mm": 1, "n": 1, "k": 1}'
entry "duplicate key" '/sizes/0/m' '{"dtype": "f32", "m": 1, "m": 2, "n": 1, "k": 1}'
entry "a billion problems" '/sizes/0: 1000000000 problems' \
    '{"dtype": "f32", "m": "1:1000:1", "n": "1:1000:1", "k": "1:1000:1"}'
entry "unknown dtype" '/sizes/0/dtype: "f23" is not a data type' '{"dtype": "f23", "m": 1, "n": 1, "k": 1}'
entry "unknown layout" '/sizes/0/layout: "xx" is not a layout' \
    '{"dtype": "f32", "layout": "xx", "m": 1, "n": 1, "k": 1}'
entry "a range that is none" '/sizes/0/m: "1:2" is not start:end:step' '{"dtype": "f32", "m": "1:2", "n": 1, "k": 1}'
entry "a name that is none" '/sizes/0: problem "f32-nn-3x4"' '"f32-nn-3x4"'
entry "an empty product" '/sizes/0: .* is an empty product' '"f32-nn-0x4x4"'
entry "a leading dimension too small" '/sizes/0: lda is 2' '{"dtype": "f32", "m": 4, "n": 4, "k": 4, "lda": 2}'
expect "a problem on the command line" 3 'problem "f32-nn-3x"' tune --device 0 f32-nn-3x

[ ! -e "$work/t.db" ]
verdict "no database was made" $?
finish
