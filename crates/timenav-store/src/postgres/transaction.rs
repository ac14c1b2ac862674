//! A transaction that writes, and what became of it; and one that reads.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use futures_util::future::BoxFuture;
use futures_util::try_join;
use timenav_engine::{Commit, StoreError, TimelineKey};
use tokio_postgres::Row;
use tokio_postgres::error::Severity;

use super::batch::{ANSWER_WAIT, Batch, answered, values};
use super::beginning::WRITE_NOTHING;
use super::connection::Connections;
use super::lengths::Lengths;
use super::migrations::Spread;
use super::sessions::Object;
use super::values::{Failed, get};
use super::{heads, tiles};

const NAME: &str = "SELECT pg_current_xact_id()::text, pg_backend_pid()";
const STATUS: &str = "SELECT pg_xact_status($1::text::xid8)";

/// A transaction on the connection that writes. Dropped while it is open, it takes the connection with it, and with that
/// the server ends it.
pub(super) struct Writing {
    writer: Option<Object>,
    lengths: Arc<Lengths>,
    spread: Arc<Spread>,
    /// By which the server knows it, also once it has ended.
    name: String,
}

/// How long the end of a transaction may take. No limit of the server covers its wait for a standby.
const COMMIT_WAIT: Duration = Duration::from_secs(20);
/// How long the end of a transaction may take that changes nothing.
const END_WAIT: Duration = Duration::from_secs(5);
/// How long it is tried to find out what became of a transaction.
const SETTLE_WAIT: Duration = Duration::from_secs(6);
/// How long a change of the directory waits for transactions that began before it. The server ends those of services that
/// do not go on after two seconds.
const EARLIER_WAIT: Duration = Duration::from_secs(10);
const SETTLE_EVERY: Duration = Duration::from_millis(100);
const EARLIER_EVERY: Duration = Duration::from_millis(3);
const IS_OLDEST: &str = "SELECT pg_snapshot_xmin(pg_current_snapshot()) > $1::text::xid8";
/// The transaction that began last: of those that are open, none has a later name.
const NEWEST: &str = "SELECT (pg_snapshot_xmax(pg_current_snapshot())::text::bigint - 1)::text";

/// By which a step is known again: the first entry that it wrote. No other has its salt.
pub(super) struct Proof<'a> {
    locks: Vec<i64>,
    timeline: TimelineKey,
    position: u64,
    leaf: &'a [u8],
}

impl<'a> Proof<'a> {
    pub(super) fn of(step: &'a Commit) -> Option<Self> {
        let (timeline, first) = step.timelines.iter().find_map(|one| Some((one.head.key, one.entries.first()?)))?;
        let locks = step.timelines.iter().map(|one| one.head.key.0).collect();
        Some(Self { locks, timeline, position: first.seq, leaf: &first.leaf })
    }
}

/// What became of a transaction that was to be committed.
enum Ended {
    Committed,
    /// For which reason it was not.
    Not(Failed),
    /// The answer is missing.
    Unknown(Failed),
}

impl Writing {
    /// Begins, and runs a first batch together with that. Returns its rows.
    pub(super) async fn begin(connections: &Connections, first: Batch<'_>) -> Result<(Self, Vec<Vec<Row>>), Failed> {
        let (lengths, spread) = (Arc::clone(&connections.lengths), Arc::clone(&connections.spread));
        let mut writing = Self { writer: Some(connections.writer().await?), lengths, spread, name: String::new() };
        let on = writing.on()?;
        // Prepared before it begins: what is sent together with the beginning comes after it.
        let name = answered(on, ANSWER_WAIT, async { Ok(on.prepare_cached(NAME).await?) }).await?;
        let begun = async {
            let ((), name, rows) = try_join!(
                async { Ok(on.batch_execute("BEGIN").await?) },
                async { Ok(on.query_one(&name, &[]).await?) },
                first.run(on)
            )?;
            connections.check_session(get(&name, 1)?)?;
            Ok::<_, Failed>((get(&name, 0)?, rows))
        };
        match begun.await {
            Ok((name, rows)) => {
                writing.name = name;
                Ok((writing, rows))
            }
            Err(failed) => {
                writing.give_up().await;
                Err(failed)
            }
        }
    }

    /// Returns the connection that it is on.
    pub(super) fn on(&self) -> Result<&Object, Failed> {
        self.writer.as_ref().ok_or_else(gone)
    }

    /// Returns whether events have a column for how long they last, until this ends.
    pub(super) async fn keeps_lengths(&self) -> Result<bool, Failed> {
        self.lengths.are_kept_until_the_end(self.on()?).await
    }

    /// Returns whether rows are on several servers.
    pub(super) async fn is_spread(&self) -> Result<bool, Failed> {
        self.spread.is_so(self.on()?).await
    }

