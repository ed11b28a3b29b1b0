-- SPDX-License-Identifier: Apache-2.0
--
-- Version 1. Every origin, device, trial and record row ends in a checksum: the first 16 hex
-- digits of SHA-256 over its columns (db/row.c), because SQLite does not notice flipped bits
-- in a data page. A subject's texts are part of the checksums of the rows that refer to it.
-- Times are nanoseconds (_ns), milliseconds (_ms) or, for moments, milliseconds since 1970.

-- Who this database is to others: rows that are "local" here carry this name once merged.
CREATE TABLE origin (
    id       INTEGER PRIMARY KEY CHECK (id = 1),
    name     TEXT NOT NULL CHECK (length(name) BETWEEN 1 AND 127 AND name <> 'local'),
    checksum TEXT NOT NULL CHECK (length(checksum) = 16)
) STRICT;

CREATE TABLE device (
    id             INTEGER PRIMARY KEY,
    key            TEXT NOT NULL UNIQUE,
    here           INTEGER NOT NULL CHECK (here IN (0, 1)), -- 1: a run was made on it here
    backend        TEXT NOT NULL CHECK (backend IN ('cuda', 'opencl')),
    name           TEXT NOT NULL,
    vendor         TEXT NOT NULL,
    arch           TEXT NOT NULL,
    uuid           TEXT NOT NULL,
    pci            TEXT NOT NULL,
    driver         TEXT NOT NULL,
    compiler       TEXT NOT NULL,
    cc             INTEGER NOT NULL CHECK (cc >= 0),
    units          INTEGER NOT NULL CHECK (units >= 0),
    warp           INTEGER NOT NULL CHECK (warp >= 0),
    max_threads    INTEGER NOT NULL CHECK (max_threads >= 0),
    regs_per_block INTEGER NOT NULL CHECK (regs_per_block >= 0),
    clock_mhz      INTEGER NOT NULL CHECK (clock_mhz >= 0),
    mem_clock_mhz  INTEGER NOT NULL CHECK (mem_clock_mhz >= 0),
    bus_bits       INTEGER NOT NULL CHECK (bus_bits >= 0),
    mem_bytes      INTEGER NOT NULL CHECK (mem_bytes >= 0),
    max_alloc      INTEGER NOT NULL CHECK (max_alloc >= 0),
    l2_bytes       INTEGER NOT NULL CHECK (l2_bytes >= 0),
    smem_max       INTEGER NOT NULL CHECK (smem_max >= 0),
    has_f64        INTEGER NOT NULL CHECK (has_f64 IN (0, 1)),
    is_cpu         INTEGER NOT NULL CHECK (is_cpu IN (0, 1)),
    checksum       TEXT NOT NULL CHECK (length(checksum) = 16)
) STRICT;

-- One state of a kernel family's source. A changed source is another row and outdates the
-- trials and records of the old one, and nobody else's.
CREATE TABLE family (
    id   INTEGER PRIMARY KEY,
    name TEXT NOT NULL CHECK (length(name) BETWEEN 1 AND 23),
    hash TEXT NOT NULL CHECK (length(hash) = 64),
    UNIQUE (name, hash)
) STRICT;

-- What a trial or a record is about. Names and integers only: nothing here reaches a compiler
-- before it was checked against the family's space.
CREATE TABLE subject (
    id      INTEGER PRIMARY KEY,
    device  INTEGER NOT NULL REFERENCES device (id),
    problem TEXT NOT NULL CHECK (length(problem) BETWEEN 1 AND 191),
    family  INTEGER NOT NULL REFERENCES family (id),
    point   TEXT NOT NULL CHECK (length(point) <= 1079),
    UNIQUE (device, problem, family, point)
) STRICT;

