//! Commits that lock their heads first and decide what to write while they hold the locks.

use std::collections::HashMap;
use std::sync::atomic::Ordering;

use timenav_engine::{Commit, Locked, StoreError, TimelineCommit, TimelineKey};
use tokio_postgres::Row;

use crate::postgres::commit;
use crate::postgres::connection::Connections;
use crate::postgres::connection::sessions::Object;
use crate::postgres::heads;
use crate::postgres::transaction::Writing;
use crate::postgres::transaction::batch::{Batch, values};
use crate::postgres::values::{Failed, damaged, get, number};

/// How often a commit is retried if it loses against another transaction.
const BEGUN_MAX: usize = 5;

/// State that every commit depends on. It is read by a separate statement after the locks are held: a statement that
/// waits for a lock sees everything else as of before the wait.
const SELECT_SYSTEM: &str = "SELECT size, directory, coalesce((SELECT level FROM feature_level), 0) FROM timelines
    WHERE timeline_id = 'system'";

pub(in crate::postgres) struct Held {
    writing: Writing,
    sizes: HashMap<TimelineKey, u64>,
}

impl Held {
    pub(in crate::postgres) fn on(&self) -> Result<&Object, Failed> {
        self.writing.on()
    }

    pub(in crate::postgres) async fn give_up(self) {
        self.writing.give_up().await;
    }
}

pub(in crate::postgres) async fn begin(
    connections: &Connections,
    timelines: &[TimelineKey],
) -> Result<(Held, Locked), StoreError> {
    for _ in 1..BEGUN_MAX {
        match try_begin(connections, timelines).await {
            Err(failed) if failed.may_be_repeated() => _ = connections.retries.fetch_add(1, Ordering::Relaxed),
            ended => return Ok(ended?),
        }
    }
    Ok(try_begin(connections, timelines).await?)
}

async fn try_begin(connections: &Connections, timelines: &[TimelineKey]) -> Result<(Held, Locked), Failed> {
    let mut first = Batch::default();
    first.add(heads::LOCK, values![timelines.iter().map(|timeline| timeline.0).collect::<Vec<_>>()]);
    first.add(SELECT_SYSTEM, values![]);
    let (writing, found) = Writing::begin(connections, first).await?;
    match locked(&found) {
        Ok(locked) => Ok((Held { writing, sizes: locked.sizes.clone() }, locked)),
        Err(failed) => {
            writing.give_up().await;
            Err(failed)
        }
    }
}

fn locked(found: &[Vec<Row>]) -> Result<Locked, Failed> {
    let sizes = found.first().into_iter().flatten();
    let sizes = sizes.map(|row| Ok((TimelineKey(get(row, 0)?), number(row, 1)?)));
    let sizes: HashMap<TimelineKey, u64> = sizes.collect::<Result<_, Failed>>()?;
    let system = found.get(1).and_then(|rows| rows.first()).ok_or_else(|| damaged("there is no ledger `system`"))?;
    Ok(Locked { sizes, system: (number(system, 0)?, number(system, 1)?), level: number(system, 2)? })
}

pub(in crate::postgres) async fn commit(
    connections: &Connections,
    held: Held,
    step: &Commit,
) -> Result<(), StoreError> {
    let Held { writing, sizes } = held;
    let is_moved =
        |one: &&TimelineCommit| one.expected_size.is_some() && sizes.get(&one.head.key) != one.expected_size.as_ref();
    if let Some(moved) = step.timelines.iter().find(is_moved) {
        writing.give_up().await;
        return Err(StoreError::Moved(moved.head.id.clone()));
    }
    let written = async {
        let mut first = Batch::default();
        if heads::put_new(&mut first, step) {
            heads::check_put(&step.timelines, first.run(writing.on()?).await?.first())?;
        }
        commit::write(&writing, step).await
    };
    match written.await {
        Ok(()) => Ok(commit::end(connections, writing, step).await?),
        Err(failed) => {
            writing.give_up().await;
            Err(match step.timelines.first() {
                // It lost against another transaction and must be retried from the locks on.
                Some(first) if failed.may_be_repeated() => StoreError::Moved(first.head.id.clone()),
                _ => failed.into(),
            })
        }
    }
}
