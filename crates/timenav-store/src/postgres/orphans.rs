//! Rows of timelines that are not there.

use timenav_engine::Orphan;

use super::batch::rows;
use super::migrations::is_spread;
use super::sessions::Object;
use super::values::{Failed, get};

/// Orphans that are told. Whoever put one there may have put any number.
const ORPHANS_MAX: i64 = 100;

/// Finds the numbers in a table, of those between two, that no timeline has, which another statement selects. It goes from
/// one number to the next by the index that begins with them. Where rows are spread over several servers, which know no
/// such statement, each reads its index from end to end.
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

/// Timelines whose entries and trees are kept; those whose contents may be; those that stand. Numbers below zero may be
/// those of a bundle that is still arriving.
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

/// Marks of timelines that arrive, where none does.
const MARKED: &str = "SELECT timeline FROM arrivals a WHERE timeline >= 0
    OR EXISTS (SELECT FROM timelines t WHERE t.timeline = a.timeline)
    OR EXISTS (SELECT FROM ended_timelines e WHERE e.timeline = a.timeline) ORDER BY timeline LIMIT $1";

const STATEMENTS: [(&str, [&str; 2]); 13] = [
    of_trees!("entries"),
    of_trees!("tiles"),
    of_trees!("rotation_notes"),
    of_trees!("policies"),
    of_trees!("sweeps"),
    of_contents!("events"),
    of_contents!("interventions"),
    of_contents!("anchors"),
    of_contents!("data_records"),
    of_contents!("timers"),
    of_contents!("firings"),
    of_contents!("advances"),
    statement!("permissions", "SELECT timeline FROM timelines"),
];

/// Returns of each table the numbers that stand in it and that no timeline has.
pub(super) async fn orphans(on: &Object) -> Result<Vec<Orphan>, Failed> {
    between(on, i64::MIN, i64::MAX).await
}

/// As [`orphans`], of numbers below zero alone.
pub(super) async fn below_zero(on: &Object) -> Result<Vec<Orphan>, Failed> {
    between(on, i64::MIN, -1).await
}

/// Returns numbers that are marked as those of timelines that arrive, and are none.
pub(super) async fn marked(on: &Object) -> Result<Vec<i64>, Failed> {
    rows(on, MARKED, &[&ORPHANS_MAX]).await?.iter().map(|row| get(row, 0)).collect()
}

async fn between(on: &Object, first: i64, last: i64) -> Result<Vec<Orphan>, Failed> {
    let mut found = Vec::new();
    let is_spread = is_spread(on).await?;
    for (table, [in_steps, at_once]) in STATEMENTS {
        let statement = if is_spread { at_once } else { in_steps };
        for row in rows(on, statement, &[&ORPHANS_MAX, &first, &last]).await? {
            found.push(Orphan { table, timeline: get(&row, 0)? });
        }
    }
    Ok(found)
}
