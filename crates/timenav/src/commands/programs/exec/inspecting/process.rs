use anyhow::Context as _;
use serde_json::{Value, json};
use timenav_core::time::{Instant, Virtual};
use timenav_exec::boot_now;
use timenav_exec::page::Moment;
use timenav_exec::processes::{Found, Member, Supervised, find};

use crate::exit::Failure;
use crate::output::{self, OutputFormat, Records, Table};

const PROCESSES: Records =
    Records { member: "processes", fields: &["pid", "parent", "program", "clock"], columns: &[] };

pub(super) fn show(pid: i32, format: OutputFormat) -> Result<(), Failure> {
    let found = find(pid).with_context(|| format!("cannot inspect process {pid}"))?;
    let report = inspection_json(pid, &found);
    output::write(&match format {
        OutputFormat::Table => text(&report),
        OutputFormat::Json => output::pretty(&report.to_string()),
        OutputFormat::Ndjson => PROCESSES.lines(&report.to_string()),
        OutputFormat::Csv => Table::default().rows(&PROCESSES, &report),
    })
}

fn inspection_json(pid: i32, found: &Found) -> Value {
    match found {
        Found::Run(run) => run_json(pid, run),
        Found::Abandoned => json!({
            "process": pid, "clock": "virtual", "processes": [],
            "status": "Its supervisor has ended: it keeps the last clock, which is no longer updated.",
        }),
        Found::Host => json!({
            "process": pid, "clock": "host", "processes": [], "status": "It was not started under timenav exec.",
        }),
    }
}

fn run_json(pid: i32, run: &Supervised) -> Value {
    let slot = run.page.slot;
    let own = run.members.iter().find(|member| member.process.pid == pid);
    // The two processes of timenav itself are on the host clock.
    let clock = own.map_or("host", clock_of);
    let status = if run.page.is_confirmed {
        "The service confirms the clock."
    } else {
        "The service cannot be reached: programs keep the last clock."
    };
    json!({
        "process": pid,
        "clock": clock,
        "status": status,
        "timeline_id": run.page.timeline,
        "service": run.page.service,
        "current_time": moment_text(slot.at(boot_now())),
        "state": if slot.is_paused { "paused" } else { "running" },
        "rate_millionths": slot.rate,
        "generation": slot.generation,
        "uncertainty_nanos": slot.uncertainty,
        "is_confirmed": run.page.is_confirmed,
        "supervisor": run.supervisor,
        "processes": run.members.iter().map(member).collect::<Vec<_>>(),
    })
}

fn member(member: &Member) -> Value {
    let process = &member.process;
    json!({ "pid": process.pid, "parent": process.parent, "program": process.name, "clock": clock_of(member) })
}

const fn clock_of(member: &Member) -> &'static str {
    match member.is_on_clock {
        Some(true) => "virtual",
        Some(false) => "host",
        None => "unknown",
    }
}

fn moment_text(at: Moment) -> Option<String> {
    let micros = i64::try_from(at.nanos_in_all().div_euclid(1_000)).ok()?;
    Instant::<Virtual>::from_micros(micros).map(|at| at.to_string())
}

/// Describes how far the clock of a run may lag behind the service.
fn lateness(report: &Value) -> Option<String> {
    let uncertainty = report.get("uncertainty_nanos")?;
    Some(match uncertainty.as_u64() {
        Some(0) => "nothing: the service is on this kernel".to_owned(),
        Some(nanos) => format!("at most {}.{:09} s of host time", nanos / 1_000_000_000, nanos % 1_000_000_000),
        None => "unknown while the clock is paused".to_owned(),
    })
}

fn text(report: &Value) -> String {
    let fields = [
        ("process", "process"),
        ("clock", "clock"),
        ("timeline", "timeline_id"),
        ("service", "service"),
        ("current time", "current_time"),
        ("state", "state"),
        ("generation", "generation"),
        ("late by", "lateness"),
        ("supervisor", "supervisor"),
    ];
    let columns = [("PID", "pid"), ("PARENT", "parent"), ("CLOCK", "clock"), ("PROGRAM", "program")];
    let mut printed = report.clone();
    if let Some(lateness) = lateness(report) {
        printed["lateness"] = lateness.into();
    }
    let mut text = output::status(report) + &output::fields(&printed, &fields);
    if let Some(processes) = report["processes"].as_array().filter(|processes| !processes.is_empty()) {
        text.push('\n');
        text.push_str(&output::table(processes, &columns, true));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lateness_is_shown_in_seconds_of_host_time() {
        let of = |uncertainty: Value| lateness(&json!({ "uncertainty_nanos": uncertainty }));
        assert_eq!(of(json!(0)).unwrap(), "nothing: the service is on this kernel");
        assert_eq!(of(json!(1_000_123_000)).unwrap(), "at most 1.000123000 s of host time");
        assert_eq!(of(Value::Null).unwrap(), "unknown while the clock is paused");
        assert_eq!(lateness(&json!({ "clock": "host" })), None);
    }
}
