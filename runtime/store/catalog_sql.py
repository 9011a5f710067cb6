"""The catalog's schema and statements."""

# ruff: noqa: S608 - the texts are put together from the constants of this file alone

from __future__ import annotations

from runtime.store.sqlite import Schema

SCHEMA = Schema(
    version=1,
    create=(
        "CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID",
        """CREATE TABLE instances (
            position INTEGER PRIMARY KEY,
            workflow TEXT NOT NULL, id TEXT NOT NULL, class_name TEXT NOT NULL,
            state TEXT NOT NULL, status TEXT NOT NULL,
            created INTEGER NOT NULL, updated INTEGER NOT NULL, started INTEGER, ended INTEGER, wake_at INTEGER,
            dirty INTEGER NOT NULL,
            UNIQUE (workflow, id)
        )""",
        "CREATE INDEX paged ON instances (workflow, position) WHERE state = 'live'",
        "CREATE INDEX listed ON instances (workflow, status, position) WHERE state = 'live'",
        "CREATE INDEX waking ON instances (wake_at) WHERE state = 'live' AND dirty = 0 AND wake_at IS NOT NULL",
        # Two small indexes instead of one scan of all rows at start-up.
        "CREATE INDEX unsettled ON instances (position) WHERE state = 'live' AND dirty = 1",
        "CREATE INDEX unfinished ON instances (position) WHERE state <> 'live'",
    ),
)

COLUMNS = "position, workflow, id, class_name, state, status, created, updated, started, ended, wake_at, dirty"
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
SETTLE = f"UPDATE instances SET status = ?, updated = ?, started = ?, ended = ?, wake_at = ?, dirty = 0 {THIS}"
BEGIN_DELETE = f"UPDATE instances SET state = 'deleting', dirty = 1 {THIS}"
END_DELETE = f"DELETE FROM instances {THIS} AND state <> 'live'"
SET_META = "INSERT INTO meta VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value"
RESTORE = f"INSERT INTO instances ({COLUMNS}) VALUES ({', '.join('?' * 12)})"

COUNTS = "SELECT workflow, status, count(*) FROM instances WHERE state = 'live' GROUP BY workflow, status"
DIRTY_ROWS = SELECT + "WHERE state = 'live' AND dirty = 1 ORDER BY position"
HALF_DONE = SELECT + "WHERE state <> 'live' ORDER BY position"
DUE = SELECT + "WHERE state = 'live' AND dirty = 0 AND wake_at <= ? ORDER BY wake_at, position LIMIT ?"
NEXT_WAKE = "SELECT min(wake_at) FROM instances WHERE state = 'live' AND dirty = 0 AND wake_at IS NOT NULL"
GET = SELECT + THIS
GET_META = "SELECT value FROM meta WHERE name = ?"