    /// Ends it without effect.
    pub(super) async fn give_up(mut self) {
        let Some(writer) = self.writer.as_ref() else { return };
        // Where that fails, or the server stands still, the connection goes, and the server does the same.
        match tokio::time::timeout(END_WAIT, writer.batch_execute("ROLLBACK")).await {
            Ok(Ok(())) => drop(self.writer.take()),
            Ok(Err(_)) => {}
            Err(_) => writer.give_up(),
        }
    }

    /// Returns by which name the server knows it.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Makes it true. Where the answer gets lost, or is none, it is found out what became of it.
    ///
    /// # Errors
    /// It was not committed; or that is not known.
    pub(super) async fn commit(mut self, connections: &Connections, proof: Option<Proof<'_>>) -> Result<(), Failed> {
        match self.try_commit(connections).await {
            Ended::Committed => Ok(()),
            Ended::Not(failed) => {
                self.give_up().await;
                Err(failed)
            }
            Ended::Unknown(failed) => {
                connections.unanswered.fetch_add(1, Ordering::Relaxed);
                let name = std::mem::take(&mut self.name);
                // Its session may hold what the next one needs.
                drop(self);
                if settle(connections, &name, proof.as_ref()).await? { Ok(()) } else { Err(failed) }
            }
        }
    }

    async fn try_commit(&mut self, connections: &Connections) -> Ended {
        let warnings = connections.warnings();
        let Ok(on) = self.on() else { return Ended::Unknown(lost()) };
        // The commit of a transaction that has failed is answered without an error, and the driver does not tell what was
        // answered. So the server is asked in the same breath.
        let ending = async { futures_util::join!(on.batch_execute("COMMIT"), status(on, &self.name)) };
        let Ok((committed, status)) = tokio::time::timeout(COMMIT_WAIT, ending).await else {
            on.give_up();
            return Ended::Unknown(lost());
        };
        match (committed, status) {
            // The server warns where it has not waited for a standby: then what it has may still be lost.
            (Ok(()), _) if connections.warnings() != warnings => Ended::Unknown(lost()),
            (Ok(()), Ok(Some(status))) if status == "committed" => {
                drop(self.writer.take());
                Ended::Committed
            }
            (Ok(()), Ok(_)) => Ended::Not(lost()),
            // The server itself says no.
            (Err(error), _) if is_refused(&error) => Ended::Not(error.into()),
            (Err(error), _) => Ended::Unknown(error.into()),
            (Ok(()), Err(failed)) => Ended::Unknown(failed),
        }
    }
}

/// Finds out what became of a transaction. Another one waits for the same heads, so that the first has ended, looks for
/// what it wrote, and writes something itself that is acknowledged: then what it saw is there for good. Seeing it alone is
/// not enough: the server shows what no standby has yet.
async fn settle(connections: &Connections, name: &str, proof: Option<&Proof<'_>>) -> Result<bool, Failed> {
    let settled = tokio::time::timeout(SETTLE_WAIT, async {
        loop {
            match try_settle(connections, name, proof).await {
                Ok(Some(is_there)) => return is_there,
                Ok(None) => {}
                Err(failed) => tracing::debug!(?failed, "it is not known yet what became of a transaction"),
            }
            pause(SETTLE_EVERY).await;
        }
    });
    settled.await.map_err(|_| {
        let what = "PostgreSQL: the connection was lost while the transaction was committed";
        StoreError::Unknown(what.to_owned()).into()
    })
}

async fn try_settle(connections: &Connections, name: &str, proof: Option<&Proof<'_>>) -> Result<Option<bool>, Failed> {
    let mut first = Batch::default();
    first.add(heads::LOCK, values![proof.map(|proof| proof.locks.clone()).unwrap_or_default()]);
    first.add(STATUS, values![name]);
    first.add(WRITE_NOTHING, values![]);
    let (mut writing, found) = Writing::begin(connections, first).await?;
    let status: Option<String> = found.get(1).and_then(|rows| rows.first()).map_or(Ok(None), |row| get(row, 0))?;
    let is_there = match (status.as_deref(), proof) {
        // What it has made is not there to be waited for.
        (Some("in progress"), _) => return Ok(None),
        (status, Some(proof)) => {
            let leaf = tiles::leaves(writing.on()?, proof.timeline, proof.position, 1).await?;
            match (leaf.first(), status) {
                // Where entries are spread over servers, the one with the entry commits later. A server that has lost
                // what it had may also know another transaction by that name.
                (None, Some("committed")) => return Ok(None),
                (leaf, _) => leaf.is_some_and(|leaf| leaf == proof.leaf),
            }
        }
        (status, None) => status == Some("committed"),
    };
    match writing.try_commit(connections).await {
        Ended::Committed => Ok(Some(is_there)),
        Ended::Not(failed) | Ended::Unknown(failed) => Err(failed),
    }
}

