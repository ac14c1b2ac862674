use timenav_engine::Orphan;

use crate::postgres::connection::sessions::Object;
use crate::postgres::migrations::{self, is_spread};
use crate::postgres::transaction::batch::rows;
use crate::postgres::values::{Failed, get};

/// Maximum number of orphans reported. An attacker may have added any number.
const ORPHANS_MAX: i64 = 100;

/// Finds the timeline numbers in a table, within a range, that are not among those a subquery selects. The first
/// statement skips from one number to the next along the index. If rows are distributed over several servers, which do
/// not support such a statement, the second one reads the whole index on each server.
macro_rules! statement {
    ($table:literal, $known:literal) => {
        (
            $table,
            [
                concat!(
                    "WITH RECURSIVE numbers (timeline) AS (SELECT min(timeline) FROM ",
                    $table,
                    " WHERE timeline >= $2 UNION ALL SELECT (SELECT min(timeline) FROM ",
                    $table,
                    " t WHERE t.timeline > numbers.timeline) FROM numbers WHERE numbers.timeline < $3)
                    SELECT timeline FROM numbers WHERE timeline <= $3 AND timeline NOT IN (",
                    $known,
                    ") ORDER BY timeline LIMIT $1"
                ),
                concat!(
                    "SELECT DISTINCT timeline FROM ",
                    $table,
                    " WHERE timeline BETWEEN $2 AND $3 AND timeline NOT IN (",
                    $known,
                    ") ORDER BY timeline LIMIT $1"
                ),
            ],
        )
    };
}

/// The timelines that may have entries and trees, those that may have contents, and the live ones. A number below zero
/// may belong to a bundle that is being imported.
macro_rules! of_trees {
    ($table:literal) => {
        statement!(
            $table,
            "SELECT timeline FROM timelines UNION SELECT timeline FROM ended_timelines
            UNION SELECT timeline FROM arrivals WHERE timeline < 0"
        )
    };
}
macro_rules! of_contents {
    ($table:literal) => {
        statement!(
            $table,
            "SELECT timeline FROM timelines UNION SELECT timeline FROM ended_timelines WHERE NOT is_let_go
            UNION SELECT timeline FROM arrivals a WHERE timeline < 0
                AND NOT EXISTS (SELECT FROM ended_timelines e WHERE e.timeline = a.timeline)"
        )
    };
}

/// Marks of imports in progress that belong to no import.
const MARKED: &str = "SELECT timeline FROM arrivals a WHERE timeline >= 0
    OR EXISTS (SELECT FROM timelines t WHERE t.timeline = a.timeline)
    OR EXISTS (SELECT FROM ended_timelines e WHERE e.timeline = a.timeline) ORDER BY timeline LIMIT $1";

const STATEMENTS: [(&str, [&str; 2]); 14] = [
    of_trees!("entries"),
    of_trees!("tiles"),
    of_trees!("rotation_notes"),
    of_trees!("policies"),
    of_trees!("sweeps"),
    of_contents!("events"),
    of_contents!("event_words"),
    of_contents!("interventions"),
    of_contents!("anchors"),
    of_contents!("data_records"),
    of_contents!("timers"),
    of_contents!("firings"),
    of_contents!("advances"),
    statement!("permissions", "SELECT timeline FROM timelines"),
];

/// Returns, for each table, the numbers of its rows that belong to no timeline.
pub(in crate::postgres) async fn orphans(on: &Object) -> Result<Vec<Orphan>, Failed> {
    between(on, i64::MIN, i64::MAX).await
}

/// Like [`orphans`], for negative numbers only.
pub(in crate::postgres) async fn below_zero(on: &Object) -> Result<Vec<Orphan>, Failed> {
    between(on, i64::MIN, -1).await
}

/// Returns the numbers marked as imports in progress that are not.
pub(in crate::postgres) async fn marked(on: &Object) -> Result<Vec<i64>, Failed> {
    rows(on, MARKED, &[&ORPHANS_MAX]).await?.iter().map(|row| get(row, 0)).collect()
}

async fn between(on: &Object, first: i64, last: i64) -> Result<Vec<Orphan>, Failed> {
    let mut found = Vec::new();
    let is_spread = is_spread(on).await?;
    let to_come = migrations::to_come(on).await?;
    for (table, [in_steps, at_once]) in STATEMENTS.into_iter().filter(|(table, _)| !to_come.contains(table)) {
        let statement = if is_spread { at_once } else { in_steps };
        for row in rows(on, statement, &[&ORPHANS_MAX, &first, &last]).await? {
            found.push(Orphan { table, timeline: get(&row, 0)? });
        }
    }
    Ok(found)
}
