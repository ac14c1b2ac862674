//! The tables that a move copies. Their row types are in the records modules.

use super::{Column, Kind, LONG_ROWS_MAX, SEALED_ROWS_MAX, Table};

/// Columns with their kinds, and expressions for databases that have no such column.
macro_rules! columns {
    ($($name:ident: $kind:ident $(in_sqlite $sqlite:tt)? $(in_postgres $postgres:tt)?),+ $(,)?) => {
        &[$(columns!(one stringify!($name), $kind, [$($sqlite)?], [$($postgres)?])),+]
    };
    (one $name:expr, $kind:ident, [$($sqlite:tt)?], [$($postgres:tt)?]) => {
        Column {
            name: $name,
            kind: Kind::$kind,
            in_sqlite: columns!(option $($sqlite)?),
            in_postgres: columns!(option $($postgres)?),
        }
    };
    (option) => { None };
    (option $expression:tt) => { Some($expression) };
}

/// SQLite packs timeline and position into one entry key.
const TIMELINE_OF_ENTRY: &str = "e.entry >> 40";
const POSITION_OF_ENTRY: &str = "e.entry & 1099511627775";

/// SQLite stores salt and payload in one of two tables, never in both.
const ENTRIES_IN_SQLITE: &str = "entries e LEFT JOIN contents c ON c.entry = e.entry";
const SALT_IN_SQLITE: &str = "iif(c.entry IS NULL, e.salt, iif(length(e.salt) + length(e.payload) = 0, c.salt, NULL))";
const PAYLOAD_IN_SQLITE: &str = "iif(c.entry IS NULL, e.payload, c.payload)";

pub(crate) static ENTRIES: Table = Table::new(
    "entries",
    &["timeline", "position"],
    columns! {
        timeline: Bigint in_sqlite TIMELINE_OF_ENTRY, position: Bigint in_sqlite POSITION_OF_ENTRY,
        leaf: Bytes in_sqlite "e.leaf", salt: Bytes in_sqlite SALT_IN_SQLITE,
        payload: Bytes in_sqlite PAYLOAD_IN_SQLITE, payload_bytes: Bigint in_sqlite "c.payload_bytes",
        events_count: Bigint in_sqlite "e.events_count", clock_entry: Bigint in_sqlite "e.clock_entry",
    },
)
.in_sqlite(ENTRIES_IN_SQLITE, &["e.entry"])
.in_pages_of(LONG_ROWS_MAX);

pub(crate) static TILES: Table = Table::new(
    "tiles",
    &["timeline", "level", "tile"],
    columns! {
        timeline: Bigint, level: Integer, tile: Bigint, hashes: Bytes,
    },
);

pub(crate) static EVENTS: Table = Table::new(
    "events",
    &["timeline", "event_id", "position"],
    columns! {
        timeline: Bigint, position: Bigint, event_id: Word, time: Bigint, until: Bigint, lat: Double, lon: Double,
        cell: Bigint in_sqlite "nullif(cell, -1)", place: Text, name_key: Text, content: Text,
        length_class: Smallint in_postgres "NULL::smallint",
    },
)
.in_sqlite("events", &["timeline", "cell", "time", "position"])
.in_pages_of(LONG_ROWS_MAX);

pub(crate) static INTERVENTIONS: Table = Table::new(
    "interventions",
    &["timeline", "event_id", "position"],
    columns! {
        timeline: Bigint, event_id: Word, position: Bigint, intervention_id: Word,
    },
);

pub(crate) static ANCHORS: Table = Table::new(
    "anchors",
    &["timeline", "position"],
    columns! {
        timeline: Bigint, position: Bigint, anchor_id: Word, set_at: Bigint, timestamp: Bigint, description: Text,
        fixed: Bool, clock_at: Bigint, clock_running: Bool, clock_rate: Bigint, clock_location: Text,
    },
);

