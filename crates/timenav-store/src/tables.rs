//! The tables of both backends. Each column is named here once: the statements that insert rows, the column lists of
//! those that read them, and the move between the backends follow from it.

use std::sync::OnceLock;

use timenav_engine::LengthClass;

mod directory;
pub(crate) mod heads;
pub(crate) mod list;
mod records;
pub(crate) mod timers;
mod value;

pub(crate) use records::{PolicyRow, Record};
pub(crate) use value::{Field, Fields, RowValues, Value};

/// Type of a column in PostgreSQL. SQLite stores integers of every size the same way, and texts as text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Bool,
    Smallint,
    Integer,
    Bigint,
    Double,
    /// An id or another keyword: `text` in both.
    Word,
    /// Free text: `text` in SQLite, its UTF-8 bytes in PostgreSQL.
    Text,
    Bytes,
}

impl Kind {
    /// Returns the name of the type in PostgreSQL.
    pub(crate) const fn in_postgres(self) -> &'static str {
        match self {
            Self::Bool => "boolean",
            Self::Smallint => "smallint",
            Self::Integer => "integer",
            Self::Bigint => "bigint",
            Self::Double => "double precision",
            Self::Word => "text",
            Self::Text | Self::Bytes => "bytea",
        }
    }
}

pub(crate) struct Column {
    pub(crate) name: &'static str,
    pub(crate) kind: Kind,
    /// The expression selected from SQLite if it has no such column, or stores another value in it.
    pub(crate) in_sqlite: Option<&'static str>,
    /// The expression selected from PostgreSQL if a database of an earlier feature level has no such column.
    pub(crate) in_postgres: Option<&'static str>,
}

pub(crate) struct Table {
    pub(crate) name: &'static str,
    pub(crate) columns: &'static [Column],
    /// The `FROM` clause for SQLite.
    pub(crate) sqlite_from: &'static str,
    /// The columns of an index that rows are read along, in each database.
    pub(crate) sqlite_key: &'static [&'static str],
    pub(crate) postgres_key: &'static [&'static str],
    /// Rows that a move reads at a time, depending on how large a row can be.
    pub(crate) rows_max: usize,
    /// Columns that an insert overwrites if the key exists. If there are none, the key must not exist.
    overwritten: &'static [&'static str],
    statements: OnceLock<Statements>,
}

/// Statements that insert rows.
struct Statements {
    /// The columns that a [`Record`] has.
    columns: String,
    /// One row into SQLite.
    sqlite: String,
    /// One row into PostgreSQL.
    row: String,
    /// Rows into PostgreSQL, from one array per column.
    rows: String,
}

/// Page size for tables with short rows.
const ROWS_MAX: usize = 1_000;
/// Page size for tables whose rows have a few kilobytes, and occasionally more.
const LONG_ROWS_MAX: usize = 250;
/// Page size for sealed records, which can have a megabyte each.
const SEALED_ROWS_MAX: usize = 16;

