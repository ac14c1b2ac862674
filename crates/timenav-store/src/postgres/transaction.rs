//! Write transactions, finding out their outcome, and read transactions.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use futures_util::future::BoxFuture;
use futures_util::try_join;
use timenav_engine::{Commit, StoreError, TimelineKey};
use tokio_postgres::Row;
use tokio_postgres::error::Severity;

use self::batch::{ANSWER_WAIT, Batch, answered, values};
use super::connection::Connections;
use super::migrations::Spread;
use super::values::{Failed, get};
use crate::postgres::connection::beginning::WRITE_NOTHING;
use crate::postgres::connection::sessions::Object;
use crate::postgres::entries::tiles;
use crate::postgres::events::features::{Features, FeaturesCache};
use crate::postgres::heads;

pub(crate) mod batch;

const NAME: &str = "SELECT pg_current_xact_id()::text, pg_backend_pid()";
const STATUS: &str = "SELECT pg_xact_status($1::text::xid8)";

/// A transaction on the writing connection. Dropping it closes the connection, and the server rolls back.
pub(super) struct Writing {
    writer: Option<Object>,
    features: Arc<FeaturesCache>,
    spread: Arc<Spread>,
    /// The transaction id, which identifies it even after its end.
    name: String,
}

/// Timeout of a commit. No server timeout covers its wait for a standby.
const COMMIT_WAIT: Duration = Duration::from_secs(20);
/// Timeout for ending a transaction that changes nothing.
const END_WAIT: Duration = Duration::from_secs(5);
/// How long to try to find out the outcome of a transaction.
const SETTLE_WAIT: Duration = Duration::from_secs(6);
/// How long a directory change waits for earlier transactions. The server ends stalled ones after two seconds.
const EARLIER_WAIT: Duration = Duration::from_secs(10);
const SETTLE_EVERY: Duration = Duration::from_millis(100);
const EARLIER_EVERY: Duration = Duration::from_millis(3);
const IS_OLDEST: &str = "SELECT pg_snapshot_xmin(pg_current_snapshot()) > $1::text::xid8";
/// The newest transaction id: no open transaction has a later one.
const NEWEST: &str = "SELECT (pg_snapshot_xmax(pg_current_snapshot())::text::bigint - 1)::text";

/// Identifies a commit by the first entry that it wrote. No other entry has the same salt.
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

enum Ended {
    Committed,
    /// The commit failed, for this reason.
    Not(Failed),
    /// The response was lost.
    Unknown(Failed),
}

impl Writing {
    /// Begins a transaction, pipelined with a first batch. Returns the batch's rows.
    pub(super) async fn begin(connections: &Connections, first: Batch<'_>) -> Result<(Self, Vec<Vec<Row>>), Failed> {
        let (features, spread) = (Arc::clone(&connections.features), Arc::clone(&connections.spread));
        let mut writing = Self { writer: Some(connections.writer().await?), features, spread, name: String::new() };
        let on = writing.on()?;
        // Prepared before the transaction: statements sent together with `BEGIN` run after it.
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

    pub(super) fn on(&self) -> Result<&Object, Failed> {
        self.writer.as_ref().ok_or_else(connection_lost)
    }

    /// Returns what was added to the tables of events. This does not change until the transaction ends.
    pub(super) async fn features(&self) -> Result<Features, Failed> {
        self.features.hold(self.on()?).await
    }

    pub(super) async fn is_spread(&self) -> Result<bool, Failed> {
        self.spread.is_so(self.on()?).await
    }

    pub(super) async fn give_up(mut self) {
        let Some(writer) = self.writer.as_ref() else { return };
        // If that fails or the server hangs, the connection is closed, and the server rolls back.
        match tokio::time::timeout(END_WAIT, writer.batch_execute("ROLLBACK")).await {
            Ok(Ok(())) => drop(self.writer.take()),
            Ok(Err(_)) => {}
            Err(_) => writer.give_up(),
        }
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Commits. If the response is lost or inconclusive, finds out the outcome.
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
                // Its session may hold locks that the next transaction needs.
                drop(self);
                if settle(connections, &name, proof.as_ref()).await? { Ok(()) } else { Err(failed) }
            }
        }
    }

    async fn try_commit(&mut self, connections: &Connections) -> Ended {
        let warnings = connections.warnings();
        let Ok(on) = self.on() else { return Ended::Unknown(lost()) };
        // The commit of a failed transaction returns no error, so the status is queried along with it.
        let ending = async { futures_util::join!(on.batch_execute("COMMIT"), status(on, &self.name)) };
        let Ok((committed, status)) = tokio::time::timeout(COMMIT_WAIT, ending).await else {
            on.give_up();
            return Ended::Unknown(lost());
        };
        match (committed, status) {
            // The server warns if it did not wait for a standby. The commit may then still be lost.
            (Ok(()), _) if connections.warnings() != warnings => Ended::Unknown(lost()),
            (Ok(()), Ok(Some(status))) if status == "committed" => {
                drop(self.writer.take());
                Ended::Committed
            }
            (Ok(()), Ok(_)) => Ended::Not(lost()),
            // The server itself rejected the commit.
            (Err(error), _) if is_refused(&error) => Ended::Not(error.into()),
            (Err(error), _) => Ended::Unknown(error.into()),
            (Ok(()), Err(failed)) => Ended::Unknown(failed),
        }
    }
}

