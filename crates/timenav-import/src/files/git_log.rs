//! Git history: one event per commit.
//!
//! The input is the output of `git log -z` in the format [`GIT_LOG_FORMAT`]: one line for each field of a commit, and a
//! zero byte between commits. Fields contain neither.

#[cfg(test)]
mod tests;

use std::io::{BufRead, BufReader, Read};

use serde_json::{Map, Value};
use timenav_core::event::{Cause, CauseKind, EventDraft};
use timenav_core::ids::EventId;
use timenav_core::limits::ID_BYTES_MAX;

use crate::json::json_object::{self, Members};
use crate::limits::{BUFFER_BYTES, RECORD_BYTES_MAX};
use crate::time::unix_time::{UnixUnit, parse_unix};
use crate::{ImportError, Item, RecordError, Sink, assembly};

/// The format for `git log -z --format=`.
pub const GIT_LOG_FORMAT: &str = "%H%n%P%n%ct%n%at%n%an%n%ae%n%cn%n%ce%n%s";

const FIELDS: usize = 9;

pub(crate) fn read(input: &mut dyn Read, sink: Sink<'_>) -> Result<(), ImportError> {
    let mut input = BufReader::with_capacity(BUFFER_BYTES, input);
    let mut number = 0;
    let mut record = Vec::new();
    loop {
        number += 1;
        let at = |source| ImportError::Io { line: number, source };
        record.clear();
        // Fits the longest commit and the zero byte after it.
        let bytes_max = u64::try_from(RECORD_BYTES_MAX + 1).unwrap_or(u64::MAX);
        let bytes = input.by_ref().take(bytes_max).read_until(0, &mut record).map_err(at)?;
        if bytes == 0 {
            return Ok(());
        }
        let is_whole = record.last() == Some(&0);
        if is_whole {
            record.pop();
        }
        let event = if record.len() > RECORD_BYTES_MAX {
            if !is_whole {
                input.skip_until(0).map_err(at)?;
            }
            let detail = format!("a commit can have at most {RECORD_BYTES_MAX} bytes");
            Err(RecordError::whole(RecordError::TOO_LARGE, detail))
        } else {
            draft(&record).and_then(assembly::finish)
        };
        if sink(Item::new(number, event)).is_break() {
            return Ok(());
        }
    }
}

fn draft(record: &[u8]) -> Result<EventDraft, RecordError> {
    // Old commits may have unknown encodings. Invalid bytes become U+FFFD, and `is_lossy` is set.
    let text = String::from_utf8_lossy(record);
    let fields: Vec<&str> = text.splitn(FIELDS, '\n').collect();
    let [hash, parents, committed_at, written_at, author, author_mail, committer, committer_mail, subject] = fields[..]
    else {
        let detail = format!("a commit must be {FIELDS} lines, as written by `git log -z --format={GIT_LOG_FORMAT}`");
        return Err(RecordError::whole(RecordError::INVALID, detail));
    };
    let seconds = |field: &str, text: &str| {
        let instant = parse_unix(text, UnixUnit::Seconds);
        instant.ok_or_else(|| {
            RecordError::invalid(field, "this must be a number of seconds since 1970, in the years -9999 to 9999")
        })
    };
    let cause = |(index, parent): (usize, &str)| -> Result<Cause, RecordError> {
        let event_id = hash_id(&format!("causes/{index}"), parent)?;
        Ok(Cause { event_id, kind: CauseKind::Requires })
    };
    let mut draft = EventDraft::at(seconds("time", committed_at)?, "");
    draft.event_id = Some(hash_id("event_id", hash)?);
    draft.causes = parents.split_whitespace().enumerate().map(cause).collect::<Result<_, _>>()?;
    draft.actors = actors(author, committer);
    let mut attributes = Map::new();
    attributes.insert("author".to_owned(), person(author, author_mail));
    attributes.insert("author_time".to_owned(), seconds("author_time", written_at)?.to_string().into());
    attributes.insert("committer".to_owned(), person(committer, committer_mail));
    if text.contains(char::REPLACEMENT_CHARACTER) && str::from_utf8(record).is_err() {
        attributes.insert("is_lossy".to_owned(), Value::Bool(true));
    }
    json_object::entitle(&mut draft, subject.trim_end_matches('\n').to_owned());
    draft.attributes = Members::of(attributes).into_attributes()?;
    Ok(draft)
}

/// Returns the id for a commit hash, which is SHA-1 or SHA-256.
fn hash_id(field: &str, text: &str) -> Result<EventId, RecordError> {
    let is_hash = matches!(text.len(), 40 | 64) && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    let event_id = is_hash.then(|| EventId::new(text).ok()).flatten();
    event_id.ok_or_else(|| RecordError::invalid(field, "the hash of a commit must have 40 or 64 hexadecimal digits"))
}

/// Returns author and committer. A name that is too long for an actor stays an attribute.
fn actors(author: &str, committer: &str) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for name in [author, committer].map(str::trim) {
        if (1..=ID_BYTES_MAX).contains(&name.len()) && !names.iter().any(|known| known == name) {
            names.push(name.to_owned());
        }
    }
    names
}

fn person(name: &str, mail: &str) -> Value {
    Value::from(if mail.is_empty() { name.to_owned() } else { format!("{name} <{mail}>") })
}
