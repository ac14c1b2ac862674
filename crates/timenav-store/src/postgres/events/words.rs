//! The words of events, for searches by `text`. Feature level 8 adds the table.
//!
//! A search reads the words of a timeline on the server, about 20 times faster than the events. It checks each candidate
//! like a search without them does, so that a surplus word costs time and a missing one hides an event. Scans compare the
//! words. A later version of the folding rules (`WORDS_VERSION`) needs a level that fills the table again.

use timenav_engine::{ErasedContent, EventQuery, EventRow, TimelineCommit, TimelineKey};
use tokio_postgres::Transaction;

use crate::persistence::words::{each_word, prefixes};
use crate::postgres::connection::sessions::Object;
use crate::postgres::transaction::batch::{Batch, rows, values};
use crate::postgres::values::{Failed, get, sql, text};

/// The migration step that adds the table.
pub(in crate::postgres) const STEP: &str = "0005-event-words";

/// Events of a search that are examined before the words are read: if words are frequent, this fills a page.
pub(in crate::postgres) const EXAMINED_FIRST: usize = 256;
/// Entries on all layers whose words a search reads, in about a second.
const ENTRIES_MAX: u64 = 5_000_000;
/// Candidates of a search on all layers. With more of them, a page is soon full without the words.
const CANDIDATES_MAX: usize = 10_000;
/// Events whose words are compared or filled at a time.
const EVENTS_MAX: i32 = 512;

const INSERT: &str = "INSERT INTO event_words (timeline, position, time, words)
    SELECT w.timeline, w.position, w.time, w.words::tsvector
    FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::text[]) AS w (timeline, position, time, words)";
const ERASE: &str = "DELETE FROM event_words WHERE timeline = $1 AND position = ANY ($2::bigint[])";
const SELECT_CANDIDATES: &str = "SELECT time, position FROM event_words
    WHERE timeline = $1 AND position < $2 AND words @@ $3::text::tsquery LIMIT $4";
const SELECT_TIMELINES: &str =
    "SELECT timeline FROM timelines UNION SELECT fork_of FROM timelines WHERE fork_of IS NOT NULL
    UNION SELECT fork_of FROM ended_timelines WHERE fork_of IS NOT NULL AND NOT is_let_go ORDER BY timeline";
const COUNT_ROWS: &str = "SELECT (SELECT count(*) FROM event_words WHERE timeline = $1),
    (SELECT count(*) FROM events WHERE timeline = $1)";
const SELECT_PAGE: &str = "SELECT event_id, position, time, content FROM events
    WHERE timeline = $1 AND (event_id, position) > ($2, $3) ORDER BY event_id, position LIMIT $4";
const COUNT_DIFFERENT: &str = "SELECT count(*)
    FROM unnest($2::bigint[], $3::bigint[], $4::text[]) AS e (position, time, words)
    WHERE NOT EXISTS (SELECT FROM event_words w WHERE w.timeline = $1 AND w.position = e.position
        AND w.time = e.time AND w.words = e.words::tsvector)";
const CLEAR: &str = "LOCK TABLE events IN SHARE ROW EXCLUSIVE MODE; TRUNCATE event_words";
const SELECT_TO_FILL: &str = "SELECT timeline, position, time, content FROM events";

/// Rows of the table, by column.
#[derive(Default)]
struct Rows {
    timelines: Vec<i64>,
    positions: Vec<i64>,
    times: Vec<i64>,
    words: Vec<String>,
}

impl Rows {
    fn push(&mut self, (timeline, position, time): (i64, i64, i64), content: &str) {
        self.timelines.push(timeline);
        self.positions.push(position);
        self.times.push(time);
        self.words.push(lexemes(content));
    }
}

/// Returns the words of an event as the text of a `tsvector`, which the server sorts. Folded words have no character to
/// escape, and those of the largest event take 600 kB of the 1 MiB that a `tsvector` can have.
fn lexemes(content: &str) -> String {
    let mut text = String::with_capacity(content.len());
    each_word(content, &mut |word| {
        for part in ["'", word, "' "] {
            text.push_str(part);
        }
    });
    text
}

