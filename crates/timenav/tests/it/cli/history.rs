//! History on the command line: versions, corrections, interventions, points in time, returns and forks.

use serde_json::json;

use super::{answered, check_output, done, line_command, rejected};
use crate::support::service::{Service, run};

#[test]
fn corrected_event_is_shown_with_its_versions() {
    let service = Service::start();
    let add = "events add --id flood --time 2005-08-29T11:10:00Z --name Breach";
    done(&service, &format!("{add} --location 'Lower Ninth Ward' --actor Corps"));
    check_output(&service, "cli-events-show", "events show flood");
    let first = answered(&service, "events show flood")["event"]["position"].to_string();
    let correct = format!("events correct --id flood --time 2005-08-29T12:45:00Z --name Breach --if-match {first}");
    check_output(&service, "cli-events-correct", &correct);
    // The expected version is outdated.
    let stderr = rejected(&service, &correct, 1);
    assert!(stderr.contains("it was changed in the meantime"), "{stderr}");
    let event = &answered(&service, "events show flood")["event"];
    assert_eq!(
        (&event["time"], &event["location"], &event["actors"]),
        (&json!("2005-08-29T12:45:00Z"), &json!(null), &json!(null))
    );
    let expected = "{\"event_id\": \"flood\", \"time\": \"2005-08-29T12:45:00Z\", \"location\": \"New Orleans\"}";
    let (code, _, stderr) = run(&mut line_command(&service, "events correct --file -"), expected);
    assert_eq!((code, stderr.as_str()), (Some(0), ""));
    check_output(&service, "cli-events-show-corrected", "events show flood");
    for wrong in ["[]", "{", "{\"time\": \"2005-08-29T12:45:00Z\"}"] {
        let (code, _, stderr) = run(&mut line_command(&service, "events correct --file -"), wrong);
        assert_eq!(code, Some(1), "{wrong}: {stderr}");
    }
    rejected(&service, "events show drought", 5);
    service.audit();
}

#[test]
fn bulk_event_erasure_requires_a_previous_dry_run() {
    let service = Service::start();
    for id in ["a", "b"] {
        done(&service, &format!("events add --id {id} --time 2005-08-29T11:10:00Z"));
    }
    let erase = "events erase --location * --time-range ../..";
    let output = done(&service, &format!("{erase} --dry-run"));
    let size = output.trim_end().trim_end_matches('.').rsplit(' ').next().unwrap().to_owned();
    assert!(output.contains("2 events of `main` would be.\na\nb\n"), "{output}");
    rejected(&service, erase, 1);
    let output = done(&service, &format!("{erase} --as-of-size {size}"));
    assert_eq!(output, "2 events of `main` erased; proofs remain valid.\n");
    done(&service, "events add --id a --time 2005-08-29T11:10:00Z");
    assert_eq!(done(&service, "events erase a"), "1 event of `main` erased; proofs remain valid.\n");
    for wrong in ["events erase", "events erase a --older-than P1D"] {
        rejected(&service, wrong, 2);
    }
    service.audit();
}

#[test]
fn canceled_events_are_readable_at_past_states() {
    let service = Service::start();
    done(&service, "clock pause");
    done(&service, "clock travel 2005-08-29T11:10:00Z");
    done(&service, "events add --id storm --time 2005-08-29T06:00:00Z");
    done(&service, "events add --id flood --time 2005-08-29T11:10:00Z --cause storm");
    let anchor = answered(&service, "anchor set")["anchor_id"].as_str().unwrap().to_owned();
    let intervene = "events intervene flood cancel --time 2005-08-29T11:00:00Z";
    check_output(&service, "cli-events-intervene-dry", &format!("{intervene} --dry-run"));
    assert_eq!(answered(&service, "events show flood")["active"], true);
    check_output(&service, "cli-events-intervene", &format!("{intervene} --cause storm"));
    check_output(&service, "cli-events-show-cancelled", "events show flood");
    let causes = &answered(&service, "events show flood")["interventions"][0]["causes"];
    assert_eq!(causes[0]["event_id"], "storm");
    let count = |line: &str| done(&service, line).matches("flood").count();
    assert_eq!(count("events find"), 0);
    assert_eq!(count(&format!("events find --as-of {anchor}")), 1);
    assert_eq!(count(&format!("events find --as-of {anchor} --all --limit 1")), 1);
    assert_eq!((count("export"), count(&format!("export --as-of {anchor}"))), (0, 1));
    assert_eq!(answered(&service, &format!("events show flood --as-of {anchor}"))["active"], true);
    check_output(
        &service,
        "cli-events-intervene-delay",
        "events intervene storm 'delay by 2h' --time 2005-08-29T05:00:00Z",
    );

    // A fork at that moment has neither intervention, and changes on the fork stay there.
    check_output(&service, "cli-timeline-fork", &format!("timeline create what-if --fork-of main --at {anchor}"));
    assert_eq!(count("events find --timeline what-if"), 1);
    done(&service, "events intervene storm prevent --time 2005-08-28T00:00:00Z --timeline what-if");
    check_output(&service, "cli-events-show-forked", "events show storm --timeline what-if");
    assert_eq!(answered(&service, "events show storm")["active"], true);

    check_output(&service, "cli-timeline-diff", "timeline diff main what-if");
    assert_eq!(done(&service, "timeline diff main main"), "No event differs.\n");
    let changes = &answered(&service, "timeline diff main what-if")["differences"];
    assert_eq!(changes.as_array().map(Vec::len), Some(2));

    // First only the clock, then everything.
    done(&service, "clock forward 1h");
    done(&service, &format!("anchor return {anchor} --scope clock"));
    assert_eq!(service.get("/v1/clock", &[])["current_time"], "2005-08-29T11:10:00Z");
    assert_eq!(count("events find"), 0);
    check_output(&service, "cli-anchor-return-all", &format!("anchor return {anchor} --scope all"));
    assert_eq!(count("events find"), 1);
    check_output(&service, "cli-events-show-returned", "events show flood");
    rejected(&service, &format!("anchor return {anchor} --scope events"), 2);
    rejected(&service, "timeline create x --at 3", 2);
    service.audit();
}

#[test]
fn events_manipulate_accepts_an_explicit_effect() {
    let service = Service::start();
    done(&service, "events add --id storm --time 2005-08-29T06:00:00Z");
    done(&service, "events add --id flood --time 2005-08-29T07:00:00Z --cause storm");
    let delay = r#"{"kind": "delay", "duration": "90m"}"#;
    let intervene = "events intervene storm 'a levee' --time 2005-08-29T05:00:00Z --effect";
    rejected(&service, &format!("{intervene} '{delay}' --fail-on-paradox"), 1);
    done(&service, &format!("{intervene} '{delay}'"));
    assert_eq!(answered(&service, "events show storm")["event"]["time"], "2005-08-29T07:30:00Z");
    for wrong in ["delay", "[]", "{"] {
        rejected(&service, &format!("{intervene} {wrong}"), 2);
    }
    service.audit();
}
