use rusqlite::{Connection, params};
use timenav_engine::{Orphan, StoreError};

use crate::sqlite::values::{POSITION_BITS, failed, sql};

/// Maximum number of orphans reported. An attacker may have added any number.
const ORPHANS_MAX: usize = 100;
/// Tables with the contents of timelines. Each has an index that begins with the timeline number.
const TABLES: [&str; 9] = [
    "events",
    "interventions",
    "anchors",
    "data_records",
    "timers",
    "firings",
    "advances",
    "text_blocks",
    "text_words",
];
/// Tables with data about ledgers, also indexed by timeline number.
const OF_LEDGERS: [&str; 4] = ["tiles", "rotation_notes", "policies", "sweeps"];
/// Timeline numbers that fit into the key of an entry.
const ENTRY_NUMBERS: (i64, i64) = (i64::MIN >> POSITION_BITS, i64::MAX >> POSITION_BITS);

/// The timelines that may have entries and trees, those that may have contents, and the live ones. A number below zero
/// may belong to a bundle that is being imported.
const OF_TREES: &str = "SELECT timeline FROM timelines UNION SELECT timeline FROM ended_timelines
    UNION SELECT timeline FROM arrivals WHERE timeline < 0 ORDER BY timeline";
const OF_CONTENTS: &str = "SELECT timeline FROM timelines
    UNION SELECT timeline FROM ended_timelines WHERE is_let_go = 0
    UNION SELECT timeline FROM arrivals WHERE timeline < 0
        AND NOT EXISTS (SELECT 1 FROM ended_timelines e WHERE e.timeline = arrivals.timeline) ORDER BY timeline";
const TIMELINES: &str = "SELECT timeline FROM timelines ORDER BY timeline";
/// Marks of imports in progress that belong to no import.
const MARKED: &str = "SELECT timeline FROM arrivals a WHERE timeline >= 0
    OR EXISTS (SELECT 1 FROM timelines t WHERE t.timeline = a.timeline)
    OR EXISTS (SELECT 1 FROM ended_timelines e WHERE e.timeline = a.timeline) ORDER BY timeline LIMIT ?1";

/// Returns, for each table, the numbers of its rows that belong to no timeline. Only the gaps between existing timeline
/// numbers are searched. Normally the only gaps are at both ends.
pub(in crate::sqlite) fn orphans(connection: &Connection) -> Result<Vec<Orphan>, StoreError> {
    up_to(connection, i64::MAX)
}

/// Like [`orphans`], for negative numbers only.
pub(in crate::sqlite) fn below_zero(connection: &Connection) -> Result<Vec<Orphan>, StoreError> {
    up_to(connection, -1)
}

/// Returns the numbers marked as imports in progress that are not.
pub(in crate::sqlite) fn marked(connection: &Connection) -> Result<Vec<i64>, StoreError> {
    let mut select = connection.prepare(MARKED).map_err(failed)?;
    let marked = select.query_map([sql(ORPHANS_MAX as u64)], |row| row.get(0)).map_err(failed)?;
    marked.collect::<rusqlite::Result<_>>().map_err(failed)
}

fn up_to(connection: &Connection, end: i64) -> Result<Vec<Orphan>, StoreError> {
    let mut found = Vec::new();
    let gaps = |select: &str| {
        let all = gaps(connection, select)?;
        Ok::<_, StoreError>(
            all.into_iter().map(move |(first, last)| (first, last.min(end))).filter(|(first, last)| first <= last),
        )
    };
    for (first, last) in gaps(OF_TREES)? {
        of_entries(connection, "entries", (first, last), &mut found)?;
        for table in OF_LEDGERS {
            of_table(connection, table, first, last, &mut found)?;
        }
    }
    for (first, last) in gaps(OF_CONTENTS)? {
        of_entries(connection, "contents", (first, last), &mut found)?;
        for table in TABLES {
            of_table(connection, table, first, last, &mut found)?;
        }
    }
    for (first, last) in gaps(TIMELINES)? {
        of_table(connection, "permissions", first, last, &mut found)?;
    }
    Ok(found)
}

/// Returns the ranges of numbers that no timeline has, both ends included.
fn gaps(connection: &Connection, select: &str) -> Result<Vec<(i64, i64)>, StoreError> {
    let mut select = connection.prepare(select).map_err(failed)?;
    let mut rows = select.query([]).map_err(failed)?;
    let (mut gaps, mut next) = (Vec::new(), Some(i64::MIN));
    while let Some(row) = rows.next().map_err(failed)? {
        let number: i64 = row.get(0).map_err(failed)?;
        gaps.extend(next.filter(|next| *next < number).map(|next| (next, number - 1)));
        next = number.checked_add(1);
    }
    gaps.extend(next.map(|next| (next, i64::MAX)));
    Ok(gaps)
}

/// Searches a table with entry keys.
fn of_entries(
    connection: &Connection,
    table: &'static str,
    (first, last): (i64, i64),
    found: &mut Vec<Orphan>,
) -> Result<(), StoreError> {
    let (first, last) = (first.max(ENTRY_NUMBERS.0), last.min(ENTRY_NUMBERS.1));
    let select = format!("SELECT min(entry) FROM {table} WHERE entry BETWEEN ?1 AND ?2");
    let mut select = connection.prepare_cached(&select).map_err(failed)?;
    let end = (last << POSITION_BITS) | ((1 << POSITION_BITS) - 1);
    let mut next = first;
    while next <= last && found.len() < ORPHANS_MAX {
        let entry: Option<i64> =
            select.query_row(params![next << POSITION_BITS, end], |row| row.get(0)).map_err(failed)?;
        let Some(entry) = entry else { break };
        let timeline = entry >> POSITION_BITS;
        found.push(Orphan { table, timeline });
        next = timeline + 1;
    }
    Ok(())
}

fn of_table(
    connection: &Connection,
    table: &'static str,
    first: i64,
    last: i64,
    found: &mut Vec<Orphan>,
) -> Result<(), StoreError> {
    let select = format!("SELECT min(timeline) FROM {table} WHERE timeline BETWEEN ?1 AND ?2");
    let mut select = connection.prepare_cached(&select).map_err(failed)?;
    let mut next = Some(first);
    while let Some(at) = next.filter(|at| *at <= last && found.len() < ORPHANS_MAX) {
        let timeline: Option<i64> = select.query_row(params![at, last], |row| row.get(0)).map_err(failed)?;
        let Some(timeline) = timeline else { break };
        found.push(Orphan { table, timeline });
        next = timeline.checked_add(1);
    }
    Ok(())
}
