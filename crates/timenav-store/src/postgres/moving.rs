use async_trait::async_trait;
use futures_util::pin_mut;
use timenav_engine::{Head, StoreError};
use tokio_postgres::Client;
use tokio_postgres::binary_copy::BinaryCopyInWriter;
use tokio_postgres::types::{ToSql, Type};

use super::values::{Failed, get};
use super::{PostgresOptions, PostgresStore, heads};
use crate::persistence::moves::{Page, Progress, Row, Source, Target, UnderWay};
use crate::postgres::connection::sessions::Object;
use crate::postgres::events::words;
use crate::tables::list::TABLES;
use crate::tables::{Column, Kind, RowValues, Table, Value, parameters};

/// Progress of a move. The service does not open a database that has this table.
const PROGRESS: &str = "CREATE TABLE timenav_moving (name text NOT NULL PRIMARY KEY, after text, rows bigint NOT NULL)";
const HAS_PROGRESS: &str = "SELECT to_regclass('timenav_moving') IS NOT NULL";
/// Name of the row with the source's state.
const STATE: &str = "";
const PUT_PROGRESS: &str = "INSERT INTO timenav_moving (name, after, rows) VALUES ($1, $2, $3)
    ON CONFLICT (name) DO UPDATE SET after = excluded.after, rows = excluded.rows";
const SELECT_PROGRESS: &str = "SELECT after, rows FROM timenav_moving WHERE name = $1";

/// Rejects a database that a move is in progress into.
pub(super) async fn check_no_move(on: &Client) -> Result<(), Failed> {
    if has_progress(on).await? {
        let message = "a move into this database was not finished: run the same `timenav migrate` again";
        return Err(StoreError::Unavailable(message.to_owned()).into());
    }
    Ok(())
}

async fn has_progress(on: &Client) -> Result<bool, Failed> {
    get(&on.query_one(HAS_PROGRESS, &[]).await?, 0)
}

/// A database from which everything is read. No service may use it during the move.
pub(crate) struct PostgresSource(PostgresStore);

impl PostgresSource {
    pub(crate) async fn open(options: &PostgresOptions) -> Result<Self, StoreError> {
        let store = PostgresStore::open(options).await?;
        Ok(Self(store))
    }
}

#[async_trait]
impl Source for PostgresSource {
    async fn heads(&self) -> Result<Vec<Head>, StoreError> {
        // On the writing connection, to verify that the lock is still held.
        Ok(heads::select(&self.0.connections.writer().await?, heads::Which::All).await?)
    }

    async fn page(&self, table: &'static Table, after: Option<Vec<Value<'static>>>) -> Result<Page, StoreError> {
        Ok(page(&self.0.reader().await?, table, after.as_deref()).await?)
    }
}

