//! A transaction that writes, and what became of it; and one that reads.

use deadpool_postgres::Object;
use futures_util::future::BoxFuture;
use futures_util::try_join;
use timenav_engine::StoreError;
use tokio_postgres::Row;
use tokio_postgres::error::Severity;

use super::batch::Batch;
use super::connection::Connections;
use super::values::{Failed, get};

const NAME: &str = "SELECT pg_current_xact_id()::text";
const STATUS: &str = "SELECT pg_xact_status($1::text::xid8)";

/// A transaction on the connection that writes. Dropped while it is open, it takes the connection with it, and with that
/// the server ends it.
pub(super) struct Writing {
    writer: Option<Object>,
    /// By which the server knows it, also once it has ended.
    name: String,
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
        let mut writing = Self { writer: Some(connections.writer().await?), name: String::new() };
        let on = writing.on()?;
        // Prepared before it begins: what is sent together with the beginning comes after it.
        let name = on.prepare_cached(NAME).await?;
        let begun = async {
            let ((), name, rows) = try_join!(
                async { Ok(on.batch_execute("BEGIN").await?) },
                async { Ok(on.query_one(&name, &[]).await?) },
                first.run(on)
            )?;
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

    /// Ends it without effect.
    pub(super) async fn give_up(mut self) {
        let Some(writer) = self.writer.as_ref() else { return };
        // Where that fails, the connection goes, and the server does the same.
        if writer.batch_execute("ROLLBACK").await.is_ok() {
            drop(self.writer.take());
        }
    }

    /// Makes it true. Where the answer gets lost, the server is asked once more what became of it.
    ///
    /// # Errors
    /// It was not committed; or nobody knows, and then the next commit finds out: it waits for the same rows, and sees
    /// their sizes.
    pub(super) async fn commit(mut self, connections: &Connections) -> Result<(), Failed> {
        match self.try_commit().await {
            Ended::Committed => Ok(()),
            Ended::Not(failed) => {
                self.give_up().await;
                Err(failed)
            }
            Ended::Unknown(failed) => {
                let name = std::mem::take(&mut self.name);
                // Its session holds the lock that the next one needs.
                drop(self);
                match status(&connections.writer().await?, &name).await? {
                    Some(status) if status == "committed" => Ok(()),
                    _ => Err(failed),
                }
            }
        }
    }

    async fn try_commit(&mut self) -> Ended {
        let Ok(on) = self.on() else { return Ended::Unknown(lost()) };
        // The commit of a transaction that has failed is answered without an error, and the driver does not tell what was
        // answered. So the server is asked in the same breath.
        let (committed, status) =
            futures_util::join!(async { on.batch_execute("COMMIT").await }, status(on, &self.name));
        match (committed, status) {
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
        let ((), found) = try_join!(begin, read(on))?;
        // Nobody has to wait for the end.
        tokio::spawn(moment.end());
        Ok(found)
    }

    /// Gives the connection back.
    async fn end(mut self) {
        let Some(reader) = self.0.as_ref() else { return };
        if reader.batch_execute("COMMIT").await.is_ok() {
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
