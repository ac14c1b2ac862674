//! Everything that one store keeps, moved to another one: from the SQLite file to a PostgreSQL database, and back.
//!
//! Rows are copied page by page, and what was copied is committed together with how far that is. A move that was cut off
//! goes on there. Until it has ended nothing opens the target: a database says so itself, and a file has not got its name.
//! Whether the copy is right is for a scan to say, before it ends.

use std::path::{Path, PathBuf};

use timenav_core::ledger::sha256;
use timenav_engine::{Head, StoreError};

use crate::kept::moves::{Progress, Source, Target, UnderWay};
use crate::kept::tables::{TABLES, fill_lengths};
use crate::postgres::{PostgresOptions, PostgresSource, PostgresStore, PostgresTarget};
use crate::sqlite::{SqliteSource, SqliteTarget};

/// How far a move has come.
#[derive(Clone, Copy, Debug)]
pub struct Moved {
    /// The table that is copied.
    pub table: &'static str,
    /// How many rows of it are there by now, those of an earlier attempt included.
    pub rows: u64,
}

/// A copy of everything that has not been opened yet.
pub struct Copied {
    from: Box<dyn Source>,
    target: AnyTarget,
    heads: Vec<Head>,
}

enum AnyTarget {
    Postgres(Box<PostgresTarget>),
    Sqlite(Box<SqliteTarget>),
}

/// Copies everything from a SQLite file into an empty PostgreSQL database.
///
/// # Errors
/// The file is used by something else or of an older version, the database is not empty, or either cannot be read or
/// written.
pub async fn to_postgres(
    from: &Path,
    to: &PostgresOptions,
    told: &mut (dyn FnMut(Moved) + Send),
) -> Result<Copied, StoreError> {
    let from: Box<dyn Source> = Box::new(SqliteSource::open(from)?);
    let target = PostgresTarget::open(to).await?;
    let heads = copy(&*from, &target, told).await?;
    Ok(Copied { from, target: AnyTarget::Postgres(Box::new(target)), heads })
}

/// Copies everything from a PostgreSQL database into a file that is not there yet.
///
/// # Errors
/// As those of [`to_postgres`], the other way round.
pub async fn to_sqlite(
    from: &PostgresOptions,
    to: &Path,
    told: &mut (dyn FnMut(Moved) + Send),
) -> Result<Copied, StoreError> {
    let from: Box<dyn Source> = Box::new(PostgresSource::open(from).await?);
    let target = SqliteTarget::open(to)?;
    let heads = copy(&*from, &target, told).await?;
    Ok(Copied { from, target: AnyTarget::Sqlite(Box::new(target)), heads })
}

async fn copy(
    from: &dyn Source,
    into: &dyn Target,
    told: &mut (dyn FnMut(Moved) + Send),
) -> Result<Vec<Head>, StoreError> {
    let heads = from.heads().await?;
    if heads.is_empty() {
        return Err(StoreError::Unavailable("there is nothing to move: no timeline is kept there".to_owned()));
    }
    let state = state(&heads);
    match into.under_way().await? {
        None => into.begin(&state).await?,
        Some(UnderWay::Copied) if self::state(&into.heads().await?) == state => return Ok(heads),
        Some(UnderWay::Copied) => {
            let message = "the target is not empty: name one that nothing was written to";
            return Err(StoreError::Unavailable(message.to_owned()));
        }
        Some(UnderWay::Copying(other)) if other == state => {}
        Some(UnderWay::Copying(_)) => {
            let message = "a move into this target began from another database, or from an earlier state of this one: \
                           empty the target and begin again";
            return Err(StoreError::Unavailable(message.to_owned()));
        }
    }
    for table in TABLES {
        let mut progress = into.progress(table).await?;
        loop {
            told(Moved { table: table.name, rows: progress.rows });
            let mut page = from.page(table, progress.after.clone()).await?;
            let Some(last) = page.last else { break };
            progress = Progress { after: Some(last), rows: progress.rows + page.rows.len() as u64 };
            fill_lengths(table, &mut page.rows);
            into.put(table, page.rows, &progress).await?;
        }
    }
    if self::state(&from.heads().await?) != state {
        return Err(StoreError::Unavailable("the source was changed while it was copied".to_owned()));
    }
    Ok(heads)
}

/// Returns what a state is known by: nothing is recorded without a change of it.
fn state(heads: &[Head]) -> String {
    let tree = |head: &Head| {
        [head.id.as_str().as_bytes(), &head.frontier.size().to_be_bytes(), head.frontier.root().as_bytes()].concat()
    };
    let trees: Vec<[u8; 32]> = heads.iter().map(|head| *sha256(&[&tree(head)]).as_bytes()).collect();
    let trees: Vec<&[u8]> = trees.iter().map(|tree| &tree[..]).collect();
    sha256(&trees).to_hex()
}

impl Copied {
    /// Returns the heads of all timelines, as they are in the source.
    #[must_use]
    pub fn heads(&self) -> &[Head] {
        &self.heads
    }

    /// Returns the copy in a PostgreSQL database, to be looked at.
    #[must_use]
    pub fn postgres(&self) -> Option<&PostgresStore> {
        match &self.target {
            AnyTarget::Postgres(target) => Some(target.store()),
            AnyTarget::Sqlite(_) => None,
        }
    }

    /// Makes a copy in a file whole, and returns where that is until the end.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn file(&self) -> Result<Option<PathBuf>, StoreError> {
        match &self.target {
            AnyTarget::Postgres(_) => Ok(None),
            AnyTarget::Sqlite(target) => target.whole().map(Some),
        }
    }

    /// Ends the move: from now on the target can be opened.
    ///
    /// # Errors
    /// The copy has other heads than the source has by now, or cannot be written.
    pub async fn end(self) -> Result<(), StoreError> {
        let copied = match &self.target {
            AnyTarget::Postgres(target) => target.heads().await?,
            AnyTarget::Sqlite(target) => target.heads().await?,
        };
        let now = state(&self.from.heads().await?);
        if state(&copied) != now || state(&self.heads) != now {
            return Err(StoreError::Damaged("the copy has other ledgers than the source".to_owned()));
        }
        match self.target {
            AnyTarget::Postgres(target) => target.end().await,
            AnyTarget::Sqlite(target) => target.end(),
        }
    }
}