async fn page(on: &Object, table: &Table, after: Option<&[Value<'static>]>) -> Result<Page, Failed> {
    let columns = table.columns.iter().map(|column| column.in_postgres.unwrap_or(column.name));
    let columns: Vec<&str> = columns.chain(table.postgres_key.iter().copied()).collect();
    let key = table.postgres_key.join(", ");
    let places = parameters('$', table.postgres_key.len());
    let behind = after.map_or_else(String::new, |_| format!("WHERE ({key}) > ({places})"));
    let select =
        format!("SELECT {} FROM {} {behind} ORDER BY {key} LIMIT {}", columns.join(", "), table.name, table.rows_max);
    let statement = on.prepare_cached(&select).await?;
    let after: Vec<&(dyn ToSql + Sync)> = after.unwrap_or_default().iter().map(|value| value as _).collect();
    let mut page = Page { rows: Vec::new(), last: None };
    for row in on.query(&statement, &after).await? {
        let count = table.columns.len();
        let value = |at| row.value(at).map(Value::into_owned);
        page.rows.push((0..count).map(value).collect::<Result<_, _>>()?);
        page.last = Some((count..columns.len()).map(value).collect::<Result<_, _>>()?);
    }
    Ok(page)
}

/// A database that was empty before the move.
pub(crate) struct PostgresTarget(PostgresStore);

impl PostgresTarget {
    pub(crate) async fn open(options: &PostgresOptions) -> Result<Self, StoreError> {
        Ok(Self(PostgresStore::open_to_move(options).await?))
    }

    pub(crate) const fn store(&self) -> &PostgresStore {
        &self.0
    }

    pub(crate) async fn end(&self) -> Result<(), StoreError> {
        let on = self.0.connections.writer().await?;
        on.batch_execute("DROP TABLE IF EXISTS timenav_moving").await.map_err(Failed::from)?;
        Ok(())
    }

    async fn try_derive(&self) -> Result<(), Failed> {
        let mut on = self.0.connections.writer().await?;
        let transaction = on.transaction().await?;
        words::fill(&transaction).await?;
        Ok(transaction.commit().await?)
    }

    async fn try_put(&self, table: &Table, rows: &[Row], progress: &Progress) -> Result<(), Failed> {
        let mut on = self.0.connections.writer().await?;
        let columns: Vec<&str> = table.columns.iter().map(|column| column.name).collect();
        let types: Vec<Type> = table.columns.iter().map(type_of).collect();
        let transaction = on.transaction().await?;
        let copy = format!("COPY {} ({}) FROM STDIN BINARY", table.name, columns.join(", "));
        let writer = BinaryCopyInWriter::new(transaction.copy_in(&copy).await?, &types);
        pin_mut!(writer);
        for row in rows {
            let values: Vec<&(dyn ToSql + Sync)> = row.iter().map(|value| value as _).collect();
            writer.as_mut().write(&values).await?;
        }
        writer.finish().await?;
        let rows = super::values::sql(progress.rows);
        transaction.execute(PUT_PROGRESS, &[&table.name, &progress.after_to_keep()?, &rows]).await?;
        Ok(transaction.commit().await?)
    }
}

async fn is_empty(on: &Object) -> Result<bool, Failed> {
    for table in TABLES {
        let select = format!("SELECT EXISTS (SELECT 1 FROM {})", table.name);
        if get(&on.query_one(&select, &[]).await?, 0)? {
            return Ok(false);
        }
    }
    Ok(true)
}

#[async_trait]
impl Target for PostgresTarget {
    async fn under_way(&self) -> Result<Option<UnderWay>, StoreError> {
        let on = self.0.connections.writer().await?;
        if has_progress(&on).await? {
            let row = on.query_one(SELECT_PROGRESS, &[&STATE]).await.map_err(Failed::from)?;
            return Ok(Some(UnderWay::Copying(get(&row, 0)?)));
        }
        Ok((!is_empty(&on).await?).then_some(UnderWay::Copied))
    }

    async fn heads(&self) -> Result<Vec<Head>, StoreError> {
        Ok(heads::select(&self.0.connections.writer().await?, heads::Which::All).await?)
    }

    async fn begin(&self, state: &str) -> Result<(), StoreError> {
        let mut on = self.0.connections.writer().await?;
        let begun = async {
            let transaction = on.transaction().await?;
            transaction.batch_execute(PROGRESS).await?;
            transaction.execute(PUT_PROGRESS, &[&STATE, &state, &0_i64]).await?;
            Ok::<_, Failed>(transaction.commit().await?)
        };
        Ok(begun.await?)
    }

    async fn progress(&self, table: &'static Table) -> Result<Progress, StoreError> {
        let on = self.0.connections.writer().await?;
        let row = on.query_opt(SELECT_PROGRESS, &[&table.name]).await.map_err(Failed::from)?;
        let Some(row) = row else { return Ok(Progress::default()) };
        Progress::from_row(get(&row, 0)?, get(&row, 1)?)
    }

    async fn put(&self, table: &'static Table, rows: Vec<Row>, progress: &Progress) -> Result<(), StoreError> {
        Ok(self.try_put(table, &rows, progress).await?)
    }

    async fn derive(&self) -> Result<(), StoreError> {
        Ok(self.try_derive().await?)
    }
}

fn type_of(column: &Column) -> Type {
    match column.kind {
        Kind::Bool => Type::BOOL,
        Kind::Smallint => Type::INT2,
        Kind::Integer => Type::INT4,
        Kind::Bigint => Type::INT8,
        Kind::Double => Type::FLOAT8,
        Kind::Word => Type::TEXT,
        Kind::Text | Kind::Bytes => Type::BYTEA,
    }
}
