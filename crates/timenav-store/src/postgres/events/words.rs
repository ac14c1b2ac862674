//! The table with the words of events, for searches by `text`. Feature level 8 adds it.
//!
//! A search takes its candidates from the index and checks each one like a search without the index does, so that a
//! surplus word costs time and a missing one hides an event. Scans compare the words. A later version of the folding
//! rules (`WORDS_VERSION`) needs a level that fills the table again.

use std::collections::BTreeSet;

use timenav_engine::{ErasedContent, EventQuery, EventRow, TimelineCommit, TimelineKey};
use tokio_postgres::Transaction;

use crate::persistence::words::{each_word, prefixes};
use crate::postgres::connection::sessions::Object;
use crate::postgres::transaction::batch::{Batch, rows, values};
use crate::postgres::values::{Failed, get, sql, text};

/// The migration step that adds the table.
pub(in crate::postgres) const STEP: &str = "0005-event-words";

/// Events of a search that are examined before the index is used: if words are frequent, this fills a page.
pub(in crate::postgres) const EXAMINED_FIRST: usize = 256;
/// Candidates of a search on all layers. With more of them, a page is soon full without the index.
const CANDIDATES_MAX: usize = 10_000;
/// Rows that are compared or filled at a time.
const ROWS_MAX: i64 = 4_096;
/// Timelines with differing words that a scan reports.
const REPORTED_MAX: usize = 100;

const INSERT: &str = "INSERT INTO event_words (position, timeline, time, words)
    SELECT w.position, w.timeline, w.time, w.words::tsvector
    FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::text[]) AS w (position, timeline, time, words)";
const ERASE: &str = "DELETE FROM event_words WHERE timeline = $1 AND position = ANY($2::bigint[])";
const ERASE_SOME: &str = "DELETE FROM event_words WHERE timeline = $1 AND position = ANY (ARRAY
    (SELECT position FROM events WHERE timeline = $1 ORDER BY event_id, position LIMIT $2))";
const SELECT_CANDIDATES: &str = "SELECT time, position FROM event_words
    WHERE timeline = $1 AND words @@ $2::text::tsquery AND position < $3 LIMIT $4";
const SELECT_TIMELINES: &str = "SELECT timeline FROM timelines UNION SELECT timeline FROM ended_timelines
    WHERE NOT is_let_go ORDER BY timeline";
const SELECT_PAGE: &str = "SELECT event_id, position, time, content FROM events
    WHERE timeline = $1 AND (event_id, position) > ($2, $3) ORDER BY event_id, position LIMIT $4";
const COUNT_DIFFERENT: &str = "SELECT count(*)
    FROM unnest($2::bigint[], $3::bigint[], $4::text[]) AS e (position, time, words)
    WHERE NOT EXISTS (SELECT FROM event_words w WHERE w.timeline = $1 AND w.position = e.position
        AND w.time = e.time AND w.words = e.words::tsvector)";
/// Words of events that do not exist, such as erased ones.
const SELECT_SURPLUS: &str = "SELECT w.timeline, count(*) FROM event_words w WHERE NOT EXISTS
    (SELECT FROM events e WHERE e.timeline = w.timeline AND e.time = w.time AND e.position = w.position)
    GROUP BY w.timeline ORDER BY w.timeline LIMIT $1";
const LOCK: &str = "LOCK TABLE events IN SHARE ROW EXCLUSIVE MODE";
const SELECT_TO_FILL: &str = "SELECT timeline, event_id, position, time, content FROM events
    WHERE (timeline, event_id, position) > ($1, $2, $3) ORDER BY timeline, event_id, position LIMIT $4";

/// Returns the words of an event in the format of a `tsvector`. Folded words have no character to escape.
fn lexemes(timeline: i64, content: &str) -> String {
    let mut words = BTreeSet::<String>::new();
    each_word(content, &mut |word| {
        if !words.contains(word) {
            words.insert(word.to_owned());
        }
    });
    let quoted: Vec<String> = words.iter().map(|word| format!("'{timeline}:{word}'")).collect();
    quoted.join(" ")
}

/// Returns a `tsquery` for the events of a timeline that have all of these prefixes.
fn query_text(timeline: TimelineKey, prefixes: &[&str]) -> String {
    let terms: Vec<String> = prefixes.iter().map(|prefix| format!("'{}:{prefix}':*", timeline.0)).collect();
    terms.join(" & ")
}

#[derive(Default)]
struct WordRows {
    positions: Vec<i64>,
    timelines: Vec<i64>,
    times: Vec<i64>,
    words: Vec<String>,
}

impl WordRows {
    fn push(&mut self, (timeline, position, time): (i64, i64, i64), content: &str) {
        self.positions.push(position);
        self.timelines.push(timeline);
        self.times.push(time);
        self.words.push(lexemes(timeline, content));
    }
}

