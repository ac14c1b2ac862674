//! Tables: one event per row, with a header (RFC 4180 and common variants of CSV).

mod columns;
mod lines;
mod rows;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod table_tests;

use std::io::Read;

use csv::StringRecord;

use crate::mapping::{Mapping, TableColumns};
use crate::{ImportError, Item, RecordError, Sink};
use columns::Columns;
use rows::Rows;

pub(crate) fn read(mapping: &Mapping, input: &mut dyn Read, sink: Sink<'_>) -> Result<(), ImportError> {
    let mut rows = Rows::new(mapping, input)?;
    let table = mapping.table();
    let comment = table.comment.as_deref();
    let header = match &table.columns {
        Some(TableColumns::Named(names)) => StringRecord::from(names.clone()),
        Some(TableColumns::Fixed(columns)) => columns.iter().map(|column| column.name.as_str()).collect(),
        Some(TableColumns::Pattern(pattern)) => pattern.names().collect(),
        None => header(&mut rows, comment)?,
    };
    let columns = Columns::new(mapping, &header)?;
    let mut row = StringRecord::new();
    let mut skip_rows = table.skip_rows;
    while let Some(whole) = rows.next(&mut row)? {
        if whole.is_ok() && is_comment(&row, comment) {
            continue;
        }
        if skip_rows > 0 {
            skip_rows -= 1;
            continue;
        }
        let event = whole
            .and_then(|()| fitted(&mut row, header.len(), table.fills_short_rows))
            .and_then(|()| columns.draft(&row));
        if sink(Item::noted(rows.line(), event)).is_break() {
            break;
        }
    }
    Ok(())
}

fn header(rows: &mut Rows<'_>, comment: Option<&str>) -> Result<StringRecord, ImportError> {
    let mut row = StringRecord::new();
    loop {
        match rows.next(&mut row)? {
            None => return Err(ImportError::HeaderMissing),
            Some(Ok(())) if is_comment(&row, comment) => {}
            Some(Ok(())) => return Ok(row),
            Some(Err(error)) => {
                return Err(ImportError::HeaderUnreadable { line: rows.line(), detail: error.detail });
            }
        }
    }
}

fn is_comment(row: &StringRecord, comment: Option<&str>) -> bool {
    comment.is_some_and(|start| row.get(0).is_some_and(|cell| cell.trim_start().starts_with(start)))
}

/// Checks that a row has as many fields as there are columns. Additional empty fields are ignored; missing ones are
/// filled if the mapping allows it.
fn fitted(row: &mut StringRecord, columns: usize, fills: bool) -> Result<(), RecordError> {
    let has_more = || row.iter().skip(columns).any(|cell| !cell.trim().is_empty());
    if row.len() == columns || (row.len() > columns && !has_more()) {
        return Ok(());
    }
    if row.len() < columns && fills {
        (row.len()..columns).for_each(|_| row.push_field(""));
        return Ok(());
    }
    let mut detail = format!("the row has {} fields, but the first row has {columns}", row.len());
    if row.len() < columns {
        detail.push_str("; if rows of this file omit empty cells at their end, set `short_rows=fill` in the mapping");
    }
    Err(RecordError::whole(RecordError::MALFORMED_CSV, detail))
}
