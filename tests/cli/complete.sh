#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# complete.sh - the completions of bash, zsh and fish offer the commands and options of --help, the words
# that an option's help names, files, folders, and another program's command line. bash and fish are run;
# zsh reads its file and, where it can, completes on a terminal of its own.
. "${GT_SRC:-.}/tests/cli/lib.sh"
: >"$work/out"
: >"$work/err"
code=0

for shell in bash zsh fish; do
    "$GEMMTUNE" complete $shell <"$GT_SRC/tools/packages/completions/gemmtune.$shell.in" >"$work/$shell" 2>"$work/err"
    code=$?
    [ "$code" -eq 0 ] && [ -s "$work/$shell" ] && ! grep -q '^@' "$work/$shell"
    verdict "the completion of $shell is made" $?
done
expect "an unknown shell" 2 'bash, zsh or fish' complete csh
mkdir -p "$work/here/folder" && : >"$work/here/file.json"

# options_of COMMAND: the long options in its help
options_of() {
    "$GEMMTUNE" "$1" --help | sed -n 's/^  \(-., \|    \)\(--[a-z-]*\).*/\2/p' | sort
}
"$GEMMTUNE" --help | sed -n 's/^  \([a-z]*\)  *[A-Z].*/\1/p' >"$work/commands"

# ask_shell WORD...: what $shell offers for the last word, a line each
ask_shell() {
    cd "$work/here" || return
    case $shell in
    bash)
        bash --norc --noprofile -c '. "$0" && COMP_WORDS=(gemmtune "$@") COMP_CWORD=$# && _gemmtune &&
            printf "%s\n" "${COMPREPLY[@]}"' "$work/bash" "$@"
        ;;
    fish) LINE="gemmtune $*" fish --no-config -c "source $work/fish; complete -C \"\$LINE\"" | cut -f 1 ;;
    esac
}

# offers NAME WANTED WORD...: exactly the wanted words
offers() {
    name=$1 wanted=$2
    shift 2
    (ask_shell "$@") 2>"$work/err" | sort >"$work/offers"
    # shellcheck disable=SC2086 # words
    printf '%s\n' $wanted | sort >"$work/wanted"
    diff "$work/wanted" "$work/offers" >"$work/out"
    verdict "$shell: $name" $?
}

# reads SHELL: whether the shell is here and takes the file as its own language
reads() {
    if ! command -v "$1" >/dev/null; then
        echo "ok - $1 # SKIP not installed"
        return 1
    fi
    "$1" -n "$work/$1" >"$work/out" 2>"$work/err"
    code=$?
    verdict "$1 reads its completion" "$code"
}

for shell in bash fish; do
    reads $shell || continue
    offers "commands" "$(cat "$work/commands") help" ""
    offers "a command that is begun" "list lookup lock ladder" l
    offers "help's operand" "trial tune" help t
    [ $shell = bash ] && some=$(cat "$work/commands") || some="tune stream cache exec"
    for c in $some; do
        offers "all options of $c" "$(options_of "$c")" "$c" --
    done
    offers "an option first means tune" "--seed --shard --sizes --strategy" --device 0 --s
    offers "words of an option" "quick normal full" tune --effort ""
    offers "one of them, by the short form" "quick" tune -e q
    offers "words with commas" "tile,mma tile,multistage" tune --family tile,m
    offers "words of operands" "stat clear" cache ""
    offers "families as operands" "wgmma" space w
    offers "a program" "$(bash -c 'compgen -c mkfif' | sort -u)" exec mkfif
done
reads zsh || :
shell=bash
offers "files" "file.json folder" import f
offers "folders alone" "folder" tune --templates ""
offers "a folder to write to" "folder" emit --output ""
offers "nothing after a number" "" tune --jobs ""
offers "a value behind =" "full" tune --effort = f
offers "a value behind = that is to come" "quick normal full" tune --effort =
offers "an option behind a value" "--effort" tune f32-nn-1x1x1 --db x --eff
offers "a file of the program that runs" "folder" exec --db x -- echo fo
offers "a program behind --" "$(bash -c 'compgen -c mkfif' | sort -u)" tune -- mkfif

# The words of an option stand in its help.
grep -o "^    '.*words='[^']*'" "$work/bash" | sed "s/^    '\([a-z]*\) --\([a-z-]*\)'.*words='\(.*\)'/\1 \2 \3/" |
    grep -v "^ \| family " >"$work/words"
while read -r command option words; do
    "$GEMMTUNE" "$command" --help | sed -n "s/^ .* --$option [A-Z]* //p" >"$work/out"
    for word in $words; do
        grep -q -w -e "$word" "$work/out" || echo "$command --$option $word"
    done
done <"$work/words" >"$work/err"
[ ! -s "$work/err" ] && [ "$(grep -c . "$work/words")" -gt 15 ]
verdict "each word of an option is in its help" $?
finish
