#[cfg(test)]
mod tests;

use std::io::{BufRead, BufReader, Read};

use timenav_core::event::EventDraft;

use crate::assembly;
use crate::limits::{BUFFER_BYTES, RECORD_BYTES_MAX};
use crate::{EventRecord, ImportError, Item, RecordError, RecordNote, Sink};

pub(crate) type Draft<'d> = &'d dyn Fn(&[u8]) -> Result<(EventDraft, Vec<RecordNote>), RecordError>;

/// Reads each line as an event in this service's own format.
pub(crate) fn read(input: &mut dyn Read, sink: Sink<'_>) -> Result<(), ImportError> {
    read_by(input, sink, &|line| Ok((draft(line)?, Vec::new())))
}

/// Reads each line. Overlong lines are skipped without being buffered.
pub(crate) fn read_by(input: &mut dyn Read, sink: Sink<'_>, draft: Draft<'_>) -> Result<(), ImportError> {
    let mut input = BufReader::with_capacity(BUFFER_BYTES, input);
    let mut line_number = 0;
    let mut line = Vec::new();
    loop {
        line_number += 1;
        let at = |source| ImportError::Io { line: line_number, source };
        line.clear();
        // The longest line and its `\r\n`.
        let bytes_max = u64::try_from(RECORD_BYTES_MAX + 2).unwrap_or(u64::MAX);
        let bytes = input.by_ref().take(bytes_max).read_until(b'\n', &mut line).map_err(at)?;
        if bytes == 0 {
            return Ok(());
        }
        let is_whole = line.ends_with(b"\n");
        let record = without_end(&line);
        let event = if record.len() > RECORD_BYTES_MAX {
            if !is_whole {
                input.skip_until(b'\n').map_err(at)?;
            }
            let detail = format!("a line can have at most {RECORD_BYTES_MAX} bytes");
            Err(RecordError::whole(RecordError::TOO_LARGE, detail))
        } else if record.trim_ascii().is_empty() {
            continue;
        } else {
            draft(record)
        };
        if sink(Item::noted(line_number, event)).is_break() {
            return Ok(());
        }
    }
}

fn draft(record: &[u8]) -> Result<EventDraft, RecordError> {
    assembly::finish(EventRecord::from_json(record)?.into_draft()?)
}

fn without_end(line: &[u8]) -> &[u8] {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    line.strip_suffix(b"\r").unwrap_or(line)
}
