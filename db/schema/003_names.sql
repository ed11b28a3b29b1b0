-- SPDX-License-Identifier: Apache-2.0
--
-- Version 3. A problem's name has 511 bytes at most: those of batches and epilogues are longer
-- than the 191 that were allowed. Names that are stored stay as they are. Foreign keys are off
-- while migrations run, so the rows that refer to a subject keep its id.

CREATE TABLE subject_3 (
    id      INTEGER PRIMARY KEY,
    device  INTEGER NOT NULL REFERENCES device (id),
    problem TEXT NOT NULL CHECK (length(problem) BETWEEN 1 AND 511),
    family  INTEGER NOT NULL REFERENCES family (id),
    point   TEXT NOT NULL CHECK (length(point) <= 1079),
    UNIQUE (device, problem, family, point)
) STRICT;

INSERT INTO subject_3 SELECT * FROM subject;
DROP TABLE subject;
ALTER TABLE subject_3 RENAME TO subject;

CREATE TABLE tuning_3 (
    id       INTEGER PRIMARY KEY,
    device   INTEGER NOT NULL REFERENCES device (id),
    problem  TEXT NOT NULL CHECK (length(problem) BETWEEN 1 AND 511),
    families TEXT NOT NULL CHECK (length(families) = 64), -- SHA-256 over their names and hashes
    trials   INTEGER NOT NULL CHECK (trials >= 0),    -- at most; 2^63 - 1: no limit
    limit_ms INTEGER NOT NULL CHECK (limit_ms >= 0),  -- at most; 2^63 - 1: no limit
    ended_ms INTEGER NOT NULL CHECK (ended_ms >= 0),
    UNIQUE (device, problem, families)
) STRICT;

INSERT INTO tuning_3 SELECT * FROM tuning;
DROP TABLE tuning;
ALTER TABLE tuning_3 RENAME TO tuning;
