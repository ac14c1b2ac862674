//! The words of events in blocks, for searches by `text`. Feature level 8 adds the table.
//!
//! A search reads the words of all blocks on the server, about 20 times faster than the events. It checks each candidate
//! like a search without them does, so that a surplus word costs time and a missing one hides an event. Scans compare the
//! words. A later version of the folding rules (`WORDS_VERSION`) needs a level that fills the table again.

use std::collections::BTreeMap;

use timenav_engine::{ErasedContent, EventQuery, EventRow, TimelineCommit, TimelineKey};
use tokio_postgres::Transaction;
use tokio_postgres::types::ToSql;

use crate::persistence::words::{each_word, prefixes};
use crate::postgres::connection::sessions::Object;
use crate::postgres::transaction::batch::{Batch, Value, rows, values};
use crate::postgres::values::{Failed, get, sql, text};

/// The migration step that adds the table.
pub(in crate::postgres) const STEP: &str = "0005-event-words";

/// Events of a search that are examined before the words are read: if words are frequent, this fills a page.
pub(in crate::postgres) const EXAMINED_FIRST: usize = 256;
/// Entries of a layer whose words a search reads, in about a second if each has a block of its own.
const ENTRIES_MAX: u64 = 5_000_000;
/// Events of the blocks in which a search looks for candidates.
const SEARCHED_EVENTS_MAX: usize = 255_000;
/// Candidates of a search on all layers. With more of them, a page is soon full without the words.
const CANDIDATES_MAX: usize = 10_000;
/// The most positions that PostgreSQL keeps with a lexeme.
const BLOCK_EVENTS_MAX: usize = 255;
/// A `tsvector` has at most a million bytes.
const BLOCK_WORDS_BYTES_MAX: usize = 200_000;
/// Blocks that are compared at a time.
const BLOCKS_COMPARED: i64 = 16;
/// Events that are read at a time to fill the table.
const FILLED_TOGETHER: i32 = 4_096;

const INSERT: &str = "INSERT INTO event_words (timeline, position, positions, times, words)
    VALUES ($1, $2, $3, $4, $5::text::tsvector)";
const ERASE: &str = "UPDATE event_words b SET words = coalesce((
        SELECT string_agg('''' || kept.lexeme || ''':' || kept.numbers, ' ') FROM (
            SELECT u.lexeme, string_agg(n.number::text, ',') AS numbers
            FROM unnest(b.words) u CROSS JOIN LATERAL unnest(u.positions) AS n (number)
            WHERE b.positions[n.number] <> ALL ($2::bigint[]) GROUP BY u.lexeme) kept)::tsvector, ''::tsvector)
    WHERE b.timeline = $1 AND b.position IN (SELECT
        (SELECT max(w.position) FROM event_words w WHERE w.timeline = $1 AND w.position <= e.position)
        FROM unnest($2::bigint[]) AS e (position))";
const SELECT_BLOCKS: &str = "SELECT position, cardinality(positions) FROM event_words
    WHERE timeline = $1 AND position < $2 AND words @@ $3::text::tsquery LIMIT $4";
const SELECT_CANDIDATES: &str = "SELECT b.times[found.number], b.positions[found.number]
    FROM event_words b CROSS JOIN LATERAL (
        SELECT n.number FROM unnest(b.words) u CROSS JOIN LATERAL unnest(u.positions) AS n (number)
        JOIN unnest($3::text[]) AS p (prefix) ON starts_with(u.lexeme, p.prefix)
        GROUP BY n.number HAVING count(DISTINCT p.prefix) = cardinality($3::text[])) found
    WHERE b.timeline = $1 AND b.position = ANY ($2::bigint[]) AND b.positions[found.number] < $4 LIMIT $5";
const SELECT_TIMELINES: &str =
    "SELECT timeline FROM timelines UNION SELECT fork_of FROM timelines WHERE fork_of IS NOT NULL
    UNION SELECT fork_of FROM ended_timelines WHERE fork_of IS NOT NULL AND NOT is_let_go ORDER BY timeline";
