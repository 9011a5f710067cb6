"""The catalog's schema and statements."""

# ruff: noqa: S608 - the texts are put together from the constants of this file alone

from __future__ import annotations

from runtime.store.sqlite import Schema

EXPIRING = (
    "CREATE INDEX expiring ON instances (expires_at) WHERE state = 'live' AND dirty = 0 AND expires_at IS NOT NULL"
)
KEPT_BEFORE = 30 * 24 * 60 * 60 * 1000  # ms; see the first migration

SCHEMA = Schema(
    version=2,
    create=(
        "CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID",
        """CREATE TABLE instances (
            position INTEGER PRIMARY KEY,
            workflow TEXT NOT NULL, id TEXT NOT NULL, class_name TEXT NOT NULL,
            state TEXT NOT NULL, status TEXT NOT NULL,
            created INTEGER NOT NULL, updated INTEGER NOT NULL, started INTEGER, ended INTEGER, wake_at INTEGER,
            dirty INTEGER NOT NULL, expires_at INTEGER,
            UNIQUE (workflow, id)
        )""",
        "CREATE INDEX paged ON instances (workflow, position) WHERE state = 'live'",
        "CREATE INDEX listed ON instances (workflow, status, position) WHERE state = 'live'",
        "CREATE INDEX waking ON instances (wake_at) WHERE state = 'live' AND dirty = 0 AND wake_at IS NOT NULL",
        # Two small indexes instead of one scan of all rows at start-up.
        "CREATE INDEX unsettled ON instances (position) WHERE state = 'live' AND dirty = 1",
        "CREATE INDEX unfinished ON instances (position) WHERE state <> 'live'",
        EXPIRING,
    ),
    migrations={
        # Version 1 knew no retention: what has ended gets the longest that Cloudflare documents (30 days, counted from
        # its end), so that nothing goes earlier than it may whatever the project's default is, and no journal is read.
        1: (
            "ALTER TABLE instances ADD COLUMN expires_at INTEGER",
            f"UPDATE instances SET expires_at = ended + {KEPT_BEFORE}"
            " WHERE status IN ('complete', 'errored', 'terminated') AND ended IS NOT NULL",
            EXPIRING,
        ),
    },
)

COLUMNS = (
    "position, workflow, id, class_name, state, status, created, updated, started, ended, wake_at, dirty, expires_at"
)
SELECT = f"SELECT {COLUMNS} FROM instances "
THIS = "WHERE workflow = ? AND id = ?"
CREATE = """
    INSERT INTO instances (workflow, id, class_name, state, status, created, updated, dirty)
    SELECT json_extract(value, '$[0]'), json_extract(value, '$[1]'), json_extract(value, '$[2]'), 'creating',
        json_extract(value, '$[3]'), json_extract(value, '$[4]'), json_extract(value, '$[4]'), 1
    FROM json_each(?) WHERE true
    ON CONFLICT (workflow, id) DO NOTHING RETURNING workflow, id
"""
CONFIRM = f"UPDATE instances SET state = 'live' {THIS} AND state = 'creating'"
DIRTY = f"UPDATE instances SET dirty = 1 {THIS}"
NOTE = f"UPDATE instances SET status = ?, updated = ?, started = ? {THIS} AND dirty = 1"
SETTLE = f"""
    UPDATE instances SET status = ?, updated = ?, started = ?, ended = ?, wake_at = ?, expires_at = ?, dirty = 0 {THIS}
"""
BEGIN_DELETE = f"UPDATE instances SET state = 'deleting', dirty = 1 {THIS}"
# Asked and answered in one statement: an activation marks the row dirty, and of the two one comes first.
BEGIN_EXPIRY = f"""
    UPDATE instances SET state = 'deleting', dirty = 1 {THIS}
        AND (state = 'deleting' OR (state = 'live' AND dirty = 0 AND expires_at <= ?)) RETURNING position
"""
END_DELETE = f"DELETE FROM instances {THIS} AND state <> 'live'"
SET_META = "INSERT INTO meta VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value"
RESTORE = f"INSERT INTO instances ({COLUMNS}) VALUES ({', '.join('?' * 13)})"

COUNTS = "SELECT workflow, status, count(*) FROM instances WHERE state = 'live' GROUP BY workflow, status"
DIRTY_ROWS = SELECT + "WHERE state = 'live' AND dirty = 1 ORDER BY position"
HALF_DONE = SELECT + "WHERE state <> 'live' ORDER BY position"
DUE = SELECT + "WHERE state = 'live' AND dirty = 0 AND wake_at <= ? ORDER BY wake_at, position LIMIT ?"
NEXT_WAKE = "SELECT min(wake_at) FROM instances WHERE state = 'live' AND dirty = 0 AND wake_at IS NOT NULL"
EXPIRED = SELECT + "WHERE state = 'live' AND dirty = 0 AND expires_at <= ? ORDER BY expires_at, position LIMIT ?"
COUNT_EXPIRED = "SELECT count(*) FROM instances WHERE state = 'live' AND dirty = 0 AND expires_at <= ?"
NEXT_EXPIRY = "SELECT min(expires_at) FROM instances WHERE state = 'live' AND dirty = 0 AND expires_at IS NOT NULL"
GET = SELECT + THIS
GET_META = "SELECT value FROM meta WHERE name = ?"