/// Finds out the outcome of a transaction. Another transaction waits for the locks of its heads, so that the first one
/// has ended, looks for its entry, and then makes a durable write. Once that is acknowledged, everything it saw is
/// durable. Seeing the entry alone is not enough, because a server shows data that no standby has yet.
async fn settle(connections: &Connections, name: &str, proof: Option<&Proof<'_>>) -> Result<bool, Failed> {
    let settled = tokio::time::timeout(SETTLE_WAIT, async {
        loop {
            match try_settle(connections, name, proof).await {
                Ok(Some(is_there)) => return is_there,
                Ok(None) => {}
                Err(failed) => tracing::debug!(?failed, "the outcome of a transaction is not known yet"),
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
        // New heads cannot be locked to wait for it.
        (Some("in progress"), _) => return Ok(None),
        (status, Some(proof)) => {
            let leaf = tiles::leaves(writing.on()?, proof.timeline, proof.position, 1).await?;
            match (leaf.first(), status) {
                // If entries are distributed over servers, the server with the entry commits later. A server that has
                // lost data may also know another transaction by that id.
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

/// Waits until every transaction has ended that was open when a transaction was committed. An earlier transaction may
/// have read the directory before the commit and still be running.
pub(super) async fn wait_for_earlier(connections: &Connections, name: &str) -> Result<(), Failed> {
    wait_until_all_after(connections, Some(name)).await
}

/// Waits until every transaction that is open now has ended.
pub(super) async fn wait_for_open(connections: &Connections) -> Result<(), Failed> {
    wait_until_all_after(connections, None).await
}

/// Waits until all open transactions are newer than a committed one, or than now if none is named. Fails only with
/// [`StoreError::Unknown`]: the change is committed, whatever happens to this connection, so the query is retried on
/// another.
async fn wait_until_all_after(connections: &Connections, name: Option<&str>) -> Result<(), Failed> {
    let waited = tokio::time::timeout(EARLIER_WAIT, async {
        while let Err(failed) = try_wait_until_all_after(connections, name).await {
            tracing::debug!(?failed, "cannot yet determine whether a transaction from before a change is still open");
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

async fn status(on: &Object, name: &str) -> Result<Option<String>, Failed> {
    let prepared = on.prepare_cached(STATUS).await?;
    get(&on.query_one(&prepared, &[&name]).await?, 0)
}

/// Returns whether the server rejected a statement and kept the session. A session that ends may have committed before.
fn is_refused(error: &tokio_postgres::Error) -> bool {
    error.as_db_error().is_some_and(|db_error| db_error.parsed_severity() == Some(Severity::Error))
}

fn connection_lost() -> Failed {
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

/// A read of several statements on one snapshot. Dropping it before its end closes the connection.
pub(super) struct Moment(Option<Object>);

impl Moment {
    /// Begins the transaction, pipelined with the read.
    pub(super) async fn read<T>(
        reader: Object,
        read: impl for<'a> FnOnce(&'a Object) -> BoxFuture<'a, Result<T, Failed>>,
    ) -> Result<T, Failed> {
        let moment = Self(Some(reader));
        let on = moment.0.as_ref().ok_or_else(connection_lost)?;
        let begin = async { Ok(on.batch_execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY").await?) };
        // Statements sent together with `BEGIN` run after it.
        let found = match try_join!(begin, read(on)) {
            Ok(((), found)) => Ok(found),
            // The read succeeded but came too early.
            Err(Failed::Unfinished) => Err(Failed::Unfinished),
            Err(failed) => return Err(failed),
        };
        // The caller does not have to wait for the end.
        tokio::spawn(moment.end());
        found
    }

    /// Ends the transaction and returns the connection to the pool.
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
