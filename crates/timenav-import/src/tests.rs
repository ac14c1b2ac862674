//! Helpers of the format tests: a file in, lines of text out.

use std::ops::ControlFlow;

use crate::content_id::{canonical, content_id};
use crate::{Format, ImportError, Item, Mapping, read};

pub(crate) fn items(format: Format, map: &str, file: &[u8]) -> (Vec<Item>, Result<(), ImportError>) {
    let mapping = Mapping::parse(map).unwrap();
    let mut items = Vec::new();
    let outcome = read(format, &mapping, file, &mut |item| {
        items.push(item);
        ControlFlow::Continue(())
    });
    (items, outcome)
}

/// Formats an item as `line id content` or `line code field`.
pub(crate) fn item_text(item: &Item) -> String {
    let line = item.line;
    match &item.event {
        Ok(draft) => {
            let content = String::from_utf8(canonical(draft)).unwrap();
            let id = draft.event_id.as_ref().unwrap();
            let id = if *id == content_id(draft) { "-" } else { id.as_str() };
            format!("{line} {id} {content}")
        }
        Err(error) => format!("{line} {} {}", error.code, error.field.as_deref().unwrap_or("-")),
    }
}

/// Checks all items of a file. A content-derived id is shown as `-`.
#[track_caller]
pub(crate) fn check(format: Format, map: &str, file: &str, expected: &[&str]) {
    let (items, outcome) = items(format, map, file.as_bytes());
    outcome.unwrap();
    assert_eq!(items.iter().map(item_text).collect::<Vec<_>>(), expected);
}

/// Checks the first error of a file, of a record or as a whole.
#[track_caller]
pub(crate) fn check_detail(format: Format, map: &str, file: &str, expected: &str) {
    let (items, outcome) = items(format, map, file.as_bytes());
    let refused = items.into_iter().find_map(|item| item.event.err());
    let detail = refused.map(|error| error.detail);
    assert_eq!(detail.unwrap_or_else(|| outcome.unwrap_err().to_string()), expected);
}
