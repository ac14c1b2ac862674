//! The tables that a move copies: their columns, types and row order.

use serde::{Deserialize, Serialize};
use timenav_engine::LengthClass;

/// Type of a column in PostgreSQL. SQLite stores integers of every size the same way, and texts as text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Bool,
    Smallint,
    Integer,
    Bigint,
    Double,
    /// An id or another keyword: `text` in both.
    Word,
    /// Free text: `text` in SQLite, its UTF-8 bytes in PostgreSQL.
    Text,
    Bytes,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) enum Value {
    Null,
    /// Integers and booleans.
    Whole(i64),
    Real(f64),
    /// Bytes and free texts.
    Bytes(Vec<u8>),
    /// Text in a key. SQLite sorts text and bytes differently.
    Word(String),
}

pub(crate) struct Column {
    pub(crate) name: &'static str,
    pub(crate) kind: Kind,
    /// The expression selected from SQLite if it has no such column, or stores another value in it.
    pub(crate) in_sqlite: Option<&'static str>,
    /// The expression selected from PostgreSQL if a database of an earlier feature level has no such column.
    pub(crate) in_postgres: Option<&'static str>,
}

pub(crate) struct Table {
    pub(crate) name: &'static str,
    pub(crate) columns: &'static [Column],
    /// The `FROM` clause for SQLite.
    pub(crate) sqlite_from: &'static str,
    /// The columns of an index that rows are read along, in each database.
    pub(crate) sqlite_key: &'static [&'static str],
    pub(crate) postgres_key: &'static [&'static str],
    /// Rows read at a time, depending on how large a row can be.
    pub(crate) rows_max: usize,
}

const fn column(name: &'static str, kind: Kind) -> Column {
    Column { name, kind, in_sqlite: None, in_postgres: None }
}

const fn asked(name: &'static str, kind: Kind, in_sqlite: &'static str) -> Column {
    Column { name, kind, in_sqlite: Some(in_sqlite), in_postgres: None }
}

