use std::time::Duration;

use futures_util::FutureExt as _;
use futures_util::future::try_join_all;
use timenav_engine::{StoreError, TimelineKey};
use tokio_postgres::types::ToSql;
use tokio_postgres::{Row, Statement};

use crate::postgres::connection::sessions::Object;
use crate::postgres::values::Failed;
use crate::tables::{self, Fields, Record};

/// How long the server may take to respond: longer than its own statement timeout. A frozen server process enforces no
/// timeout, while its host still acknowledges data.
pub(in crate::postgres) const ANSWER_WAIT: Duration = Duration::from_secs(40);
/// The same for a batch.
pub(in crate::postgres) const ANSWERS_WAIT: Duration = Duration::from_mins(1);

/// Statements sent before waiting for the first response.
const TOGETHER_MAX: usize = 24;

pub(in crate::postgres) type Value<'a> = Box<dyn ToSql + Sync + Send + 'a>;

pub(in crate::postgres) async fn rows(
    on: &Object,
    statement: &str,
    values: &[&(dyn ToSql + Sync)],
) -> Result<Vec<Row>, Failed> {
    let reply = async {
        let prepared = on.prepare_cached(statement).await?;
        Ok(on.query(&prepared, values).await?)
    };
    answered(on, ANSWER_WAIT, reply.boxed()).await
}

/// Returns the records that a statement selects. `*` stands for their columns.
pub(in crate::postgres) async fn records<R: Record>(
    on: &Object,
    select: &str,
    values: &[&(dyn ToSql + Sync)],
) -> Result<Vec<R>, Failed> {
    let found = rows(on, &R::TABLE.select(select), values).await?;
    found.iter().map(|row| Ok(R::read(&mut Fields::of(row))?)).collect()
}

/// Returns an array parameter for each column of these records. `None` stands for rows that belong to no timeline.
pub(in crate::postgres) fn arrays<'a, R: Record + 'a>(
    records: impl IntoIterator<Item = (Option<TimelineKey>, &'a R)>,
) -> Vec<Value<'a>> {
    let mut arrays: Vec<Vec<tables::Value<'a>>> = R::TABLE.columns.iter().map(|_| Vec::new()).collect();
    for (timeline, record) in records {
        let timeline = timeline.map(|timeline| tables::Value::Whole(timeline.0));
        for (array, value) in arrays.iter_mut().zip(timeline.into_iter().chain(record.values())) {
            array.push(value);
        }
    }
    arrays.into_iter().map(|array| Box::new(array) as Value<'a>).collect()
}

/// Waits up to `wait` for a response. After a timeout, the connection is not used again.
pub(in crate::postgres) async fn answered<T>(
    on: &Object,
    wait: Duration,
    reply: impl Future<Output = Result<T, Failed>>,
) -> Result<T, Failed> {
    tokio::time::timeout(wait, reply).await.unwrap_or_else(|_| {
        on.give_up();
        let seconds = wait.as_secs();
        Err(StoreError::Unavailable(format!("PostgreSQL: the server has not responded for {seconds} seconds")).into())
    })
}

#[derive(Default)]
pub(in crate::postgres) struct Batch<'a>(Vec<(&'static str, Vec<Value<'a>>)>);

/// Builds the parameter list of a statement.
macro_rules! values {
    ($($value:expr),* $(,)?) => {
        vec![$(Box::new($value) as Box<dyn tokio_postgres::types::ToSql + Sync + Send + '_>),*]
    };
}
pub(in crate::postgres) use values;

impl<'a> Batch<'a> {
    pub(in crate::postgres) fn add(&mut self, statement: &'static str, values: Vec<Value<'a>>) {
        self.0.push((statement, values));
    }

    /// Inserts a row of a timeline, or a row that belongs to none.
    pub(in crate::postgres) fn insert<R: Record>(&mut self, timeline: Option<TimelineKey>, record: &R) {
        let timeline = timeline.map(|timeline| tables::Value::Whole(timeline.0));
        let values = timeline.into_iter().chain(record.values()).map(tables::Value::into_owned);
        self.add(R::TABLE.insert_row(), values.map(|value| Box::new(value) as Value<'a>).collect());
    }

    /// Inserts rows of timelines in one statement.
    pub(in crate::postgres) fn insert_all<R: Record + 'a>(
        &mut self,
        records: impl IntoIterator<Item = (TimelineKey, &'a R)>,
    ) {
        let mut records = records.into_iter().map(|(timeline, record)| (Some(timeline), record)).peekable();
        if records.peek().is_some() {
            self.add(R::TABLE.insert_rows(), arrays(records));
        }
    }

    pub(in crate::postgres) fn len(&self) -> usize {
        self.0.len()
    }

    /// Prepares the statements, so that [`Batch::run`] sends all of them at once, before anything sent afterwards.
    pub(in crate::postgres) async fn prepare(&self, on: &Object) -> Result<(), Failed> {
        let preparing = async {
            for (statement, _) in &self.0 {
                on.prepare_cached(statement).await?;
            }
            Ok(())
        };
        answered(on, ANSWERS_WAIT, preparing.boxed()).await
    }

    pub(in crate::postgres) async fn run(self, on: &Object) -> Result<Vec<Vec<Row>>, Failed> {
        answered(on, ANSWERS_WAIT, self.run_all(on).boxed()).await
    }

    async fn run_all(self, on: &Object) -> Result<Vec<Vec<Row>>, Failed> {
        let mut all = Vec::with_capacity(self.0.len());
        for some in self.0.chunks(TOGETHER_MAX) {
            // A statement that still has to be prepared would run after the prepared ones.
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
