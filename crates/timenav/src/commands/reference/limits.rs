use serde_json::{Value, json};

use crate::client::{Client, ServiceOptions};
use crate::exit::Failure;
use crate::output;
use crate::wiring::surroundings::Surroundings;

/// Lists every limit of the service.
#[derive(Debug, clap::Args)]
pub(crate) struct LimitsCommand {
    #[command(flatten)]
    service: ServiceOptions,
}

pub(crate) fn run(command: &LimitsCommand, surroundings: &Surroundings) -> Result<(), Failure> {
    let client = Client::new(&command.service, surroundings)?;
    client.show(&client.get(&["v1", "limits"], &[])?, limits_text)
}

fn limits_text(answer: &Value) -> String {
    let limits = answer["limits"].as_object().into_iter().flatten();
    let rows: Vec<Value> = limits.map(|(name, most)| json!({ "limit_id": name, "most": most })).collect();
    output::table(&rows, &[("LIMIT", "limit_id"), ("VALUE", "most")], true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_listed_with_full_names() {
        let answer = json!({"status": "2 limits.", "limits": {"page_items_max": 1000, "body_bytes_max": null}});
        assert_eq!(limits_text(&answer), "LIMIT           VALUE\nbody_bytes_max\npage_items_max  1000\n");
    }
}
