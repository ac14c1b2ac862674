use std::collections::BTreeMap;

use anyhow::Context as _;

/// Which events are meant, and in which order.
#[derive(Debug, clap::Args)]
pub(in crate::commands) struct FilterOptions {
    #[command(flatten)]
    filters: EventFilters,
    /// Newest first.
    #[arg(long)]
    newest: bool,
}

/// Which events are meant. All of it must hold.
#[derive(Debug, clap::Args)]
pub(in crate::commands) struct EventFilters {
    /// Only events with these words or beginnings of words. Case and accents are ignored.
    #[arg(long)]
    text: Option<String>,
    /// Only events with this actor.
    #[arg(long)]
    actor: Option<String>,
    /// Only events from this source.
    #[arg(long)]
    source: Option<String>,
    /// Only events with this attribute value, or a number in this range, such as `140/..`. Repeatable.
    #[arg(long, value_name = "KEY=VALUE", value_parser = key_and_value)]
    attribute: Vec<(String, String)>,
}

impl FilterOptions {
    pub(in crate::commands) fn query(self) -> Vec<(&'static str, String)> {
        let mut query = self.filters.query();
        query.extend(self.newest.then(|| ("order", "newest".to_owned())));
        query
    }
}

impl EventFilters {
    pub(in crate::commands) fn query(self) -> Vec<(&'static str, String)> {
        let mut attributes = BTreeMap::<String, Vec<String>>::new();
        for (key, value) in self.attribute {
            attributes.entry(key).or_default().push(value);
        }
        let attributes = (!attributes.is_empty()).then(|| serde_json::json!(attributes).to_string());
        let texts = [("text", self.text), ("actor", self.actor), ("source", self.source), ("attribute", attributes)];
        texts.into_iter().filter_map(|(name, text)| Some((name, text?))).collect()
    }
}

fn key_and_value(text: &str) -> anyhow::Result<(String, String)> {
    let parts = text.split_once('=').filter(|(key, _)| !key.is_empty());
    let (key, value) = parts.context("write the key and the value with `=` between them, such as `category=5`")?;
    Ok((key.to_owned(), value.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_are_sent_as_one_object() {
        let read = |text: &str| key_and_value(text).unwrap();
        assert!(key_and_value("category").is_err() && key_and_value("=5").is_err());
        let filters = EventFilters {
            text: Some("eagle".to_owned()),
            actor: None,
            source: None,
            attribute: vec![read("a=1"), read("b=x=y"), read("a=")],
        };
        let options = FilterOptions { filters, newest: true };
        let attributes = r#"{"a":["1",""],"b":["x=y"]}"#.to_owned();
        let expected = [("text", "eagle".to_owned()), ("attribute", attributes), ("order", "newest".to_owned())];
        assert_eq!(options.query(), expected);
    }
}
