# SPDX-License-Identifier: Apache-2.0
# screen.awk - what a terminal of `columns` columns shows at the end of what was written to it:
# awk -v columns=80 -f tests/screen.awk <FILE. It knows a carriage return, "erase to the end of the
# line", colours and a line that goes on below when it is full.
function put(c) {
    if (at == columns) {
        row++
        at = 0
    }
    line[row] = sprintf("%-" at "s", substr(line[row], 1, at)) c substr(line[row], at + 2)
    at++
}
BEGIN {
    RS = "\n"
    row = at = 0
}
{
    rest = $0
    while (rest != "") {
        if (substr(rest, 1, 1) == "\r") {
            at = 0
            rest = substr(rest, 2)
        } else if (match(rest, /^\033\[[0-9;]*[A-Za-z]/)) {
            if (substr(rest, RLENGTH, 1) == "K")
                line[row] = substr(line[row], 1, at)
            rest = substr(rest, RLENGTH + 1)
        } else {
            put(substr(rest, 1, 1))
            rest = substr(rest, 2)
        }
    }
    row++
}
END {
    for (i = 0; i < row; i++) {
        sub(/ *$/, "", line[i])
        print line[i]
    }
}