pub(crate) static DATA_RECORDS: Table = Table::new(
    "data_records",
    &["timeline", "position"],
    columns! {
        timeline: Bigint, position: Bigint, data_id: Word, erased: Bigint, format: Smallint, kind: Smallint,
        salt: Bytes, nonce: Bytes, commitment: Bytes, ciphertext: Bytes,
    },
)
.in_pages_of(SEALED_ROWS_MAX);

pub(crate) static TIMERS: Table = Table::new(
    "timers",
    &["timeline", "position"],
    columns! {
        timeline: Bigint, position: Bigint, timer_id: Word, next: Bigint, round: Bigint, cancelled: Bool,
        schedule: Text, deliver: Text, queue: Word, order_key: Text, payload: Text, set_by: Word, set_at: Bigint,
    },
)
.in_pages_of(LONG_ROWS_MAX)
.overwriting(&["next", "round", "cancelled", "schedule", "deliver", "queue", "order_key", "payload"]);

pub(crate) static FIRINGS: Table = Table::new(
    "firings",
    &["timeline", "due", "position", "round"],
    columns! {
        timeline: Bigint, due: Bigint, position: Bigint, round: Bigint, firing_id: Word, timer_id: Word, queue: Word,
        order_key: Text, state: Bigint, made: Bigint, settled: Bigint, advance: Bigint, reason: Text,
    },
);

pub(crate) static ADVANCES: Table = Table::new(
    "advances",
    &["timeline", "position"],
    columns! {
        timeline: Bigint, position: Bigint, advance_id: Word, ended: Bigint, record: Text,
    },
);

pub(crate) static ARRIVALS: Table = Table::new(
    "arrivals",
    &["timeline"],
    columns! {
        timeline: Bigint, timeline_id: Word, arrival: Word, until: Bigint, is_over: Bool,
    },
);

pub(crate) static PERMISSIONS: Table = Table::new(
    "permissions",
    &["timeline", "user_id", "role"],
    columns! {
        timeline: Bigint, user_id: Word, role: Word,
        expires_at: Bigint in_postgres "(to_jsonb(permissions) ->> 'expires_at')::bigint",
    },
);

pub(crate) static USERS: Table = Table::new(
    "users",
    &["user_id"],
    columns! {
        user_id: Word, operator: Bool, restriction: Word, created_at: Bigint,
    },
)
.overwriting(&["operator", "restriction"]);

pub(crate) static API_KEYS: Table = Table::new(
    "api_keys",
    &["key_id"],
    columns! {
        key_id: Word, hash: Bytes, user_id: Word, timeline_id: Word, label: Text, scopes: Word, created_at: Bigint,
        expires_at: Bigint, revoked_at: Bigint, horizon: Word, known_at: Bigint,
    },
);

pub(crate) static PASSWORDS: Table = Table::new(
    "passwords",
    &["user_id"],
    columns! {
        user_id: Word, phc: Word, set_at: Bigint,
    },
)
.overwriting(&["phc", "set_at"]);

pub(crate) static SESSIONS: Table = Table::new(
    "sessions",
    &["session_id"],
    columns! {
        session_id: Word, hash: Bytes, user_id: Word, created_at: Bigint, renewed_at: Bigint, expires_at: Bigint,
    },
)
.overwriting(&["renewed_at"]);

pub(crate) static OUTCOMES: Table = Table::new(
    "outcomes",
    &["key"],
    columns! {
        key: Bytes, fingerprint: Bytes, expires_at: Bigint, outcome: Text, timeline_id: Word, event_id: Word,
        told_of: Word in_sqlite "iif(json_valid(outcome), iif(json_type(outcome, '$.timeline_id') = 'text', json_extract(outcome, '$.timeline_id'), NULL), NULL)",
    },
).overwriting(&["fingerprint", "expires_at", "outcome", "timeline_id", "event_id"]);

