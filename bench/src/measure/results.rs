//! Saves a run to `bench/results/`: findings, date, machine and commit.

use std::fs::{self, File};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::str::FromStr;

use anyhow::{Context, bail};
use serde::Serialize;
use serde_json::{Value, json};
use timenav_engine::WallClock;

use crate::measure::report::Finding;
use crate::measure::setting::Setting;
use crate::measure::wall_clock::HostClock;

const FOLDER: &str = "bench/results";

#[derive(Clone, Debug, Serialize)]
pub(crate) struct Circumstances {
    /// When it began, in UTC.
    date: String,
    /// The commit, with the suffix `-dirty` if files have changed since.
    commit: String,
    quick: bool,
    rounds: usize,
    /// Whether the measured program was optimized. Otherwise the figures are meaningless.
    optimized: bool,
    machine: Machine,
}

/// The machine, without anything that identifies its owner.
#[derive(Clone, Debug, Serialize)]
struct Machine {
    processor: String,
    cores: usize,
    memory_megabytes: u64,
    kernel: String,
    /// Number of tasks that ran or waited for a core in the minute before the run. Near zero on an idle machine.
    load_before: f64,
}

impl Circumstances {
    pub(crate) fn now(setting: &Setting) -> anyhow::Result<Self> {
        if !Path::new("bench/Cargo.toml").exists() {
            bail!("results are kept in {FOLDER}; run this in the root of the repository");
        }
        let commit =
            Command::new("git").args(["describe", "--always", "--dirty", "--abbrev=12", "--exclude=*"]).output();
        let commit = commit.ok().filter(|output| output.status.success()).context("Git does not know the commit")?;
        Ok(Self {
            date: HostClock::new().now().to_string(),
            commit: String::from_utf8_lossy(&commit.stdout).trim().to_owned(),
            quick: setting.quick,
            rounds: setting.rounds_count,
            optimized: !cfg!(debug_assertions),
            machine: Machine::this(),
        })
    }

    /// Writes the findings as JSON and as Markdown, each to its own file. Returns the path of the Markdown file.
    pub(crate) fn save(&self, findings: &[Finding], failed: &[&str]) -> anyhow::Result<PathBuf> {
        let folder = Path::new(FOLDER);
        fs::create_dir_all(folder).with_context(|| format!("{FOLDER} cannot be made"))?;
        let write = |extension: &str, text: String| {
            let path = folder.join(self.name()).with_added_extension(extension);
            let file = File::create_new(&path).and_then(|mut file| file.write_all(text.as_bytes()));
            file.with_context(|| format!("{} cannot be written", path.display()))?;
            anyhow::Ok(path)
        };
        write("json", serde_json::to_string_pretty(&self.to_json(findings, failed)?)? + "\n")?;
        write("md", self.to_markdown(findings, failed))
    }

    /// Returns the base name of a run's files, which is unique to the second.
    fn name(&self) -> String {
        let moment: String = self.date.chars().take("2026-01-02T03:04:05".len()).filter(|sign| *sign != ':').collect();
        format!("{moment}-{}{}", self.commit, if self.quick { "-quick" } else { "" })
    }

    fn to_json(&self, findings: &[Finding], failed: &[&str]) -> anyhow::Result<Value> {
        let mut whole = serde_json::to_value(self)?;
        whole["findings"] = findings.iter().map(Finding::to_json).collect();
        whole["failed"] = json!(failed);
        Ok(whole)
    }

    fn to_markdown(&self, findings: &[Finding], failed: &[&str]) -> String {
        let Machine { processor, cores, memory_megabytes, kernel, load_before } = &self.machine;
        let how = if self.quick { ", with `--quick`" } else { "" };
        let mut lines = vec![
            format!("# Run of {}{how}\n", self.date),
            format!("- commit {}", self.commit),
            format!("- {processor}, {cores} cores, {memory_megabytes} MB, {kernel}"),
            format!("- load before: {load_before}"),
            format!("- rounds: {}", self.rounds),
        ];
        if !self.optimized {
            lines.push("- **not optimized: these figures say nothing**".to_owned());
        }
        if !failed.is_empty() {
            lines.push(format!("- failed: {}", failed.join(", ")));
        }
        lines.push(format!("\n{}", Finding::markdown_heads()));
        lines.extend(findings.iter().map(Finding::to_markdown));
        lines.join("\n") + "\n"
    }
}