-- One tuner process at work. pid, boot and start_time tell a live process from one that died
-- and whose pid was given to another.
CREATE TABLE run (
    id         INTEGER PRIMARY KEY,
    device     INTEGER NOT NULL REFERENCES device (id),
    version    TEXT NOT NULL,
    driver     TEXT NOT NULL,
    compiler   TEXT NOT NULL,
    arguments  TEXT NOT NULL,
    seed       INTEGER NOT NULL, -- the 64 bits of an unsigned number
    pid        INTEGER NOT NULL,
    boot       TEXT NOT NULL,    -- the kernel's boot id
    start_time INTEGER NOT NULL, -- clock ticks since boot, /proc/<pid>/stat
    started_ms INTEGER NOT NULL,
    ended_ms   INTEGER,          -- NULL: at work, or dead
    how        TEXT NOT NULL     -- how it ended, one word
) STRICT;

CREATE TABLE trial (
    id          INTEGER PRIMARY KEY,
    subject     INTEGER NOT NULL REFERENCES subject (id),
    state       TEXT NOT NULL CHECK (state IN ('running', 'done', 'quarantined')),
    attempts    INTEGER NOT NULL CHECK (attempts >= 1),
    outcome     TEXT NOT NULL CHECK (outcome IN -- a running trial's is 'crashed' until it ends
                ('correct', 'constraints', 'compile', 'launch', 'wrong_result', 'timeout',
                 'crashed', 'out_of_memory', 'implausible')),
    samples     TEXT NOT NULL CHECK (length(samples) <= 2048), -- JSON array, one launch's ns
    median_ns   REAL NOT NULL CHECK (median_ns >= 0),
    low_ns      REAL NOT NULL CHECK (low_ns >= 0),
    high_ns     REAL NOT NULL CHECK (high_ns >= 0),
    launches    INTEGER NOT NULL CHECK (launches >= 0),
    dropped     INTEGER NOT NULL CHECK (dropped >= 0),
    clock_mhz   INTEGER NOT NULL CHECK (clock_mhz >= 0),
    registers   INTEGER NOT NULL CHECK (registers >= -1),
    spill_bytes INTEGER NOT NULL CHECK (spill_bytes >= -1),
    smem_bytes  INTEGER NOT NULL CHECK (smem_bytes >= -1),
    compile_ms  REAL NOT NULL CHECK (compile_ms >= 0),
    error       TEXT NOT NULL CHECK (length(error) <= 511),
    run         INTEGER REFERENCES run (id), -- NULL: made elsewhere
    ended_ms    INTEGER NOT NULL CHECK (ended_ms >= 0), -- 0 while running
    provenance  TEXT NOT NULL CHECK (length(provenance) BETWEEN 1 AND 127),
    checksum    TEXT NOT NULL CHECK (length(checksum) = 16),
    UNIQUE (subject, provenance)
) STRICT;

-- The finalists of a problem on a device. Those of one (device, problem, provenance) were
-- written together and share measured_ms.
CREATE TABLE record (
    id          INTEGER PRIMARY KEY,
    subject     INTEGER NOT NULL REFERENCES subject (id),
    rank        INTEGER NOT NULL CHECK (rank >= 0), -- 0: the winner among those
    tied        INTEGER NOT NULL CHECK (tied IN (0, 1)),
    verified    INTEGER NOT NULL CHECK (verified IN (0, 1)), -- on the machine of this file
    median_ns   REAL NOT NULL CHECK (median_ns > 0),
    low_ns      REAL NOT NULL CHECK (low_ns > 0),
    high_ns     REAL NOT NULL CHECK (high_ns > 0),
    samples     INTEGER NOT NULL CHECK (samples >= 1),
    launches    INTEGER NOT NULL CHECK (launches >= 0),
    dropped     INTEGER NOT NULL CHECK (dropped >= 0),
    clock_mhz   INTEGER NOT NULL CHECK (clock_mhz >= 0),
    naive_ns    REAL NOT NULL CHECK (naive_ns >= 0),
    measured_ms INTEGER NOT NULL CHECK (measured_ms >= 0),
    provenance  TEXT NOT NULL CHECK (length(provenance) BETWEEN 1 AND 127),
    checksum    TEXT NOT NULL CHECK (length(checksum) = 16),
    UNIQUE (subject, provenance)
) STRICT;