const COUNT_EVENTS: &str = "SELECT count(*) FROM events WHERE timeline = $1";
const SELECT_PAGE: &str = "SELECT position, array_remove(positions, NULL), array_remove(times, NULL) FROM event_words
    WHERE timeline = $1 AND position > $2 ORDER BY position LIMIT $3";
const SELECT_CONTENTS: &str = "SELECT w.number, e.content
    FROM unnest($2::bigint[], $3::bigint[]) WITH ORDINALITY AS w (time, position, number)
    JOIN events e ON e.timeline = $1 AND e.time = w.time AND e.position = w.position ORDER BY w.number";
const COUNT_DIFFERENT: &str = "SELECT count(*) FROM unnest($2::bigint[], $3::text[]) AS e (position, words)
    WHERE NOT EXISTS (SELECT FROM event_words w
        WHERE w.timeline = $1 AND w.position = e.position AND w.words = e.words::tsvector)";
const CLEAR: &str = "LOCK TABLE events IN SHARE ROW EXCLUSIVE MODE; TRUNCATE event_words";
const SELECT_TO_FILL: &str = "SELECT timeline, position, time, content FROM events ORDER BY timeline, position";

/// A block of events of one timeline, in the order of their positions.
#[derive(Default)]
struct Block {
    positions: Vec<i64>,
    times: Vec<i64>,
    words: Words,
}

/// Folded words, each with the numbers of its events.
#[derive(Default)]
struct Words {
    numbers: BTreeMap<String, Vec<usize>>,
    bytes: usize,
}

impl Words {
    fn add(&mut self, number: usize, content: &str) {
        each_word(content, &mut |word| match self.numbers.get_mut(word) {
            Some(numbers) if numbers.last() == Some(&number) => {}
            Some(numbers) => numbers.push(number),
            None => {
                self.bytes += word.len();
                self.numbers.insert(word.to_owned(), vec![number]);
            }
        });
    }

    /// Returns a `tsvector`. Folded words have no character to escape.
    fn to_text(&self) -> String {
        let lexeme = |(word, numbers): (&String, &Vec<usize>)| {
            let numbers: Vec<String> = numbers.iter().map(usize::to_string).collect();
            format!("'{word}':{}", numbers.join(","))
        };
        self.numbers.iter().map(lexeme).collect::<Vec<String>>().join(" ")
    }
}

impl Block {
    fn push(&mut self, (position, time): (i64, i64), content: &str) {
        self.positions.push(position);
        self.times.push(time);
        self.words.add(self.positions.len(), content);
    }

    fn is_full(&self) -> bool {
        self.positions.len() == BLOCK_EVENTS_MAX || self.words.bytes > BLOCK_WORDS_BYTES_MAX
    }

    fn into_values(self, timeline: i64) -> Vec<Value<'static>> {
        let words = self.words.to_text();
        values![timeline, self.positions[0], self.positions, self.times, words]
    }
}

/// Inserts the words of events, which are sorted by timeline and position.
pub(in crate::postgres) fn insert(batch: &mut Batch<'_>, events: &[(TimelineKey, &EventRow)]) {
    for events in events.chunk_by(|one, next| one.0 == next.0) {
        let mut block = Block::default();
        for (timeline, event) in events {
            if block.is_full() {
                batch.add(INSERT, std::mem::take(&mut block).into_values(timeline.0));
            }
            block.push((sql(event.position), event.columns.time.micros()), &event.content);
        }
        batch.add(INSERT, block.into_values(events[0].0.0));
    }
}

