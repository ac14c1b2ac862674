use serde_json::Value;

use crate::client::{Answer, Client};
use crate::exit::Failure;
use crate::output::{self, OutputFormat, Records};

/// Prints a list as a table: all pages, or the first one with a hint if there are more.
pub(super) fn show_pages(
    client: &Client,
    path: &[&str],
    query: Vec<(&'static str, String)>,
    is_all: bool,
    records: &Records,
) -> Result<(), Failure> {
    let table = |page: &Value, is_first| page_text(page, records.member, records.columns, is_first);
    show_pages_as(client, path, query, (is_all, records), table)
}

/// Like [`show_pages`], in another form for people. `human` gets whether a page is the first.
pub(super) fn show_pages_as(
    client: &Client,
    path: &[&str],
    mut query: Vec<(&'static str, String)>,
    (is_all, records): (bool, &Records),
    human: impl Fn(&Value, bool) -> String,
) -> Result<(), Failure> {
    let fetch = |cursor: Option<&str>| {
        if let Some(cursor) = cursor {
            query.retain(|(name, _)| *name != "cursor");
            query.push(("cursor", cursor.to_owned()));
        }
        client.get(path, &query)
    };
    show_fetched(client, fetch, (is_all, records), human)
}

/// Like [`show_pages_as`], for pages that are fetched in another way.
pub(super) fn show_fetched(
    client: &Client,
    mut fetch: impl FnMut(Option<&str>) -> Result<Answer, Failure>,
    (is_all, records): (bool, &Records),
    human: impl Fn(&Value, bool) -> String,
) -> Result<(), Failure> {
    let mut page = fetch(None)?;
    let mut is_first = true;
    loop {
        client.show_list(&page, records, |page| human(page, is_first))?;
        let Some(cursor) = page.value["next_cursor"].as_str() else { return Ok(()) };
        if !is_all {
            // JSON output contains the cursor.
            if client.format() != OutputFormat::Json {
                output::note("there are more; use --all to show them, or --limit to set how many");
            }
            return Ok(());
        }
        page = fetch(Some(cursor))?;
        is_first = false;
    }
}

/// Formats a page of a list as a table, or the status sentence if the list is empty.
pub(super) fn page_text(page: &Value, list: &str, columns: &[(&str, &str)], is_first: bool) -> String {
    match page[list].as_array() {
        Some(items) if !items.is_empty() => output::table(items, columns, is_first),
        Some(_) | None if is_first => output::status(page),
        Some(_) | None => String::new(),
    }
}