pub(crate) static POLICIES: Table = Table::new(
    "policies",
    &["timeline", "position"],
    columns! {
        timeline: Bigint, position: Bigint, reads_seconds: Bigint, refusals_seconds: Bigint, reads_until: Bigint,
        refusals_until: Bigint,
    },
);

pub(crate) static SWEEPS: Table = Table::new(
    "sweeps",
    &["timeline", "position"],
    columns! {
        timeline: Bigint, position: Bigint, finished: Bool,
    },
);

pub(crate) static ENDED_TIMELINES: Table = Table::new(
    "ended_timelines",
    &["timeline"],
    columns! {
        timeline: Bigint, timeline_id: Word, size: Bigint, root: Bytes, ended_at: Bigint, fork_of: Bigint,
        fork_size: Bigint, overrides: Bool, due_at: Bigint, is_let_go: Bool,
    },
);

pub(crate) static ROTATION_NOTES: Table = Table::new(
    "rotation_notes",
    &["timeline", "position"],
    columns! {
        timeline: Bigint, position: Bigint, note: Text,
    },
);

pub(crate) static HOST_CLOCK: Table = Table::new(
    "host_clock",
    &["known_at"],
    columns! {
        id: Bool in_sqlite "1", known_at: Bigint,
    },
);

pub(crate) static TIMELINES: Table = Table::new(
    "timelines",
    &["timeline"],
    columns! {
        timeline: Bigint, timeline_id: Word, created_at: Bigint, created_by: Word, expires_at: Bigint,
        fork_of: Bigint, fork_size: Bigint, origins: Text, size: Bigint, frontier: Bytes, statement: Bytes,
        carried_note: Text, recorded_at: Bigint, clock_running: Bool, clock_rate: Bigint, clock_host: Bigint,
        clock_virtual: Bigint, clock_location: Text, clock_generation: Bigint, clock_entry: Bigint,
        events_count: Bigint, anchors_count: Bigint, overrides_count: Bigint, data_count: Bigint, directory: Bigint,
        timers: Text,
    },
)
.in_pages_of(LONG_ROWS_MAX);

/// All tables that a move copies, in this order. Once the heads are copied, everything they refer to is there.
pub(crate) static TABLES: [&Table; 22] = [
    &ENTRIES,
    &TILES,
    &EVENTS,
    &INTERVENTIONS,
    &ANCHORS,
    &DATA_RECORDS,
    &TIMERS,
    &FIRINGS,
    &ADVANCES,
    &ARRIVALS,
    &PERMISSIONS,
    &USERS,
    &API_KEYS,
    &PASSWORDS,
    &SESSIONS,
    &OUTCOMES,
    &POLICIES,
    &SWEEPS,
    &ENDED_TIMELINES,
    &ROTATION_NOTES,
    &HOST_CLOCK,
    &TIMELINES,
];

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// Tables that only one backend has, or whose rows are not moved.
    const OTHERS: [&str; 10] = [
        "migrations",
        "room",
        "feature_level",
        "services",
        "timekeepers",
        "cosigned",
        "listeners",
        "firing_leases",
        "followers",
        "event_words",
    ];

    #[test]
    fn migrated_columns_match_the_postgresql_layout() {
        let layout = include_str!("../../migrations/postgres/layout.txt");
        let columns = layout.lines().filter_map(|line| line.strip_prefix("column "));
        let columns = columns.filter(|line| !OTHERS.iter().any(|other| line.starts_with(&format!("{other}."))));
        let of_layout: BTreeSet<String> = columns
            .map(|line| {
                let line = line.split(" not null").next().unwrap();
                let line = line.split(" default").next().unwrap();
                line.strip_suffix(" C").unwrap_or(line).to_owned()
            })
            .collect();
        let named = |table: &&'static Table| {
            let name = table.name;
            table.columns.iter().map(move |column| format!("{name}.{} {}", column.name, column.kind.in_postgres()))
        };
        let moved: BTreeSet<String> = TABLES.iter().flat_map(named).collect();
        assert_eq!(moved, of_layout);
    }
}
