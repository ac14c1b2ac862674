use std::fmt::Write as _;

use serde_json::{Map, Value};
use timenav_core::text::counted;

use crate::client::{Client, CreateOption};
use crate::exit::Failure;
use crate::output;

/// Previews a clock change without making it.
pub(in crate::commands) fn run(
    client: &Client,
    path: &str,
    mut body: Map<String, Value>,
    create: Option<CreateOption>,
    clock_text: impl Fn(&Value) -> String,
) -> Result<(), Failure> {
    body.insert("dry_run".to_owned(), true.into());
    let path = ["v1", path];
    let answer = match create {
        Some(create) => client.write(&path, &[], &Value::Object(body).to_string(), create)?,
        None => client.post(&path, body)?,
    };
    client.show(&answer, |answer| would_text(answer).unwrap_or_else(|| clock_text(answer)))
}

pub(in crate::commands) fn would_text(answer: &Value) -> Option<String> {
    let would_fire = answer.get("would_fire").filter(|would_fire| !would_fire.is_null())?;
    let mut text = output::status(answer);
    let columns = [("DUE", "due"), ("TIMER", "timer_id"), ("QUEUE", "queue")];
    let rows = |of: &Value, list: &str| of[list].as_array().cloned().unwrap_or_default();
    let mut add = |rows: Vec<Value>, columns: &[(&str, &str)]| {
        if !rows.is_empty() {
            text.push_str(&output::table(&rows, columns, true));
        }
    };
    add(rows(would_fire, "firings"), &columns);
    add(rows(&answer["would_rearm"], "timers"), &[("REARMED FOR", "next"), ("TIMER", "timer_id")]);
    let columns = [("SUPERSEDED", "firing_id"), ("DUE", "due"), ("TIMER", "timer_id"), ("QUEUE", "queue")];
    add(rows(&answer["would_supersede"], "firings"), &columns);
    let named = |of: &str, list: &str, column: &str| -> Vec<Value> {
        rows(&answer[of], list)
            .into_iter()
            .map(|id| Value::Object([(column.to_owned(), id)].into_iter().collect()))
            .collect()
    };
    add(named("would_disarm", "timer_ids", "timer_id"), &[("DISARMED", "timer_id")]);
    add(named("would_change", "event_ids", "event_id"), &[("CHANGED BACK", "event_id")]);
    if answer.get("would_rearm").is_some_and(|would_rearm| !would_rearm.is_null()) {
        return Some(text);
    }
    let more = if would_fire["complete"] == true { "" } else { "; only the first are listed" };
    let _ = match would_fire["count"].as_u64().unwrap_or_default() {
        0 => writeln!(text, "Nothing would fire."),
        count => writeln!(text, "{}{more}.", counted(count, "firing")),
    };
    Some(text)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn firings_of_a_dry_run_are_a_table() {
        let firing = json!({ "timer_id": "t", "due": "2027-01-31T09:00:00Z", "queue": "q" });
        let answer = |count: u32, complete: bool| {
            let firings = if count == 0 { vec![] } else { vec![firing.clone()] };
            json!({ "status": "Nothing moved.", "would_fire": { "count": count, "complete": complete, "firings": firings } })
        };
        let head = "Nothing moved.\nDUE                   TIMER  QUEUE\n2027-01-31T09:00:00Z  t      q\n";
        assert_eq!(would_text(&answer(1, true)), Some(format!("{head}1 firing.\n")));
        assert_eq!(
            would_text(&answer(2_000, false)),
            Some(format!("{head}2000 firings; only the first are listed.\n"))
        );
        assert_eq!(would_text(&answer(0, true)), Some("Nothing moved.\nNothing would fire.\n".to_owned()));
        assert_eq!(would_text(&json!({})), None);
    }

    #[test]
    fn rearmed_timers_of_a_dry_run_are_tables() {
        let answer = json!({
            "status": "Nothing moved.",
            "would_fire": { "count": 0, "complete": true, "firings": [] },
            "would_rearm": { "count": 1, "timers": [{ "timer_id": "t", "next": "2027-01-31T09:00:00Z" }] },
            "would_supersede": { "count": 1, "firings": [
                { "firing_id": "firing_1", "due": "2027-01-31T09:00:00Z", "timer_id": "t", "queue": "q" },
            ] },
            "would_disarm": { "count": 1, "timer_ids": ["later"] },
            "would_change": { "count": 1, "event_ids": ["launch"] },
        });
        assert_eq!(
            would_text(&answer).unwrap(),
            "Nothing moved.\n\
             REARMED FOR           TIMER\n2027-01-31T09:00:00Z  t\n\
             SUPERSEDED  DUE                   TIMER  QUEUE\nfiring_1    2027-01-31T09:00:00Z  t      q\n\
             DISARMED\nlater\n\
             CHANGED BACK\nlaunch\n"
        );
    }
}
