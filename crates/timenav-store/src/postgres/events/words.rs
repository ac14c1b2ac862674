//! The words of events in blocks, for searches by `text`. Feature level 8 adds the table.
//!
//! A search reads the words of all blocks on the server, about 20 times faster than the events. It checks each candidate
//! like a search without them does, so that a surplus word costs time and a missing one hides an event. Scans compare the
//! words. A later version of the folding rules (`WORDS_VERSION`) needs a level that fills the table again.

use std::collections::BTreeMap;

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
/// Entries of a layer whose words a search reads, in about a second if each has a block of its own.
const ENTRIES_MAX: u64 = 5_000_000;
/// Events of the blocks in which a search looks for candidates.
const SEARCHED_EVENTS_MAX: usize = 255_000;
/// Candidates of a search on all layers. With more of them, a page is soon full without the words.
const CANDIDATES_MAX: usize = 10_000;
/// The most positions that PostgreSQL keeps with a lexeme.
const BLOCK_EVENTS_MAX: usize = 255;
/// A block with more bytes of words gets no further event. A `tsvector` has at most 1 MiB, and the words of the largest
/// event about 600 kB.
const BLOCK_WORDS_BYTES_MAX: usize = 100_000;
/// Bytes that a lexeme takes in a `tsvector` in addition to its text, and those of each of its positions.
const LEXEME_BYTES: usize = 4;
const POSITION_BYTES: usize = 2;
/// Blocks that a scan reads at a time, and events whose contents it then reads together.
const BLOCKS_READ: i64 = 256;
const EVENTS_COMPARED: usize = 256;
/// Events that are read at a time to fill the table.
const FILLED_TOGETHER: i32 = 4_096;

const INSERT: &str = "INSERT INTO event_words (timeline, position, positions, times, words)
    SELECT b.timeline, b.position, b.positions::bigint[], b.times::bigint[], b.words::tsvector
    FROM unnest($1::bigint[], $2::bigint[], $3::text[], $4::text[], $5::text[])
        AS b (timeline, position, positions, times, words)";
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
    /// Bytes that the `tsvector` takes.
    bytes: usize,
}

