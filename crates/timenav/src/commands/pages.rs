use serde_json::Value;

use crate::client::Client;
use crate::exit::Failure;
use crate::output::{self, OutputFormat, Records};

/// Prints all pages, or the first one with a hint if there are more. `human` gets whether a page is the first.
pub(super) fn show_pages(
    client: &Client,
    path: &[&str],
    mut query: Vec<(&'static str, String)>,
    (is_all, records): (bool, &Records),
    human: impl Fn(&Value, bool) -> String,
) -> Result<(), Failure> {
    let mut is_first = true;
    loop {
        let page = client.get(path, &query)?;
        client.show_list(&page, records, |page| human(page, is_first))?;
        let Some(cursor) = page.value["next_cursor"].as_str() else { return Ok(()) };
        if !is_all {
            // JSON output contains the cursor.
            if client.format() != OutputFormat::Json {
                output::note("there are more; use --all to show them, or --limit to set how many");
            }
            return Ok(());
        }
        query.retain(|(name, _)| *name != "cursor");
        query.push(("cursor", cursor.to_owned()));
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
