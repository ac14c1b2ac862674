//! Lists, which the service answers page by page.

use serde_json::Value;

use crate::client::Client;
use crate::exit::Failure;
use crate::output::{self, OutputFormat, Records};

/// Shows every page of a list, one after the other, or the first with a word on the others. `human` is told whether a
/// page is the first.
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
            // Whoever reads the answer as it is sees the cursor.
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

/// Returns a page of a list as a table, or what the service says where the list is empty.
pub(super) fn page_text(page: &Value, list: &str, columns: &[(&str, &str)], is_first: bool) -> String {
    match page[list].as_array() {
        Some(items) if !items.is_empty() => output::table(items, columns, is_first),
        Some(_) | None if is_first => output::status(page),
        Some(_) | None => String::new(),
    }
}