/// Waits until every transaction has ended that had begun when one was committed. One that has begun may have looked at the
/// directory before that, and may still be on its way.
pub(super) async fn wait_for_earlier(connections: &Connections, name: &str) -> Result<(), Failed> {
    wait_until_all_after(connections, Some(name)).await
}

/// Waits until every transaction has ended that has begun by now.
pub(super) async fn wait_for_open(connections: &Connections) -> Result<(), Failed> {
    wait_until_all_after(connections, None).await
}

/// Waits until every transaction that is open began after a committed one; where none is named, after now.
///
/// # Errors
/// Only [`StoreError::Unknown`]: what is waited for is committed, whatever becomes of the connection that asks. So it is
/// asked again on another one.
async fn wait_until_all_after(connections: &Connections, name: Option<&str>) -> Result<(), Failed> {
    let waited = tokio::time::timeout(EARLIER_WAIT, async {
        while let Err(failed) = try_wait_until_all_after(connections, name).await {
            tracing::debug!(?failed, "it is not known yet whether a transaction is open that began before a change");
            pause(SETTLE_EVERY).await;
        }
    });
    waited.await.map_err(|_| {
        let what = "PostgreSQL: the change is committed, but a transaction that began before it may still be open";
        StoreError::Unknown(what.to_owned()).into()
    })
}

async fn try_wait_until_all_after(connections: &Connections, name: Option<&str>) -> Result<(), Failed> {
    let reader = connections.reader().await?;
    let newest = match name {
        Some(name) => name.to_owned(),
        None => get(&reader.query_one(&reader.prepare_cached(NEWEST).await?, &[]).await?, 0)?,
    };
    let prepared = reader.prepare_cached(IS_OLDEST).await?;
    while !get::<bool>(&reader.query_one(&prepared, &[&newest]).await?, 0)? {
        pause(EARLIER_EVERY).await;
    }
    Ok(())
}

#[expect(
    clippy::disallowed_methods,
    reason = "the server tells nobody when a transaction ends, or that of another server"
)]
pub(super) async fn pause(duration: Duration) {
    tokio::time::sleep(duration).await;
}

/// Returns what the server knows of a transaction.
async fn status(on: &Object, name: &str) -> Result<Option<String>, Failed> {
    let prepared = on.prepare_cached(STATUS).await?;
    get(&on.query_one(&prepared, &[&name]).await?, 0)
}

/// Returns whether the server refuses a statement and the session goes on. One that ends may have committed before.
fn is_refused(error: &tokio_postgres::Error) -> bool {
    error.as_db_error().is_some_and(|told| told.parsed_severity() == Some(Severity::Error))
}

fn gone() -> Failed {
    StoreError::Unavailable("PostgreSQL: the connection is gone".to_owned()).into()
}

fn lost() -> Failed {
    StoreError::Unavailable("PostgreSQL: the transaction was rolled back instead of committed".to_owned()).into()
}

impl Drop for Writing {
    fn drop(&mut self) {
        if let Some(writer) = self.writer.take() {
            drop(Object::take(writer));
        }
    }
}

/// A read of several statements, all of one moment. Dropped before its end, it takes the connection with it.
pub(super) struct Moment(Option<Object>);

impl Moment {
    /// Begins, and reads together with that.
    pub(super) async fn read<T>(
        reader: Object,
        read: impl for<'a> FnOnce(&'a Object) -> BoxFuture<'a, Result<T, Failed>>,
    ) -> Result<T, Failed> {
        let moment = Self(Some(reader));
        let on = moment.0.as_ref().ok_or_else(gone)?;
        let begin = async { Ok(on.batch_execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY").await?) };
        // What is sent together with the beginning comes after it.
        let found = match try_join!(begin, read(on)) {
            Ok(((), found)) => Ok(found),
            // It was read, and says that it is too early.
            Err(Failed::Unfinished) => Err(Failed::Unfinished),
            Err(failed) => return Err(failed),
        };
        // Nobody has to wait for the end.
        tokio::spawn(moment.end());
        found
    }

    /// Gives the connection back.
    async fn end(mut self) {
        let Some(reader) = self.0.as_ref() else { return };
        if let Ok(Ok(())) = tokio::time::timeout(END_WAIT, reader.batch_execute("COMMIT")).await {
            drop(self.0.take());
        }
    }
}

impl Drop for Moment {
    fn drop(&mut self) {
        if let Some(reader) = self.0.take() {
            drop(Object::take(reader));
        }
    }
}
