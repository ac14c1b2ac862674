//! What feature levels add to the tables of events.
//!
//! Before its level, an addition is neither written nor read. Services of an earlier version may record events until the
//! level is raised, so each addition is created and filled in one transaction that blocks writes to events.

use std::sync::atomic::{AtomicBool, Ordering};

use tokio_postgres::Row;

use crate::postgres::connection::sessions::Object;
use crate::postgres::transaction::batch::{Batch, rows, values};
use crate::postgres::values::{Failed, get};

const SELECT: &str = "SELECT count(*) FROM migrations WHERE step IN ('0004-lengths', '0005-event-words')";
/// The lock mode of writers, so that nothing can be added until the transaction ends.
const HOLD: &str = "LOCK TABLE events IN ROW EXCLUSIVE MODE";

/// What the tables of a database have, in the order of the levels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::postgres) enum Features {
    Base,
    /// The column with the length class of events.
    Lengths,
    /// Also the table with the words of events.
    Words,
}

impl Features {
    pub(in crate::postgres) fn has_lengths(self) -> bool {
        self >= Self::Lengths
    }

    pub(in crate::postgres) fn has_words(self) -> bool {
        self == Self::Words
    }

    const fn of(steps_count: i64) -> Self {
        match steps_count {
            i64::MIN..=0 => Self::Base,
            1 => Self::Lengths,
            2.. => Self::Words,
        }
    }
}

/// Remembers that a database has everything. Nothing is ever removed.
#[derive(Debug, Default)]
pub(in crate::postgres) struct FeaturesCache(AtomicBool);

impl FeaturesCache {
    pub(in crate::postgres) async fn read(&self, on: &Object) -> Result<Features, Failed> {
        match self.cached() {
            Some(features) => Ok(features),
            None => self.learn(&rows(on, SELECT, &[]).await?),
        }
    }

    /// Like [`FeaturesCache::read`], and keeps it from changing until the current transaction ends.
    pub(in crate::postgres) async fn hold(&self, on: &Object) -> Result<Features, Failed> {
        if let Some(features) = self.cached() {
            return Ok(features);
        }
        let mut batch = Batch::default();
        batch.add(HOLD, values![]);
        batch.add(SELECT, values![]);
        self.learn(&batch.run(on).await?.pop().unwrap_or_default())
    }

    fn cached(&self) -> Option<Features> {
        self.0.load(Ordering::Relaxed).then_some(Features::Words)
    }

    fn learn(&self, found: &[Row]) -> Result<Features, Failed> {
        let features = Features::of(found.first().map_or(Ok(0), |row| get(row, 0))?);
        if features.has_words() {
            self.0.store(true, Ordering::Relaxed);
        }
        Ok(features)
    }
}
