-- SPDX-License-Identifier: Apache-2.0
--
-- Version 4. Our kernel beside a vendor's library: both were timed in turns on one problem, with
-- the same workspace, and their ratio was taken round by round. A row counts for this very kernel
-- (the subject: the source of the family and the point) and this version of the library.

CREATE TABLE rival (
    id          INTEGER PRIMARY KEY,
    subject     INTEGER NOT NULL REFERENCES subject (id),
    workspace   INTEGER NOT NULL CHECK (workspace >= 0), -- bytes that each side had
    library     TEXT NOT NULL CHECK (length(library) BETWEEN 1 AND 31), -- 'cublas'
    version     INTEGER NOT NULL CHECK (version > 0), -- as the library numbers itself: 130100
    verdict     TEXT NOT NULL CHECK (verdict IN ('win', 'tie', 'loss', 'noisy')), -- ours
    ours_ns     REAL NOT NULL CHECK (ours_ns > 0),  -- medians
    rival_ns    REAL NOT NULL CHECK (rival_ns > 0),
    ratio       REAL NOT NULL CHECK (ratio > 0),    -- the library's time over ours: the median
    ratio_low   REAL NOT NULL CHECK (ratio_low > 0), -- of all rounds with its 95 % interval
    ratio_high  REAL NOT NULL CHECK (ratio_high > 0),
    floor       REAL NOT NULL CHECK (floor >= 0), -- how far from 1 our ratio to ourselves was
    rounds      INTEGER NOT NULL CHECK (rounds >= 1),
    driver      TEXT NOT NULL CHECK (length(driver) <= 127), -- of the device
    measured_ms INTEGER NOT NULL CHECK (measured_ms >= 0),
    provenance  TEXT NOT NULL CHECK (length(provenance) BETWEEN 1 AND 127),
    checksum    TEXT NOT NULL CHECK (length(checksum) = 16),
    UNIQUE (subject, workspace, library, version, provenance)
) STRICT;