pub(in crate::postgres) fn insert(batch: &mut Batch<'_>, events: &[(TimelineKey, &EventRow)]) {
    let mut new = Rows::default();
    for (timeline, event) in events {
        new.push((timeline.0, sql(event.position), event.columns.time.micros()), &event.content);
    }
    batch.add(INSERT, values![new.timelines, new.positions, new.times, new.words]);
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

/// The time and position of each candidate on each layer, in ascending order.
pub(in crate::postgres) type Candidates = Vec<Vec<(i64, i64)>>;

/// Finds the events that may have these words; `None` if a search that reads all events is faster.
pub(in crate::postgres) async fn candidates(
    on: &Object,
    query: &EventQuery,
    words: &[String],
) -> Result<Option<Candidates>, Failed> {
    if query.layers.iter().map(|layer| layer.as_of).fold(0, u64::saturating_add) > ENTRIES_MAX {
        return Ok(None);
    }
    let terms: Vec<String> = prefixes(words).iter().map(|prefix| format!("'{prefix}':*")).collect();
    let terms = terms.join(" & ");
    let (mut all, mut left) = (Vec::with_capacity(query.layers.len()), CANDIDATES_MAX);
    for layer in query.layers.iter() {
        let (as_of, limit) = (sql(layer.as_of), sql(left as u64 + 1));
        let found = rows(on, SELECT_CANDIDATES, &[&layer.timeline.0, &as_of, &terms, &limit]).await?;
        let Some(less) = left.checked_sub(found.len()) else { return Ok(None) };
        left = less;
        let found = found.iter().map(|row| Ok((get(row, 0)?, get(row, 1)?)));
        let mut found: Vec<(i64, i64)> = found.collect::<Result<_, Failed>>()?;
        found.sort_unstable();
        all.push(found);
    }
    Ok(Some(all))
}

/// Returns the timelines that searches read: all live ones, and ended ones that forks continue.
pub(in crate::postgres) async fn timelines(on: &Object) -> Result<Vec<TimelineKey>, Failed> {
    rows(on, SELECT_TIMELINES, &[]).await?.iter().map(|row| Ok(TimelineKey(get(row, 0)?))).collect()
}

/// Compares the words of a timeline with its events, on one snapshot. Returns what is wrong.
pub(in crate::postgres) async fn difference(on: &Object, timeline: TimelineKey) -> Result<Option<String>, Failed> {
    let (mut event_id, mut position, mut different) = (String::new(), -1_i64, 0_i64);
    loop {
        let page = rows(on, SELECT_PAGE, &[&timeline.0, &event_id, &position, &i64::from(EVENTS_MAX)]).await?;
        let Some(last) = page.last() else { break };
        (event_id, position) = (get(last, 0)?, get(last, 1)?);
        let mut expected = Rows::default();
        for row in &page {
            expected.push((timeline.0, get(row, 1)?, get(row, 2)?), &text(row, 3)?);
        }
        let Rows { positions, times, words, .. } = &expected;
        let counted = rows(on, COUNT_DIFFERENT, &[&timeline.0, positions, times, words]).await?;
        different += counted.first().map_or(Ok(0), |row| get::<i64>(row, 0))?;
    }
    if different > 0 {
        return Ok(Some(format!("{different} events have other words")));
    }
    let counts = rows(on, COUNT_ROWS, &[&timeline.0]).await?;
    let (of_words, of_events): (i64, i64) = match counts.first() {
        Some(row) => (get(row, 0)?, get(row, 1)?),
        None => (0, 0),
    };
    Ok((of_words != of_events).then(|| format!("it has {of_words} rows for {of_events} events")))
}

/// Fills the table for all events.
pub(in crate::postgres) async fn fill(transaction: &Transaction<'_>) -> Result<(), Failed> {
    transaction.batch_execute(CLEAR).await?;
    let portal = transaction.bind(SELECT_TO_FILL, &[]).await?;
    loop {
        let found = transaction.query_portal(&portal, EVENTS_MAX).await?;
        if found.is_empty() {
            return Ok(());
        }
        let mut new = Rows::default();
        for row in &found {
            new.push((get(row, 0)?, get(row, 1)?, get(row, 2)?), &text(row, 3)?);
        }
        let Rows { timelines, positions, times, words } = &new;
        transaction.execute(INSERT, &[timelines, positions, times, words]).await?;
    }
}