impl Table {
    const fn new(name: &'static str, key: &'static [&'static str], columns: &'static [Column]) -> Self {
        let statements = OnceLock::new();
        let (rows_max, overwritten) = (ROWS_MAX, [].as_slice());
        Self { name, columns, sqlite_from: name, sqlite_key: key, postgres_key: key, rows_max, overwritten, statements }
    }

    const fn in_pages_of(mut self, rows_max: usize) -> Self {
        self.rows_max = rows_max;
        self
    }

    const fn in_sqlite(mut self, from: &'static str, key: &'static [&'static str]) -> Self {
        (self.sqlite_from, self.sqlite_key) = (from, key);
        self
    }

    const fn overwriting(mut self, columns: &'static [&'static str]) -> Self {
        self.overwritten = columns;
        self
    }

    /// Returns the columns that are stored in SQLite, with their numbers. A column with an expression is not stored,
    /// except for the cell.
    pub(crate) fn sqlite_columns(&self) -> impl Iterator<Item = (usize, &Column)> {
        let columns = self.columns.iter().enumerate();
        columns.filter(|(_, column)| column.in_sqlite.is_none() || column.name == "cell")
    }

    /// Returns a `SELECT` of records, in which `*` stands for their columns.
    pub(crate) fn select(&'static self, statement: &str) -> String {
        let columns = &self.statements().columns;
        match statement.split_once('*') {
            None => statement.to_owned(),
            Some((before, after)) if before.ends_with('.') => {
                let (before, alias) = before.rsplit_once(' ').unwrap_or(("", before));
                let columns = columns.replace(", ", &format!(", {alias}"));
                format!("{before} {alias}{columns}{after}")
            }
            Some((before, after)) => [before, columns, after].concat(),
        }
    }

    /// Returns the statement that inserts one row into SQLite.
    pub(crate) fn sqlite_insert(&'static self) -> &'static str {
        &self.statements().sqlite
    }

    /// Returns the statement that inserts one row into PostgreSQL.
    pub(crate) fn insert_row(&'static self) -> &'static str {
        &self.statements().row
    }

    /// Returns the statement that inserts rows into PostgreSQL, given an array for each column.
    pub(crate) fn insert_rows(&'static self) -> &'static str {
        &self.statements().rows
    }

    fn statements(&'static self) -> &'static Statements {
        self.statements.get_or_init(|| {
            let all: Vec<&str> = self.columns.iter().map(|column| column.name).collect();
            let in_both: Vec<&str> = self.sqlite_columns().map(|(_, column)| column.name).collect();
            let insert = |columns: &[&str], rows: String| {
                format!("INSERT INTO {} ({}) {rows}{}", self.name, columns.join(", "), self.on_conflict())
            };
            Statements {
                columns: in_both[usize::from(self.is_of_timeline())..].join(", "),
                sqlite: insert(&in_both, format!("VALUES ({})", parameters('?', in_both.len()))),
                row: insert(&all, format!("VALUES ({})", parameters('$', all.len()))),
                rows: insert(&all, format!("SELECT * FROM unnest({})", self.arrays())),
            }
        })
    }

    /// Returns whether the first column is the timeline that a row belongs to. Records do not have it.
    fn is_of_timeline(&self) -> bool {
        self.postgres_key.len() > 1 && self.postgres_key[0] == "timeline"
    }

    fn on_conflict(&self) -> String {
        if self.overwritten.is_empty() {
            return String::new();
        }
        let set: Vec<_> = self.overwritten.iter().map(|name| format!("{name} = excluded.{name}")).collect();
        format!(" ON CONFLICT ({}) DO UPDATE SET {}", self.postgres_key.join(", "), set.join(", "))
    }

    /// Returns one array parameter of PostgreSQL for each column.
    fn arrays(&self) -> String {
        let numbered = self.columns.iter().zip(1..);
        let arrays = numbered.map(|(column, number)| format!("${number}::{}[]", column.kind.in_postgres()));
        arrays.collect::<Vec<_>>().join(", ")
    }
}

/// Returns the statements that are generated from the tables. The test of query plans checks them.
#[doc(hidden)]
#[must_use]
pub fn generated_statements(is_postgres: bool) -> Vec<String> {
    // Entries are packed differently in each backend.
    let tables = list::TABLES.iter().filter(|table| table.name != "entries");
    if is_postgres {
        let inserts = tables.flat_map(|table| [table.insert_row(), table.insert_rows()]);
        inserts.chain([heads::POSTGRES_INSERT.as_str(), heads::POSTGRES_UPDATE.as_str()]).map(str::to_owned).collect()
    } else {
        let inserts = tables.map(|table| table.sqlite_insert());
        inserts.chain([heads::SQLITE_INSERT.as_str(), heads::SQLITE_UPDATE.as_str()]).map(str::to_owned).collect()
    }
}

/// Returns a list of numbered parameters.
pub(crate) fn parameters(sign: char, count: usize) -> String {
    (1..=count).map(|number| format!("{sign}{number}")).collect::<Vec<_>>().join(", ")
}

const LENGTH_CLASS: &str = "length_class";

/// Fills the column with the length class of events. It is derived from the event and ignores the source's value.
pub(crate) fn fill_lengths(table: &Table, rows: &mut [Vec<Value>]) {
    let place = |name: &str| table.columns.iter().position(|column| column.name == name);
    let (Some(content), Some(class)) = (place("content"), place(LENGTH_CLASS)) else { return };
    for row in rows {
        let json = if let Value::Bytes(bytes) = &row[content] { str::from_utf8(bytes).ok() } else { None };
        let found = json.and_then(LengthClass::of_content);
        row[class] = found.map_or(Value::Null, |class| Value::Whole(class.number().into()));
    }
}