impl Machine {
    fn this() -> Self {
        let read = |path: &str| fs::read_to_string(path).unwrap_or_default();
        Self {
            processor: field(&read("/proc/cpuinfo"), "model name").unwrap_or("unknown processor").to_owned(),
            cores: std::thread::available_parallelism().map_or(1, usize::from),
            memory_megabytes: first(field(&read("/proc/meminfo"), "MemTotal")).unwrap_or(0_u64) / 1_000,
            kernel: format!("{} {}", std::env::consts::OS, read("/proc/sys/kernel/osrelease").trim()),
            load_before: first(Some(&read("/proc/loadavg"))).unwrap_or(0.0),
        }
    }
}

/// Returns the value after a name and a colon, in the kernel's format.
fn field<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let mut fields = text.lines().filter_map(|line| line.split_once(':'));
    fields.find(|(found, _)| found.trim() == name).map(|(_, value)| value.trim())
}

fn first<T: FromStr>(text: Option<&str>) -> Option<T> {
    text?.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::report::{Goal, Unit};
    use crate::measure::rounds::Rounds;

    fn run() -> (Circumstances, Finding) {
        let machine = Machine {
            processor: "A Processor".to_owned(),
            cores: 2,
            memory_megabytes: 8_000,
            kernel: "linux 6.1.0".to_owned(),
            load_before: 0.25,
        };
        let circumstances = Circumstances {
            date: "2026-01-02T03:04:05Z".to_owned(),
            commit: "0123456789ab-dirty".to_owned(),
            quick: true,
            rounds: 3,
            optimized: false,
            machine,
        };
        let finding = Finding::new(
            "a",
            Unit::Micros,
            Rounds { floor: vec![10.0; 3], subject: vec![20.0; 3] },
            Goal::AtMost(1.5),
            "bare SQL",
        );
        (circumstances, finding)
    }

    #[test]
    fn run_names_are_unique_per_run() {
        let (one, _) = run();
        assert_eq!(one.name(), "2026-01-02T030405-0123456789ab-dirty-quick");
        let later = Circumstances { date: "2026-01-02T03:04:06.5Z".to_owned(), quick: false, ..one };
        assert_eq!(later.name(), "2026-01-02T030406-0123456789ab-dirty");
    }

    #[test]
    fn markdown_report_lists_circumstances_and_findings() {
        let (circumstances, finding) = run();
        let expected = "# Run of 2026-01-02T03:04:05Z, with `--quick`\n\
            \n\
            - commit 0123456789ab-dirty\n\
            - A Processor, 2 cores, 8000 MB, linux 6.1.0\n\
            - load before: 0.25\n\
            - rounds: 3\n\
            - **not optimized: these figures say nothing**\n\
            - failed: b\n\
            \n\
            | name | subject | floor | ratio | goal | |\n\
            | --- | --- | --- | --- | --- | --- |\n\
            | a | 20.0 µs | bare SQL: 10.0 µs | 2.00 (2.00–2.00) | ≤ 1.5 | short |\n";
        assert_eq!(circumstances.to_markdown(&[finding], &["b"]), expected);
    }

    #[test]
    fn json_report_contains_all_results() {
        let (circumstances, finding) = run();
        let whole = circumstances.to_json(&[finding], &["b"]).unwrap();
        assert_eq!(whole["commit"], "0123456789ab-dirty");
        assert_eq!(whole["machine"]["kernel"], "linux 6.1.0");
        assert_eq!(whole["findings"][0]["ratio"]["median"], 2.0);
        assert_eq!(whole["failed"], json!(["b"]));
    }

    #[test]
    fn kernel_fields_are_parsed() {
        let text = "processor\t: 0\nmodel name\t: Some CPU @ 2 GHz\n";
        assert_eq!(field(text, "model name"), Some("Some CPU @ 2 GHz"));
        assert_eq!(field(text, "model"), None);
        assert_eq!(first::<u64>(Some("16384256 kB")), Some(16_384_256));
        assert_eq!(first::<f64>(Some("0.52 0.58 0.59 1/467 1234")), Some(0.52));
        assert_eq!(first::<u64>(Some("many")), None);
        assert_eq!(first::<u64>(None), None);
    }
}