pub(in crate::postgres) fn insert(batch: &mut Batch<'_>, events: &[(TimelineKey, &EventRow)]) {
    if events.is_empty() {
        return;
    }
    let mut new = WordRows::default();
    for (timeline, event) in events {
        new.push((timeline.0, sql(event.position), event.columns.time.micros()), &event.content);
    }
    batch.add(INSERT, values![new.positions, new.timelines, new.times, new.words]);
}

/// Deletes the words of erased events.
pub(in crate::postgres) fn erase(batch: &mut Batch<'_>, steps: &[TimelineCommit]) {
    for step in steps {
        let of_events = step.erasures.iter().filter(|erasure| matches!(erasure.content, ErasedContent::Event(_)));
        let positions: Vec<i64> = of_events.map(|erasure| sql(erasure.position)).collect();
        if !positions.is_empty() {
            batch.add(ERASE, values![step.head.key.0, positions]);
        }
    }
}

/// Deletes the words of the first events of an ended timeline, which are deleted in the same transaction.
pub(in crate::postgres) async fn erase_some(
    on: &Object,
    timeline: TimelineKey,
    items_max: usize,
) -> Result<(), Failed> {
    rows(on, ERASE_SOME, &[&timeline.0, &sql(items_max as u64)]).await?;
    Ok(())
}

/// The time and position of each candidate on each layer, in ascending order.
pub(in crate::postgres) type Candidates = Vec<Vec<(i64, i64)>>;

/// Finds the events that may have these words; `None` if a search without the index is faster.
pub(in crate::postgres) async fn candidates(
    on: &Object,
    query: &EventQuery,
    words: &[String],
) -> Result<Option<Candidates>, Failed> {
    let prefixes = prefixes(words);
    let (mut all, mut left) = (Vec::with_capacity(query.layers.len()), CANDIDATES_MAX);
    for layer in query.layers.iter() {
        let (text, as_of) = (query_text(layer.timeline, &prefixes), sql(layer.as_of));
        let found = rows(on, SELECT_CANDIDATES, &[&layer.timeline.0, &text, &as_of, &sql(left as u64 + 1)]).await?;
        let Some(less) = left.checked_sub(found.len()) else { return Ok(None) };
        left = less;
        let found = found.iter().map(|row| Ok((get(row, 0)?, get(row, 1)?)));
        let mut found: Vec<(i64, i64)> = found.collect::<Result<_, Failed>>()?;
        found.sort_unstable();
        all.push(found);
    }
    Ok(Some(all))
}

/// Returns all live timelines, and the ended ones that forks continue.
pub(in crate::postgres) async fn timelines(on: &Object) -> Result<Vec<TimelineKey>, Failed> {
    rows(on, SELECT_TIMELINES, &[]).await?.iter().map(|row| Ok(TimelineKey(get(row, 0)?))).collect()
}

/// Compares the words of a page of events. Returns how many differ, and the key of the last event, after which the next
/// page begins.
pub(in crate::postgres) async fn compare(
    on: &Object,
    timeline: TimelineKey,
    (event_id, position): (String, i64),
) -> Result<(u64, Option<(String, i64)>), Failed> {
    let found = rows(on, SELECT_PAGE, &[&timeline.0, &event_id, &position, &ROWS_MAX]).await?;
    let Some(last) = found.last() else { return Ok((0, None)) };
    let mut expected = WordRows::default();
    for row in &found {
        expected.push((timeline.0, get(row, 1)?, get(row, 2)?), &text(row, 3)?);
    }
    let WordRows { positions, times, words, .. } = expected;
    let different = rows(on, COUNT_DIFFERENT, &[&timeline.0, &positions, &times, &words]).await?;
    let count: i64 = different.first().map_or(Ok(0), |row| get(row, 0))?;
    Ok((count.unsigned_abs(), Some((get(last, 0)?, get(last, 1)?))))
}

/// Returns the timelines with words of events that do not exist, and their number.
pub(in crate::postgres) async fn surplus(on: &Object) -> Result<Vec<(TimelineKey, i64)>, Failed> {
    let found = rows(on, SELECT_SURPLUS, &[&sql(REPORTED_MAX as u64)]).await?;
    found.iter().map(|row| Ok((TimelineKey(get(row, 0)?), get(row, 1)?))).collect()
}

/// Fills the empty table for all events.
pub(in crate::postgres) async fn fill(transaction: &Transaction<'_>) -> Result<(), Failed> {
    transaction.batch_execute(LOCK).await?;
    let (mut timeline, mut event_id, mut position) = (i64::MIN, String::new(), -1_i64);
    loop {
        let found = transaction.query(SELECT_TO_FILL, &[&timeline, &event_id, &position, &ROWS_MAX]).await?;
        let Some(last) = found.last() else { return Ok(()) };
        (timeline, event_id, position) = (get(last, 0)?, get(last, 1)?, get(last, 2)?);
        let mut new = WordRows::default();
        for row in &found {
            new.push((get(row, 0)?, get(row, 2)?, get(row, 3)?), &text(row, 4)?);
        }
        transaction.execute(INSERT, &[&new.positions, &new.timelines, &new.times, &new.words]).await?;
    }
}
