-- SPDX-License-Identifier: Apache-2.0
--
-- Version 2. The column of a record that has the baseline's time no longer names a kernel
-- family; how much each problem was looked at is stored. db/rekey.c gives CPUs their new keys.

ALTER TABLE record RENAME TO record_1;

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
    baseline_ns REAL NOT NULL CHECK (baseline_ns >= 0), -- of the family of that role; 0 unknown
    measured_ms INTEGER NOT NULL CHECK (measured_ms >= 0),
    provenance  TEXT NOT NULL CHECK (length(provenance) BETWEEN 1 AND 127),
    checksum    TEXT NOT NULL CHECK (length(checksum) = 16),
    UNIQUE (subject, provenance)
) STRICT;

INSERT INTO record SELECT * FROM record_1;
DROP TABLE record_1;

-- A problem was searched to its end on a device, and its finalists are stored: with which
-- families, and how far the search was allowed to go. A problem that was searched at least so
-- far with the same families need not be searched again.
CREATE TABLE tuning (
    id       INTEGER PRIMARY KEY,
    device   INTEGER NOT NULL REFERENCES device (id),
    problem  TEXT NOT NULL CHECK (length(problem) BETWEEN 1 AND 191),
    families TEXT NOT NULL CHECK (length(families) = 64), -- SHA-256 over their names and hashes
    trials   INTEGER NOT NULL CHECK (trials >= 0),    -- at most; 2^63 - 1: no limit
    limit_ms INTEGER NOT NULL CHECK (limit_ms >= 0),  -- at most; 2^63 - 1: no limit
    ended_ms INTEGER NOT NULL CHECK (ended_ms >= 0),
    UNIQUE (device, problem, families)
) STRICT;
