#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# check: part
# slurm.sh - configs/slurm/ by itself and, with GT_LONG, on a Slurm of one node that this test
# starts: as root, without systemd, everything in its own folder.
# shellcheck source=tests/tune/lib.sh
. "$GT_SRC/tests/tune/lib.sh"

scripts=$GT_SRC/configs/slurm
export OUT="$TMPDIR/results" SHARDS=3
echo '{"format": 1, "sizes": ["f32-nn-8x8x8", "f32-nn-16x16x16", "f64-nn-9x9x9"]}' >"$TMPDIR/three.json"

# ---- without Slurm ----

# task ARGUMENT...: task 2 as Slurm would start it, in the background
task() {
    SLURM_ARRAY_TASK_ID=2 SLURM_ARRAY_TASK_COUNT=1 SLURM_ARRAY_JOB_ID=77 PATH="$TMPDIR/bin:$PATH" \
        sh "$scripts/tune.sbatch" "$@" >"$TMPDIR/said" 2>&1 &
    task=$!
}

mkdir -p "$TMPDIR/bin"
printf '%s\n' '#!/bin/sh' 'echo "scontrol $*"' >"$TMPDIR/bin/scontrol"
chmod +x "$TMPDIR/bin/scontrol"
task --templates "$families" --family hang --timeout 60s --effort full --sizes "$TMPDIR/three.json"
until_sql "$OUT/shard-2.db" "SELECT 1 FROM trial WHERE state = 'running'"
kill -USR1 $task
wait $task
is "SIGUSR1: the task saves and ends with 75" $? 75
has "its own shard of as many as SHARDS says" "$(cat "$TMPDIR/said")" "shard 2/3: 1 of 3 problems"
has "and is put into the queue again" "$(cat "$TMPDIR/said")" "scontrol requeue 77_2"
is "its run has ended" "$(sql "$OUT/shard-2.db" "SELECT how FROM run")" stopped

sh "$scripts/merge.sbatch" >"$TMPDIR/said" 2>&1
is "merge: shards are missing: exit 1" $? 1
has "they are named" "$(cat "$TMPDIR/said")" "no results of shard 1 3"
is "what is there is merged" "$(sql "$OUT/all.db" "SELECT count(*) FROM device")" 1
sh "$scripts/submit" x --sizes y >"$TMPDIR/said" 2>&1
is "submit without a number of shards: exit 2" $? 2
rm -rf "$OUT"

# ---- a Slurm of one node ----

PATH=$PATH:/usr/sbin:/sbin
skip() {
    echo "ok - a real Slurm # SKIP $1"
    exit "$bad"
}
[ -n "${GT_LONG:-}" ] || skip "make check-long does it"
for program in slurmctld slurmd sbatch; do
    command -v $program >/dev/null || skip "$program is missing: tools/setup slurm"
done
[ "$(id -u)" -eq 0 ] || skip "its daemons want root"

slurm=$TMPDIR/slurm host=$(hostname -s) port=$((20000 + $$ % 20000))
export SLURM_CONF="$slurm/slurm.conf"
mkdir -p "$slurm/state" "$slurm/spool"
cat >"$SLURM_CONF" <<END
ClusterName=test
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=$port
SlurmdPort=$((port + 1))
AuthType=auth/none
CredType=cred/none
SlurmUser=root
SlurmdUser=root
StateSaveLocation=$slurm/state
SlurmdSpoolDir=$slurm/spool
SlurmctldPidFile=$slurm/slurmctld.pid
SlurmdPidFile=$slurm/slurmd.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerParameters=sched_interval=2,batch_sched_delay=0
SlurmdParameters=config_overrides
MpiDefault=none
ReturnToService=2
KillWait=5
NodeName=$host NodeAddr=127.0.0.1 CPUs=$(nproc) State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
END
# No cgroups: a container may have none to give. Slurm 22 has no such word and needs none.
case $(slurmd -V) in
*" 22."*) ;;
*) echo "CgroupPlugin=disabled" >"$slurm/cgroup.conf" ;;
esac

# shellcheck disable=SC2317 # called by trap
end_slurm() {
    scancel --full --user=root >/dev/null 2>&1
    # shellcheck disable=SC2086 # two of them
    kill $daemons 2>/dev/null
    wait
}
slurmctld -D -c -f "$SLURM_CONF" >"$slurm/slurmctld.log" 2>&1 &
daemons=$!
slurmd -D -f "$SLURM_CONF" >"$slurm/slurmd.log" 2>&1 &
daemons="$daemons $!"
trap end_slurm EXIT
trap 'exit 1' INT TERM

# until COMMAND...: waits for it to succeed, five minutes at most, which only a failure takes
until_true() {
    for _ in $(seq 600); do
        ! "$@" >/dev/null 2>&1 || return 0
        sleep 0.5
    done
    return 1
}
# shellcheck disable=SC2317 # called by until_true
is_idle() {
    sinfo --noheader --format=%t | grep -q '^idle'
}
# shellcheck disable=SC2317 # called by until_true
is_empty() {
    [ -z "$(squeue --noheader 2>&1)" ]
}

until_true is_idle
is "a node is up" $? 0 # else the logs say why
[ "$bad" -eq 0 ] || { tail -n 20 "$slurm"/*.log && exit 1; }

unset SHARDS
cd "$TMPDIR" || exit 1
TASKS=--cpus-per-task=1 sh "$scripts/submit" 3%2 --sizes three.json --family naive --effort quick \
    >"$TMPDIR/said" 2>&1
is "submit" $? 0
has "says what it did" "$(cat "$TMPDIR/said")" "tunes 3 shards, job "
until_true is_empty || squeue --format="%i %T %r"
is_empty
is "all jobs have ended" $? 0
is "all of them well" "$(scontrol show job | sed -n 's/.*JobState=\([A-Z]*\).*/\1/p' | sort | uniq -c |
    tr -s ' ')" " 4 COMPLETED"
for i in 1 2 3; do
    is "task $i tuned one problem" "$(sql "$OUT/shard-$i.db" "SELECT count(*) FROM tuning")" 1
done
is "all three are in one database" "$("$GEMMTUNE" list --db "$OUT/all.db" --csv |
    sed -n 's/.*\([fi][0-9]*-nn-[0-9x]*\),.*/\1/p' | sort | tr '\n' ' ')" \
    "f32-nn-16x16x16 f32-nn-8x8x8 f64-nn-9x9x9 "
[ "$bad" -eq 0 ] || tail -n 20 "$slurm"/*.log "$OUT"/*.log
exit "$bad"