/// Erases the words of erased events.
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
    let prefixes = prefixes(words);
    let terms: Vec<String> = prefixes.iter().map(|prefix| format!("'{prefix}':*")).collect();
    let terms = terms.join(" & ");
    let (mut all, mut left, mut events_left) = (Vec::new(), CANDIDATES_MAX, SEARCHED_EVENTS_MAX);
    for layer in query.layers.iter() {
        let (timeline, as_of) = (layer.timeline.0, sql(layer.as_of));
        let limit = sql(CANDIDATES_MAX as u64 + 1);
        if layer.as_of > ENTRIES_MAX {
            return Ok(None);
        }
        let mut blocks: Vec<i64> = Vec::new();
        for row in rows(on, SELECT_BLOCKS, &[&timeline, &as_of, &terms, &limit]).await? {
            blocks.push(get(&row, 0)?);
            let count = usize::try_from(get::<i32>(&row, 1)?).unwrap_or_default();
            let Some(less) = events_left.checked_sub(count) else { return Ok(None) };
            events_left = less;
        }
        if blocks.len() > CANDIDATES_MAX {
            return Ok(None);
        }
        let limit = sql(left as u64 + 1);
        let found = rows(on, SELECT_CANDIDATES, &[&timeline, &blocks, &prefixes, &as_of, &limit]).await?;
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
    let count = rows(on, COUNT_EVENTS, &[&timeline.0]).await?;
    let count: i64 = count.first().map_or(Ok(0), |row| get(row, 0))?;
    let (mut after, mut last, mut found_count, mut different) = (-1_i64, -1_i64, 0_i64, 0_i64);
    loop {
        let mut blocks: Vec<(i64, Words)> = Vec::new();
        let (mut times, mut positions, mut places) = (Vec::<i64>::new(), Vec::<i64>::new(), Vec::new());
        for row in rows(on, SELECT_PAGE, &[&timeline.0, &after, &BLOCKS_COMPARED]).await? {
            for (number, position) in (1..).zip(get::<Vec<i64>>(&row, 1)?) {
                if position <= last {
                    return Ok(Some("its blocks overlap".to_owned()));
                }
                last = position;
                positions.push(position);
                places.push((blocks.len(), number));
            }
            times.extend(get::<Vec<i64>>(&row, 2)?);
            after = get(&row, 0)?;
            blocks.push((after, Words::default()));
        }
        if blocks.is_empty() {
            break;
        }
        times.resize(positions.len(), i64::MIN);
        for row in rows(on, SELECT_CONTENTS, &[&timeline.0, &times, &positions]).await? {
            let at = usize::try_from(get::<i64>(&row, 0)? - 1).unwrap_or_default();
            let (block, number) = places[at];
            blocks[block].1.add(number, &text(&row, 1)?);
            found_count += 1;
        }
        let (firsts, expected): (Vec<i64>, Vec<String>) =
            blocks.iter().map(|(first, words)| (*first, words.to_text())).unzip();
        let counted = rows(on, COUNT_DIFFERENT, &[&timeline.0, &firsts, &expected]).await?;
        different += counted.first().map_or(Ok(0), |row| get::<i64>(row, 0))?;
    }
    if different > 0 {
        return Ok(Some(format!("the events of {different} blocks have other words")));
    }
    Ok((found_count != count).then(|| format!("it has {found_count} of {count} events")))
}

/// Fills the table for all events.
pub(in crate::postgres) async fn fill(transaction: &Transaction<'_>) -> Result<(), Failed> {
    transaction.batch_execute(CLEAR).await?;
    let portal = transaction.bind(SELECT_TO_FILL, &[]).await?;
    let (mut timeline, mut block) = (0_i64, Block::default());
    loop {
        let found = transaction.query_portal(&portal, FILLED_TOGETHER).await?;
        for row in &found {
            let next: i64 = get(row, 0)?;
            if next != timeline || block.is_full() {
                write(transaction, timeline, std::mem::take(&mut block)).await?;
                timeline = next;
            }
            block.push((get(row, 1)?, get(row, 2)?), &text(row, 3)?);
        }
        if found.is_empty() {
            return write(transaction, timeline, block).await;
        }
    }
}

async fn write(transaction: &Transaction<'_>, timeline: i64, block: Block) -> Result<(), Failed> {
    if block.positions.is_empty() {
        return Ok(());
    }
    let words = block.words.to_text();
    let row: [&(dyn ToSql + Sync); 5] = [&timeline, &block.positions[0], &block.positions, &block.times, &words];
    transaction.execute(INSERT, &row).await?;
    Ok(())
}
