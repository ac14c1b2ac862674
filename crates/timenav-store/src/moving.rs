//! Moves a whole store to another backend: from a SQLite file to a PostgreSQL database, and back.
//!
//! Rows are copied page by page, and each page is committed together with the progress. An interrupted move resumes
//! from there. The target cannot be opened until the move has ended: a database is marked as being moved into, and a
//! file does not have its final name. Callers scan the copy before they end the move.

use std::path::{Path, PathBuf};

use timenav_core::ledger::sha256;
use timenav_engine::{Head, StoreError};

use crate::persistence::moves::{Progress, Source, Target, UnderWay};
use crate::postgres::{PostgresOptions, PostgresSource, PostgresStore, PostgresTarget};
use crate::sqlite::{SqliteSource, SqliteTarget};
use crate::tables::fill_lengths;
use crate::tables::list::TABLES;

#[derive(Clone, Copy, Debug)]
pub struct Moved {
    pub table: &'static str,
    /// Rows copied so far, including those of an earlier attempt.
    pub rows: u64,
}

/// A complete copy that cannot be opened yet.
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
/// If the file is in use or was written by an older version, if the database is not empty, or if either cannot be read
/// or written.
pub async fn to_postgres(
    from: &Path,
    to: &PostgresOptions,
    on_moved: &mut (dyn FnMut(Moved) + Send),
) -> Result<Copied, StoreError> {
    let from: Box<dyn Source> = Box::new(SqliteSource::open(from)?);
    let target = PostgresTarget::open(to).await?;
    let heads = copy(&*from, &target, on_moved).await?;
    Ok(Copied { from, target: AnyTarget::Postgres(Box::new(target)), heads })
}

/// Copies everything from a PostgreSQL database into a new file.
///
/// # Errors
/// The same as for [`to_postgres`], with the roles swapped.
pub async fn to_sqlite(
    from: &PostgresOptions,
    to: &Path,
    on_moved: &mut (dyn FnMut(Moved) + Send),
) -> Result<Copied, StoreError> {
    let from: Box<dyn Source> = Box::new(PostgresSource::open(from).await?);
    let target = SqliteTarget::open(to)?;
    let heads = copy(&*from, &target, on_moved).await?;
    Ok(Copied { from, target: AnyTarget::Sqlite(Box::new(target)), heads })
}

async fn copy(
    from: &dyn Source,
    into: &dyn Target,
    on_moved: &mut (dyn FnMut(Moved) + Send),
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
            let message = "the target is not empty: name an empty one";
            return Err(StoreError::Unavailable(message.to_owned()));
        }
        Some(UnderWay::Copying(other)) if other == state => {}
        Some(UnderWay::Copying(_)) => {
            let message = "a move into this target began from another database, or from an earlier state of this one: \
                           empty the target and start over";
            return Err(StoreError::Unavailable(message.to_owned()));
        }
    }
    for table in TABLES {
        let mut progress = into.progress(table).await?;
        loop {
            on_moved(Moved { table: table.name, rows: progress.rows });
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
    into.derive().await?;
    Ok(heads)
}

/// Returns a digest of all ledgers. Every recorded entry changes it.
fn state(heads: &[Head]) -> String {
    let tree = |head: &Head| {
        [head.id.as_str().as_bytes(), &head.frontier.size().to_be_bytes(), head.frontier.root().as_bytes()].concat()
    };
    let trees: Vec<[u8; 32]> = heads.iter().map(|head| *sha256(&[&tree(head)]).as_bytes()).collect();
    let trees: Vec<&[u8]> = trees.iter().map(|tree| &tree[..]).collect();
    sha256(&trees).to_hex()
}

impl Copied {
    #[must_use]
    pub fn heads(&self) -> &[Head] {
        &self.heads
    }

    /// Returns the copy if it is in a PostgreSQL database, to be scanned.
    #[must_use]
    pub fn postgres(&self) -> Option<&PostgresStore> {
        match &self.target {
            AnyTarget::Postgres(target) => Some(target.store()),
            AnyTarget::Sqlite(_) => None,
        }
    }

    /// Completes a copy in a file and returns its temporary path, to be scanned. The path is valid until the move ends.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn file(&self) -> Result<Option<PathBuf>, StoreError> {
        match &self.target {
            AnyTarget::Postgres(_) => Ok(None),
            AnyTarget::Sqlite(target) => target.whole().map(Some),
        }
    }

    /// Ends the move. From now on the target can be opened.
    ///
    /// # Errors
    /// If the heads of the copy differ from the source's current heads, or the copy cannot be written.
    pub async fn end(self) -> Result<(), StoreError> {
        let copied = match &self.target {
            AnyTarget::Postgres(target) => target.heads().await?,
            AnyTarget::Sqlite(target) => target.heads().await?,
        };
        let now = state(&self.from.heads().await?);
        if state(&copied) != now || state(&self.heads) != now {
            return Err(StoreError::Damaged("the ledgers of the copy differ from those of the source".to_owned()));
        }
        match self.target {
            AnyTarget::Postgres(target) => target.end().await,
            AnyTarget::Sqlite(target) => target.end(),
        }
    }
}