const fn table(name: &'static str, key: &'static [&'static str], columns: &'static [Column]) -> Table {
    Table { name, columns, sqlite_from: name, sqlite_key: key, postgres_key: key, rows_max: ROWS_MAX }
}

/// Page size for tables with short rows.
const ROWS_MAX: usize = 1_000;
/// Page size for tables whose rows have a few kilobytes, and occasionally more.
const LONG_ROWS_MAX: usize = 250;
/// Page size for sealed records, which can have a megabyte each.
const SEALED_ROWS_MAX: usize = 16;

/// SQLite packs timeline and position into one entry key.
const TIMELINE_OF_ENTRY: &str = "e.entry >> 40";
const POSITION_OF_ENTRY: &str = "e.entry & 1099511627775";

/// SQLite stores salt and payload in one of two tables, never in both.
const ENTRIES_IN_SQLITE: &str = "entries e LEFT JOIN contents c ON c.entry = e.entry";
const SALT_IN_SQLITE: &str = "iif(c.entry IS NULL, e.salt, iif(length(e.salt) + length(e.payload) = 0, c.salt, NULL))";
const PAYLOAD_IN_SQLITE: &str = "iif(c.entry IS NULL, e.payload, c.payload)";

const LENGTH_CLASS: &str = "length_class";

pub(crate) const TABLES: &[Table] = &[
    Table {
        name: "entries",
        columns: &[
            asked("timeline", Kind::Bigint, TIMELINE_OF_ENTRY),
            asked("position", Kind::Bigint, POSITION_OF_ENTRY),
            asked("leaf", Kind::Bytes, "e.leaf"),
            asked("salt", Kind::Bytes, SALT_IN_SQLITE),
            asked("payload", Kind::Bytes, PAYLOAD_IN_SQLITE),
            asked("payload_bytes", Kind::Bigint, "c.payload_bytes"),
            asked("events_count", Kind::Bigint, "e.events_count"),
            asked("clock_entry", Kind::Bigint, "e.clock_entry"),
        ],
        sqlite_from: ENTRIES_IN_SQLITE,
        sqlite_key: &["e.entry"],
        postgres_key: &["timeline", "position"],
        rows_max: LONG_ROWS_MAX,
    },
    table(
        "tiles",
        &["timeline", "level", "tile"],
        &[
            column("timeline", Kind::Bigint),
            column("level", Kind::Integer),
            column("tile", Kind::Bigint),
            column("hashes", Kind::Bytes),
        ],
    ),
    Table {
        name: "events",
        columns: &[
            column("timeline", Kind::Bigint),
            column("position", Kind::Bigint),
            column("event_id", Kind::Word),
            column("time", Kind::Bigint),
            column("until", Kind::Bigint),
            column("lat", Kind::Double),
            column("lon", Kind::Double),
            asked("cell", Kind::Bigint, "nullif(cell, -1)"),
            column("place", Kind::Text),
            column("name_key", Kind::Text),
            column("content", Kind::Text),
            // Derived from the content, so it is correct even if a database has no such column yet.
            Column { in_postgres: Some("NULL::smallint"), ..column(LENGTH_CLASS, Kind::Smallint) },
        ],
        sqlite_from: "events",
        sqlite_key: &["timeline", "cell", "time", "position"],
        postgres_key: &["timeline", "event_id", "position"],
        rows_max: LONG_ROWS_MAX,
    },
    table(
        "interventions",
        &["timeline", "event_id", "position"],
        &[
            column("timeline", Kind::Bigint),
            column("event_id", Kind::Word),
            column("position", Kind::Bigint),
            column("intervention_id", Kind::Word),
        ],
    ),
    table(
        "anchors",
        &["timeline", "position"],
        &[
            column("timeline", Kind::Bigint),
            column("position", Kind::Bigint),
            column("anchor_id", Kind::Word),
            column("set_at", Kind::Bigint),
            column("timestamp", Kind::Bigint),
            column("description", Kind::Text),
            column("fixed", Kind::Bool),
            column("clock_at", Kind::Bigint),
            column("clock_running", Kind::Bool),
            column("clock_rate", Kind::Bigint),
            column("clock_location", Kind::Text),
        ],
    ),
    Table {
        name: "data_records",
        columns: &[
            column("timeline", Kind::Bigint),
            column("position", Kind::Bigint),
            column("data_id", Kind::Word),
            column("erased", Kind::Bigint),
            column("format", Kind::Smallint),
            column("kind", Kind::Smallint),
            column("salt", Kind::Bytes),
            column("nonce", Kind::Bytes),
            column("commitment", Kind::Bytes),
            column("ciphertext", Kind::Bytes),
        ],
        sqlite_from: "data_records",
        sqlite_key: &["timeline", "position"],
        postgres_key: &["timeline", "position"],
        rows_max: SEALED_ROWS_MAX,
    },
    Table {
        name: "timers",
        columns: &[
            column("timeline", Kind::Bigint),
            column("position", Kind::Bigint),
            column("timer_id", Kind::Word),
            column("next", Kind::Bigint),
            column("round", Kind::Bigint),
            column("cancelled", Kind::Bool),
            column("schedule", Kind::Text),
            column("deliver", Kind::Text),
            column("queue", Kind::Word),
            column("order_key", Kind::Text),
            column("payload", Kind::Text),
            column("set_by", Kind::Word),
            column("set_at", Kind::Bigint),
        ],
        sqlite_from: "timers",
        sqlite_key: &["timeline", "position"],
        postgres_key: &["timeline", "position"],
        rows_max: LONG_ROWS_MAX,
    },
    table(
        "firings",
        &["timeline", "due", "position", "round"],
        &[
            column("timeline", Kind::Bigint),
            column("due", Kind::Bigint),
            column("position", Kind::Bigint),
            column("round", Kind::Bigint),
            column("firing_id", Kind::Word),
            column("timer_id", Kind::Word),
            column("queue", Kind::Word),
            column("order_key", Kind::Text),
            column("state", Kind::Bigint),
            column("made", Kind::Bigint),
            column("settled", Kind::Bigint),
            column("advance", Kind::Bigint),
            column("reason", Kind::Text),
        ],
    ),
    table(
        "advances",
        &["timeline", "position"],
        &[
            column("timeline", Kind::Bigint),
            column("position", Kind::Bigint),
            column("advance_id", Kind::Word),
            column("ended", Kind::Bigint),
            column("record", Kind::Text),
        ],
    ),
    table(
        "arrivals",
        &["timeline"],
        &[
            column("timeline", Kind::Bigint),
            column("timeline_id", Kind::Word),
            column("arrival", Kind::Word),
            column("until", Kind::Bigint),
            column("is_over", Kind::Bool),
        ],
    ),
    table(
        "permissions",
        &["timeline", "user_id", "role"],
        &[
            column("timeline", Kind::Bigint),
            column("user_id", Kind::Word),
            column("role", Kind::Word),
            Column {
                in_postgres: Some("(to_jsonb(permissions) ->> 'expires_at')::bigint"),
                ..column("expires_at", Kind::Bigint)
            },
        ],
    ),
    table(
        "users",
        &["user_id"],
        &[
            column("user_id", Kind::Word),
            column("operator", Kind::Bool),
            column("restriction", Kind::Word),
            column("created_at", Kind::Bigint),
        ],
    ),
    table(
        "api_keys",
        &["key_id"],
        &[
            column("key_id", Kind::Word),
            column("hash", Kind::Bytes),
            column("user_id", Kind::Word),
            column("timeline_id", Kind::Word),
            column("label", Kind::Text),
            column("scopes", Kind::Word),
            column("created_at", Kind::Bigint),
            column("expires_at", Kind::Bigint),
            column("revoked_at", Kind::Bigint),
            column("horizon", Kind::Word),
            column("known_at", Kind::Bigint),
        ],
    ),
    table(
        "passwords",
        &["user_id"],
        &[column("user_id", Kind::Word), column("phc", Kind::Word), column("set_at", Kind::Bigint)],
    ),
    table(
        "sessions",
        &["session_id"],
        &[
            column("session_id", Kind::Word),
            column("hash", Kind::Bytes),
            column("user_id", Kind::Word),
            column("created_at", Kind::Bigint),
            column("renewed_at", Kind::Bigint),
            column("expires_at", Kind::Bigint),
        ],
    ),
    table(
        "outcomes",
        &["key"],
        &[
            column("key", Kind::Bytes),
            column("fingerprint", Kind::Bytes),
            column("expires_at", Kind::Bigint),
            column("outcome", Kind::Text),
            column("timeline_id", Kind::Word),
            column("event_id", Kind::Word),
            asked(
                "told_of",
                Kind::Word,
                "iif(json_valid(outcome), iif(json_type(outcome, '$.timeline_id') = 'text', json_extract(outcome, '$.timeline_id'), NULL), NULL)",
            ),
        ],
    ),
    table(
        "policies",
        &["timeline", "position"],
        &[
            column("timeline", Kind::Bigint),
            column("position", Kind::Bigint),
            column("reads_seconds", Kind::Bigint),
            column("refusals_seconds", Kind::Bigint),
            column("reads_until", Kind::Bigint),
            column("refusals_until", Kind::Bigint),
        ],
    ),
    table(
        "sweeps",
        &["timeline", "position"],
        &[column("timeline", Kind::Bigint), column("position", Kind::Bigint), column("finished", Kind::Bool)],
    ),
    Table {
        name: "ended_timelines",
        columns: &[
            column("timeline", Kind::Bigint),
            column("timeline_id", Kind::Word),
            column("size", Kind::Bigint),
            column("root", Kind::Bytes),
            column("ended_at", Kind::Bigint),
            column("fork_of", Kind::Bigint),
            column("fork_size", Kind::Bigint),
            column("overrides", Kind::Bool),
            column("due_at", Kind::Bigint),
            column("is_let_go", Kind::Bool),
        ],
        sqlite_from: "ended_timelines",
        sqlite_key: &["timeline"],
        postgres_key: &["timeline"],
        rows_max: ROWS_MAX,
    },
    table(
        "rotation_notes",
        &["timeline", "position"],
        &[column("timeline", Kind::Bigint), column("position", Kind::Bigint), column("note", Kind::Text)],
    ),
    Table {
        name: "host_clock",
        columns: &[asked("id", Kind::Bool, "1"), column("known_at", Kind::Bigint)],
        sqlite_from: "host_clock",
        sqlite_key: &["known_at"],
        postgres_key: &["known_at"],
        rows_max: ROWS_MAX,
    },
    // The last table: once the heads are copied, everything they refer to is there.
    Table {
        name: "timelines",
        columns: &[
            column("timeline", Kind::Bigint),
            column("timeline_id", Kind::Word),
            column("created_at", Kind::Bigint),
            column("created_by", Kind::Word),
            column("expires_at", Kind::Bigint),
            column("fork_of", Kind::Bigint),
            column("fork_size", Kind::Bigint),
            column("origins", Kind::Text),
            column("size", Kind::Bigint),
            column("frontier", Kind::Bytes),
            column("statement", Kind::Bytes),
            column("carried_note", Kind::Text),
            column("recorded_at", Kind::Bigint),
            column("clock_running", Kind::Bool),
            column("clock_rate", Kind::Bigint),
            column("clock_host", Kind::Bigint),
            column("clock_virtual", Kind::Bigint),
            column("clock_location", Kind::Text),
            column("clock_generation", Kind::Bigint),
            column("clock_entry", Kind::Bigint),
            column("events_count", Kind::Bigint),
            column("anchors_count", Kind::Bigint),
            column("overrides_count", Kind::Bigint),
            column("data_count", Kind::Bigint),
            column("directory", Kind::Bigint),
            column("timers", Kind::Text),
        ],
        sqlite_from: "timelines",
        sqlite_key: &["timeline"],
        postgres_key: &["timeline"],
        rows_max: LONG_ROWS_MAX,
    },
];

/// Fills the column with the length class of events. It is derived from the event and ignores the source's value.
pub(crate) fn fill_lengths(table: &Table, rows: &mut [Vec<Value>]) {
    let place = |name: &str| table.columns.iter().position(|column| column.name == name);
    let (Some(content), Some(class)) = (place("content"), place(LENGTH_CLASS)) else { return };
    for row in rows {
        let json = if let Value::Bytes(bytes) = &row[content] { str::from_utf8(bytes).ok() } else { None };
        let found = json.and_then(LengthClass::of_content);
        row[class] = found.map_or(Value::Null, |class| Value::Whole(class.number().into()));
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// Tables that only one backend has, or whose rows are not moved.
    const OTHERS: [&str; 9] = [
        "migrations",
        "room",
        "feature_level",
        "services",
        "timekeepers",
        "cosigned",
        "listeners",
        "firing_leases",
        "followers",
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
        let word = |kind: Kind| match kind {
            Kind::Bool => "boolean",
            Kind::Smallint => "smallint",
            Kind::Integer => "integer",
            Kind::Bigint => "bigint",
            Kind::Double => "double precision",
            Kind::Word => "text",
            Kind::Text | Kind::Bytes => "bytea",
        };
        let named = |table: &Table| -> Vec<String> {
            table.columns.iter().map(|one| format!("{}.{} {}", table.name, one.name, word(one.kind))).collect()
        };
        let moved: BTreeSet<String> = TABLES.iter().flat_map(named).collect();
        assert_eq!(moved, of_layout);
    }
}
