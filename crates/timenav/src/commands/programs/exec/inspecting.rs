#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod process;

use std::ffi::{OsStr, OsString};

use anyhow::Context as _;
use serde_json::{Value, json};
use timenav_exec::inspect::{Inspection, Kind, OutOfReach, inspect};
use timenav_exec::ways::{Allowed, Via, Way, allowed};

use crate::exit::Failure;
use crate::output::{self, OutputFormat};
use crate::wiring::surroundings::Surroundings;

/// Shows what would be done with a command, or for a process id, which processes are on its clock.
pub(super) fn show(
    (command, via): (&[OsString], Via),
    around: &Surroundings,
    format: OutputFormat,
) -> Result<(), Failure> {
    let name = command.first().map(OsString::as_os_str).unwrap_or_default();
    if let (1, Some(pid)) = (command.len(), name.to_str().and_then(|name| name.parse().ok())) {
        return process::show(pid, format);
    }
    let found = look(name, around).with_context(|| format!("cannot inspect `{}`", name.display()))?;
    // If the system allows no method, that is the result.
    let allowed = allowed().context("cannot test what this system allows")?;
    let report = inspection_json(&found, &allowed, via);
    match format {
        OutputFormat::Table => output::write(&text(&report)),
        OutputFormat::Json => output::write_json(&report),
        OutputFormat::Ndjson => output::write(&format!("{report}\n")),
        OutputFormat::Csv => Err(anyhow::anyhow!("an inspection has no rows; write --output json").into()),
    }
}

/// The program to start, as far as it can be inspected.
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
pub(super) struct Program {
    name: OsString,
    found: Option<Inspection>,
}

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
impl Program {
    pub(super) fn look(name: &OsStr, around: &Surroundings) -> Self {
        Self { name: name.to_owned(), found: look(name, around).ok() }
    }

    /// Returns a warning if the program loses privileges.
    pub(super) fn warning(&self, way: Way) -> Option<String> {
        let found = self.found.as_ref()?;
        // Preloading a library removes no privileges.
        let is_lost = found.gains_rights && way != Way::Preload && !is_root();
        is_lost.then(|| {
            let name = self.name.display();
            format!(
                "`{name}` runs without the privileges that its file grants; it keeps them only if timenav exec runs as \
                 root"
            )
        })
    }

    /// Returns the reason if a preloaded library does not work for the program.
    pub(super) fn out_of_reach(&self) -> Option<OutOfReach> {
        self.found.as_ref()?.out_of_reach(loses_rights())
    }
}

/// Returns whether set-id programs gain no privileges here, because of restrictions or because they have them already.
fn loses_rights() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let has_given_up = status.lines().any(|line| line.split_whitespace().eq(["NoNewPrivs:", "1"]));
    has_given_up || is_root()
}

#[cfg(unix)]
fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

#[cfg(not(unix))]
const fn is_root() -> bool {
    false
}

fn look(name: &OsStr, around: &Surroundings) -> std::io::Result<Inspection> {
    inspect(name, &around.program_folders)
}

fn inspection_json(found: &Inspection, allowed: &Allowed, via: Via) -> Value {
    let interpreters: Vec<_> = found.interpreters.iter().map(|path| path.display().to_string()).collect();
    let chosen = allowed.choose(via).ok();
    let is_loaded = chosen == Some(Way::Preload);
    let out_of_reach = found.out_of_reach(loses_rights()).filter(|_| is_loaded);
    let is_virtual = found.is_on_clock() && chosen.is_some() && out_of_reach.is_none();
    let (kind, why) = match found.kind {
        Kind::Dynamic if is_loaded => ("dynamic", "it loads a library that reads the clock page"),
        Kind::Dynamic => ("dynamic", "a 64-bit program: its vDSO is replaced by one that reads the clock page"),
        Kind::Static => {
            ("static", "a 64-bit program: its vDSO is replaced, and its plain system calls for the time are answered")
        }
        Kind::Narrow => ("32-bit", "a 32-bit program cannot be put on the clock; with --strict it is not started"),
        Kind::Foreign => ("another processor's", "it is a program for another processor"),
        Kind::Unknown => ("no program", "it is neither a program nor a script that names its interpreter"),
    };
    let why = out_of_reach.map_or_else(|| why.to_owned(), |it| format!("{it}; with --strict it is not started"));
    json!({
        "program": found.path.display().to_string(),
        "interpreters": interpreters,
        "kind": kind,
        "clock": if is_virtual { "virtual" } else { "host" },
        "why": why,
        "via": chosen.map(Way::name),
        "ways": Way::ALL.map(|way| json!({
            "way": way.name(),
            "is_possible": allowed.obstacle(way).is_none(),
            "why": allowed.reason(way, chosen),
        })),
        "gains_rights": found.gains_rights,
    })
}

fn text(report: &Value) -> String {
    let mut report = report.clone();
    if report["via"].is_null() {
        report["via"] = "none".into();
    }
    for way in report["ways"].as_array().cloned().unwrap_or_default() {
        report[way["way"].as_str().unwrap_or_default()] = way["why"].clone();
    }
    let interpreters = report["interpreters"]
        .as_array()
        .map_or_else(String::new, |all| all.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(", "));
    report["interpreters"] = interpreters.into();
    let rights = match (report["gains_rights"] == true, report["via"] == "preload") {
        (false, _) => "",
        (true, false) => "its file grants privileges, which it has only if timenav exec runs as root",
        (true, true) => "its file grants privileges",
    };
    report["gains_rights"] = rights.into();
    let layout = [
        ("program", "program"),
        ("interpreter", "interpreters"),
        ("kind", "kind"),
        ("clock", "clock"),
        ("because", "why"),
        ("rights", "gains_rights"),
        ("via", "via"),
        ("--via exec", "exec"),
        ("--via trace", "trace"),
        ("--via preload", "preload"),
    ];
    output::fields(&report, &layout)
}

#[cfg(not(all(target_os = "linux", target_arch = "x86_64")))]
mod process {
    use super::{Failure, OutputFormat};

    pub(super) fn show(_: i32, _: OutputFormat) -> Result<(), Failure> {
        Err(anyhow::anyhow!(crate::commands::programs::exec::ELSEWHERE).into())
    }
}
