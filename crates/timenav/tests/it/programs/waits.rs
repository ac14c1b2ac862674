//! Waits until a realtime moment: they end by the virtual clock, and by everything else that ends them natively.

use serde_json::json;

use super::{DAY, Teller, compiled, done, exec, service, travel};

const SOURCE: &str = include_str!("../../programs/waits.c");

/// If the clock is ahead of the host's, the kernel alone would wait for years; if it is behind, not at all.
#[test]
fn waits_end_after_their_length_on_shifted_clock() {
    let (Some(service), Some((_folder, waits))) = (service(), compiled(SOURCE, &[])) else { return };
    for day in [DAY.0, "1985-10-26T01:21:00Z"] {
        travel(&service, day);
        for change in ["/v1/pause-time", "/v1/resume-time"] {
            service.post(change, &json!({}));
            assert_eq!(done(&service, &["timeout", "120", &waits, "length"]), "waiting\ndone\n", "{day} {change}");
        }
    }
    service.audit();
}

#[test]
fn waits_end_when_clock_reaches_their_time() {
    let (Some(service), Some((_folder, waits))) = (service(), compiled(SOURCE, &[])) else { return };
    let later = (DAY.1 + 7200).to_string();
    let mut waiting = Teller::of(&mut exec(&service, &[&waits, "until", &later]));
    assert_eq!(waiting.line(), "waiting\n");
    service.post("/v1/fast-forward", &json!({ "duration": "1h" }));
    service.post("/v1/rewind", &json!({ "duration": "30m" }));
    assert!(waiting.child.try_wait().unwrap().is_none(), "it is too early");
    service.post("/v1/fast-forward", &json!({ "duration": "2h" }));
    assert_eq!(waiting.line(), "done\n");
    assert!(waiting.child.wait().unwrap().success());
    // Waits until a past time end at once.
    assert_eq!(done(&service, &[&waits, "until", &DAY.1.to_string()]), "waiting\ndone\n");
    // At this rate an hour takes a second.
    travel(&service, DAY.0);
    service.post("/v1/set-rate", &json!({ "rate": 3600 }));
    service.post("/v1/resume-time", &json!({}));
    let later = (DAY.1 + 3 * 3600).to_string();
    assert_eq!(done(&service, &["timeout", "120", &waits, "until", &later]), "waiting\ndone\n");
    travel(&service, DAY.0);
    let later = DAY.1 + 3 * 3600;
    let stdout = done(&service, &["timeout", "120", &waits, "timer", &later.to_string()]);
    assert_eq!(stdout, format!("waiting\nat {later}\n"), "a timer that is set to a date");
    service.audit();
}

#[test]
fn waits_end_early_for_native_reasons() {
    let Some(service) = service() else { return };
    let far = (DAY.1 + 86_400).to_string();
    for flags in [&[][..], &["-static"]] {
        let Some((_folder, waits)) = compiled(SOURCE, flags) else { continue };
        assert_eq!(done(&service, &["timeout", "120", &waits, "ends", &far]), "done\n", "{flags:?}");
        // Clock changes lose no messages.
        let mut exchange = Teller::of(&mut exec(&service, &["timeout", "120", &waits, "exchange", "2000"]));
        for to in ["2041-01-01T00:00:00Z", "1969-07-20T20:17:40Z", DAY.0] {
            travel(&service, to);
        }
        assert_eq!(exchange.line(), "2000 of 2000\n", "{flags:?}");
        assert!(exchange.child.wait().unwrap().success());
    }
    service.audit();
}
