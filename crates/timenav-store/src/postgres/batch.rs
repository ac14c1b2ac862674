//! Statements, one by one or several that go to the server together.

use std::time::Duration;

use futures_util::FutureExt as _;
use futures_util::future::try_join_all;
use timenav_engine::StoreError;
use tokio_postgres::types::ToSql;
use tokio_postgres::{Row, Statement};

use super::sessions::Object;
use super::values::Failed;

/// How long the server may take to answer: longer than its own limit for a statement. One that stands still keeps no limit,
/// and its host acknowledges what is sent to it.
pub(super) const ANSWER_WAIT: Duration = Duration::from_secs(40);
/// The same for statements that are sent together.
pub(super) const ANSWERS_WAIT: Duration = Duration::from_mins(1);

/// Statements that are sent before the answer to the first one is waited for.
const TOGETHER_MAX: usize = 24;

type Value<'a> = Box<dyn ToSql + Sync + Send + 'a>;

/// Runs a statement that is prepared once for each connection.
pub(super) async fn rows(
    on: &Object,
    statement: &'static str,
    values: &[&(dyn ToSql + Sync)],
) -> Result<Vec<Row>, Failed> {
    let asked = async {
        let prepared = on.prepare_cached(statement).await?;
        Ok(on.query(&prepared, values).await?)
    };
    answered(on, ANSWER_WAIT, asked.boxed()).await
}

/// Waits for what the server answers on a connection, for so long. After that nobody waits on that connection again.
///
/// # Errors
/// It does not answer; or what it answers is an error.
pub(super) async fn answered<T>(
    on: &Object,
    wait: Duration,
    asked: impl Future<Output = Result<T, Failed>>,
) -> Result<T, Failed> {
    tokio::time::timeout(wait, asked).await.unwrap_or_else(|_| {
        on.give_up();
        let seconds = wait.as_secs();
        Err(StoreError::Unavailable(format!("PostgreSQL: the server has not answered for {seconds} seconds")).into())
    })
}

/// Statements in the order in which they are to run.
#[derive(Default)]
pub(super) struct Batch<'a>(Vec<(&'static str, Vec<Value<'a>>)>);

/// Makes the list of a statement's values.
macro_rules! values {
    ($($value:expr),* $(,)?) => {
        vec![$(Box::new($value) as Box<dyn tokio_postgres::types::ToSql + Sync + Send + '_>),*]
    };
}
pub(super) use values;

impl<'a> Batch<'a> {
    pub(super) fn add(&mut self, statement: &'static str, values: Vec<Value<'a>>) {
        self.0.push((statement, values));
    }

    /// Returns how many there are.
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// Prepares them, so that [`Batch::run`] sends all of them at once: also before what is sent after it began.
    pub(super) async fn prepare(&self, on: &Object) -> Result<(), Failed> {
        let preparing = async {
            for (statement, _) in &self.0 {
                on.prepare_cached(statement).await?;
            }
            Ok(())
        };
        answered(on, ANSWERS_WAIT, preparing.boxed()).await
    }

    /// Runs them one after the other, and returns the rows of each.
    pub(super) async fn run(self, on: &Object) -> Result<Vec<Vec<Row>>, Failed> {
        answered(on, ANSWERS_WAIT, self.run_all(on).boxed()).await
    }

    async fn run_all(self, on: &Object) -> Result<Vec<Vec<Row>>, Failed> {
        let mut all = Vec::with_capacity(self.0.len());
        for some in self.0.chunks(TOGETHER_MAX) {
            // A statement that is still to be prepared would come after those that are.
            let mut prepared = Vec::with_capacity(some.len());
            for (statement, _) in some {
                prepared.push(on.prepare_cached(statement).boxed());
            }
            let prepared = try_join_all(prepared).await?;
            let mut running = Vec::with_capacity(some.len());
            for ((_, values), prepared) in some.iter().zip(prepared) {
                running.push(query(on, prepared, values).boxed());
            }
            all.extend(try_join_all(running).await?);
        }
        Ok(all)
    }
}

async fn query(on: &Object, prepared: Statement, values: &[Value<'_>]) -> Result<Vec<Row>, Failed> {
    let values: Vec<&(dyn ToSql + Sync)> = values.iter().map(|value| &**value as _).collect();
    Ok(on.query(&prepared, &values).await?)
}
