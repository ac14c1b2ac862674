//! CSV: one event a row, under a header (RFC 4180).

mod columns;
mod lines;
#[cfg(test)]
mod tests;

use std::io::Read;

use csv::{ErrorKind, Reader, ReaderBuilder, StringRecord};

use crate::limits::BUFFER_BYTES;
use crate::mapping::Mapping;
use crate::{ImportError, Item, RecordError, Sink};
use columns::Columns;
use lines::Lines;

/// Reads every row under the first.
pub(crate) fn read(mapping: &Mapping, input: &mut dyn Read, sink: Sink<'_>) -> Result<(), ImportError> {
    let mut reader = ReaderBuilder::new()
        .has_headers(false)
        .flexible(false)
        .buffer_capacity(BUFFER_BYTES)
        .from_reader(Lines::new(input));
    let mut row = StringRecord::new();
    let columns = match next(&mut reader, &mut row)? {
        None => return Err(ImportError::HeaderMissing),
        Some(Ok(())) => Columns::new(mapping, &row)?,
        Some(Err(error)) => {
            let line = reader.get_ref().record_line();
            return Err(ImportError::HeaderUnreadable { line, detail: error.detail });
        }
    };
    while let Some(whole) = next(&mut reader, &mut row)? {
        let event = whole.and_then(|()| columns.draft(&row));
        let line = reader.get_ref().record_line();
        if sink(Item::new(line, event)).is_break() {
            break;
        }
    }
    Ok(())
}

/// Reads the next row, and returns whether it is one.
fn next(
    reader: &mut Reader<Lines<&mut dyn Read>>,
    row: &mut StringRecord,
) -> Result<Option<Result<(), RecordError>>, ImportError> {
    reader.get_mut().begin_record();
    let outcome = reader.read_record(row);
    let lines = reader.get_ref();
    let malformed = |detail: String| Ok(Some(Err(RecordError::whole(RecordError::MALFORMED_CSV, detail))));
    if lines.is_record_too_large() {
        return Err(ImportError::RowTooLarge { line: lines.record_line() });
    }
    match outcome.map_err(csv::Error::into_kind) {
        Ok(false) => Ok(None),
        Ok(true) | Err(ErrorKind::Utf8 { .. } | ErrorKind::UnequalLengths { .. }) if lines.is_record_open() => {
            malformed("a quotation mark is not closed to the end of the file".to_owned())
        }
        Ok(true) => Ok(Some(Ok(()))),
        Err(ErrorKind::UnequalLengths { expected_len, len, .. }) => {
            malformed(format!("the row has {len} fields, but the first row has {expected_len}"))
        }
        Err(ErrorKind::Utf8 { err, .. }) => {
            let field = err.field() + 1;
            malformed(format!("field {field} is not UTF-8; save the file in that encoding"))
        }
        Err(ErrorKind::Io(source)) => Err(ImportError::Io { line: lines.line(), source }),
        // Seeking and serde have no part in this.
        Err(other) => malformed(format!("{other:?}")),
    }
}
