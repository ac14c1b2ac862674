//! Rows of timelines that are not there.

use deadpool_postgres::Object;
use timenav_engine::Orphan;

use super::batch::rows;
use super::values::{Failed, get};

/// Orphans that are told. Whoever put one there may have put any number.
const ORPHANS_MAX: i64 = 100;

/// Finds the numbers in a table that no timeline has, which another statement selects. It goes from one number to the next
/// by the index that begins with them.
macro_rules! statement {
    ($table:literal, $known:literal) => {
        concat!(
            "WITH RECURSIVE numbers (timeline) AS (SELECT min(timeline) FROM ",
            $table,
            " UNION ALL SELECT (SELECT min(timeline) FROM ",
            $table,
            " t WHERE t.timeline > numbers.timeline) FROM numbers WHERE numbers.timeline IS NOT NULL)
            SELECT timeline FROM numbers WHERE timeline IS NOT NULL AND timeline NOT IN (",
            $known,
            ") ORDER BY timeline LIMIT $1"
        )
    };
}

/// Timelines whose entries and trees are kept; those whose contents may be; those that stand.
macro_rules! of_trees {
    ($table:literal) => {
        statement!($table, "SELECT timeline FROM timelines UNION SELECT timeline FROM ended_timelines")
    };
}
macro_rules! of_contents {
    ($table:literal) => {
        statement!(
            $table,
            "SELECT timeline FROM timelines UNION SELECT timeline FROM ended_timelines WHERE NOT is_let_go"
        )
    };
}

const STATEMENTS: [(&str, &str); 13] = [
    ("entries", of_trees!("entries")),
    ("tiles", of_trees!("tiles")),
    ("rotation_notes", of_trees!("rotation_notes")),
    ("policies", of_trees!("policies")),
    ("sweeps", of_trees!("sweeps")),
    ("events", of_contents!("events")),
    ("interventions", of_contents!("interventions")),
    ("anchors", of_contents!("anchors")),
    ("data_records", of_contents!("data_records")),
    ("timers", of_contents!("timers")),
    ("firings", of_contents!("firings")),
    ("advances", of_contents!("advances")),
    ("permissions", statement!("permissions", "SELECT timeline FROM timelines")),
];

/// Returns of each table the numbers that stand in it and that no timeline has.
pub(super) async fn orphans(on: &Object) -> Result<Vec<Orphan>, Failed> {
    let mut found = Vec::new();
    for (table, statement) in STATEMENTS {
        for row in rows(on, statement, &[&ORPHANS_MAX]).await? {
            found.push(Orphan { table, timeline: get(&row, 0)? });
        }
    }
    Ok(found)
}