impl Words {
    fn add(&mut self, number: usize, content: &str) {
        each_word(content, &mut |word| match self.numbers.get_mut(word) {
            Some(numbers) if numbers.last() == Some(&number) => {}
            Some(numbers) => {
                self.bytes += POSITION_BYTES;
                numbers.push(number);
            }
            None => {
                self.bytes += word.len() + LEXEME_BYTES + POSITION_BYTES;
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
}

/// Rows of blocks, by column. Arrays of arrays would need equal lengths, so they are texts.
#[derive(Default)]
struct Rows {
    timelines: Vec<i64>,
    firsts: Vec<i64>,
    positions: Vec<String>,
    times: Vec<String>,
    words: Vec<String>,
}

impl Rows {
    fn push(&mut self, timeline: i64, block: &Block) {
        let Some(first) = block.positions.first() else { return };
        self.timelines.push(timeline);
        self.firsts.push(*first);
        self.positions.push(array_text(&block.positions));
        self.times.push(array_text(&block.times));
        self.words.push(block.words.to_text());
    }
}

fn array_text(numbers: &[i64]) -> String {
    let numbers: Vec<String> = numbers.iter().map(i64::to_string).collect();
    format!("{{{}}}", numbers.join(","))
}

/// Inserts the words of events, which are sorted by timeline and position.
pub(in crate::postgres) fn insert(batch: &mut Batch<'_>, events: &[(TimelineKey, &EventRow)]) {
    let mut new = Rows::default();
    for events in events.chunk_by(|one, next| one.0 == next.0) {
        let (timeline, mut block) = (events[0].0.0, Block::default());
        for (_, event) in events {
            if block.is_full() {
                new.push(timeline, &std::mem::take(&mut block));
            }
            block.push((sql(event.position), event.columns.time.micros()), &event.content);
        }
        new.push(timeline, &block);
    }
    batch.add(INSERT, values![new.timelines, new.firsts, new.positions, new.times, new.words]);
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
    let (mut after, mut last, mut compared) = (-1_i64, -1_i64, Compared::default());
    loop {
        let page = rows(on, SELECT_PAGE, &[&timeline.0, &after, &BLOCKS_READ]).await?;
        let Some(row) = page.last() else { break };
        after = get(row, 0)?;
        let mut group = Group::default();
        for row in &page {
            let (first, positions, times): (i64, Vec<i64>, Vec<i64>) = (get(row, 0)?, get(row, 1)?, get(row, 2)?);
            for position in &positions {
                if *position <= last {
                    return Ok(Some("its blocks overlap".to_owned()));
                }
                last = *position;
            }
            group.push(first, &positions, times);
            if group.positions.len() >= EVENTS_COMPARED {
                compared.add(std::mem::take(&mut group).compare(on, timeline).await?);
            }
        }
        compared.add(group.compare(on, timeline).await?);
    }
    let Compared { events, different } = compared;
    if different > 0 {
        return Ok(Some(format!("the events of {different} blocks have other words")));
    }
    Ok((events != count).then(|| format!("it has {events} of {count} events")))
}

/// How many events blocks have, and how many of the blocks have other words than their events.
#[derive(Clone, Copy, Default)]
struct Compared {
    events: i64,
    different: i64,
}

impl Compared {
    fn add(&mut self, other: Self) {
        self.events += other.events;
        self.different += other.different;
    }
}

/// Blocks that are compared together.
#[derive(Default)]
struct Group {
    firsts: Vec<i64>,
    positions: Vec<i64>,
    times: Vec<i64>,
    /// The block of each position, and its number there.
    places: Vec<(usize, usize)>,
}

impl Group {
    fn push(&mut self, first: i64, positions: &[i64], mut times: Vec<i64>) {
        let block = self.firsts.len();
        self.firsts.push(first);
        self.places.extend((1..=positions.len()).map(|number| (block, number)));
        self.positions.extend(positions);
        times.resize(positions.len(), i64::MIN);
        self.times.extend(times);
    }

    async fn compare(self, on: &Object, timeline: TimelineKey) -> Result<Compared, Failed> {
        let mut expected: Vec<Words> = self.firsts.iter().map(|_| Words::default()).collect();
        let found = rows(on, SELECT_CONTENTS, &[&timeline.0, &self.times, &self.positions]).await?;
        for row in &found {
            let at = usize::try_from(get::<i64>(row, 0)? - 1).unwrap_or_default();
            let (block, number) = self.places[at];
            expected[block].add(number, &text(row, 1)?);
        }
        let expected: Vec<String> = expected.iter().map(Words::to_text).collect();
        let different = rows(on, COUNT_DIFFERENT, &[&timeline.0, &self.firsts, &expected]).await?;
        let different = different.first().map_or(Ok(0), |row| get(row, 0))?;
        Ok(Compared { events: i64::try_from(found.len()).unwrap_or(i64::MAX), different })
    }
}

/// Fills the table for all events.
pub(in crate::postgres) async fn fill(transaction: &Transaction<'_>) -> Result<(), Failed> {
    transaction.batch_execute(CLEAR).await?;
    let portal = transaction.bind(SELECT_TO_FILL, &[]).await?;
    let (mut timeline, mut block) = (0_i64, Block::default());
    loop {
        let (found, mut new) = (transaction.query_portal(&portal, FILLED_TOGETHER).await?, Rows::default());
        for row in &found {
            let next: i64 = get(row, 0)?;
            if next != timeline || block.is_full() {
                new.push(timeline, &std::mem::take(&mut block));
                timeline = next;
            }
            block.push((get(row, 1)?, get(row, 2)?), &text(row, 3)?);
        }
        if found.is_empty() {
            new.push(timeline, &block);
        }
        let Rows { timelines, firsts, positions, times, words } = &new;
        transaction.execute(INSERT, &[timelines, firsts, positions, times, words]).await?;
        if found.is_empty() {
            return Ok(());
        }
    }
}
