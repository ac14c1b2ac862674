use std::ffi::OsString;
use std::fmt::Write as _;
use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::Path;

use serde_json::{Value, json};

use super::outcome::{Boundary, Outcome, Run};
use crate::output::{self, Records};
use timenav_core::text::counted;

/// Failed dates whose output is shown.
const DATES_LISTED_MAX: usize = 3;
/// Lines and bytes shown from the end of an output.
const LINES_MAX: usize = 20;
const BYTES_MAX: u64 = 16 * 1024;

pub(super) const RUNS: Records =
    Records { member: "runs", fields: &["date", "outcome", "exit_code", "signal", "seconds", "output"], columns: &[] };

pub(super) struct Report<'a> {
    pub(super) runs: Vec<&'a Run>,
    pub(super) dates: usize,
    pub(super) is_interrupted: bool,
    /// The boundary found by bisection, if requested.
    pub(super) searched: Option<Boundary>,
}

impl Report<'_> {
    pub(super) fn failed(&self) -> usize {
        self.runs.iter().filter(|run| !run.outcome.passes()).count()
    }

    pub(super) fn json(&self) -> Value {
        let failed = self.failed();
        let first = self.runs.iter().find(|run| !run.outcome.passes()).map(|run| run.date.to_string());
        let mut document = json!({
            "status": self.status(),
            "dates": self.dates,
            "passed": self.runs.len() - failed,
            "failed": failed,
            "not_run": self.dates - self.runs.len(),
            "interrupted": self.is_interrupted,
            "first_failed": first,
            "runs": self.runs.iter().map(|run| run_json(run)).collect::<Vec<_>>(),
        });
        if let Some((failed, passed)) = self.searched {
            document["first_failed"] = failed.map(|date| date.to_string()).into();
            document["last_passed"] = passed.map(|date| date.to_string()).into();
        }
        document
    }

    fn status(&self) -> String {
        let (ran, failed) = (self.runs.len(), self.failed());
        if self.is_interrupted {
            return format!("Interrupted after {ran} of {}; {failed} failed.", counted(self.dates, "date"));
        }
        match self.searched {
            Some((Some(failed), Some(passed))) => {
                let dates = counted(self.dates, "date");
                format!("The command fails from {failed} on, and passes at {passed}. {ran} of {dates} were tried.")
            }
            Some((Some(failed), None)) => format!("The command fails at the first date, {failed}."),
            Some((None, _)) => {
                "The command passes at the first and last dates. To find failures in between, sweep without --bisect."
                    .to_owned()
            }
            None if failed == 0 => format!("{} passed.", counted(self.dates, "date")),
            None => format!("{}: {} passed, {failed} failed.", counted(self.dates, "date"), ran - failed),
        }
    }

    /// Returns the report as text: one line for consecutive dates with the same outcome, and the ends of some outputs.
    pub(super) fn text(&self) -> String {
        let mut rows: Vec<(&Run, &Run, usize)> = Vec::new();
        for run in &self.runs {
            match rows.last_mut() {
                Some((first, last, count)) if first.outcome == run.outcome && self.searched.is_none() => {
                    *last = run;
                    *count += 1;
                }
                _ => rows.push((run, run, 1)),
            }
        }
        let printed: Vec<Value> = rows
            .iter()
            .map(|(first, last, count)| {
                json!({ "from": first.date.to_string(), "to": last.date.to_string(), "dates": count,
                    "outcome": first.outcome.text() })
            })
            .collect();
        let columns: &[_] = match self.searched {
            Some(_) => &[("DATE", "from"), ("OUTCOME", "outcome")],
            None => &[("FROM", "from"), ("TO", "to"), ("DATES", "dates"), ("OUTCOME", "outcome")],
        };
        let mut text = output::table(&printed, columns, true);
        let failed = rows.iter().map(|(first, ..)| first).filter(|run| !run.outcome.passes());
        for run in failed.take(DATES_LISTED_MAX) {
            let Some(path) = &run.output else { continue };
            let _ = writeln!(text, "\n--- {}: {}, {}", run.date, run.outcome.text(), path.display());
            text.push_str(&tail(path));
        }
        let _ = writeln!(text, "\n{}", self.status());
        text
    }

    /// Returns the report as JUnit XML, with one test case per date.
    pub(super) fn junit(&self, command: &[OsString]) -> String {
        let command = command.iter().map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ");
        let (command, failed) = (escaped(&command), self.failed());
        let mut xml = format!(
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n  <testsuite name=\"timenav sweep\" \
             tests=\"{}\" failures=\"{failed}\" errors=\"0\">\n",
            self.runs.len()
        );
        for run in &self.runs {
            let case = format!(
                "    <testcase classname=\"{command}\" name=\"{}\" time=\"{:.3}\"",
                run.date,
                run.took.as_secs_f64()
            );
            let output = run.output.as_deref().map(tail).unwrap_or_default();
            if run.outcome.passes() {
                let _ = writeln!(xml, "{case}/>");
                continue;
            }
            let (message, output) = (escaped(&run.outcome.text()), escaped(&output));
            let _ = writeln!(xml, "{case}>\n      <failure message=\"{message}\">{output}</failure>\n    </testcase>");
        }
        xml + "  </testsuite>\n</testsuites>\n"
    }
}

fn run_json(run: &Run) -> Value {
    let (code, signal) = match run.outcome {
        Outcome::Passed => (Some(0), None),
        Outcome::Exited(code) => (Some(code), None),
        Outcome::Killed(signal) => (None, Some(signal)),
        Outcome::TimedOut => (None, None),
    };
    json!({
        "date": run.date.to_string(),
        "outcome": run.outcome.word(),
        "exit_code": code,
        "signal": signal,
        "seconds": (run.took.as_secs_f64() * 1_000.0).round() / 1_000.0,
        "output": run.output.as_ref().map(|path| path.display().to_string()),
    })
}

/// Returns the end of an output without terminal control characters.
fn tail(path: &Path) -> String {
    let read = || -> std::io::Result<Vec<u8>> {
        let mut file = File::open(path)?;
        let from = file.metadata()?.len().saturating_sub(BYTES_MAX);
        file.seek(SeekFrom::Start(from))?;
        let mut bytes = Vec::new();
        file.take(BYTES_MAX).read_to_end(&mut bytes)?;
        Ok(bytes)
    };
    let bytes = match read() {
        Ok(bytes) => bytes,
        Err(error) => return format!("(its output cannot be read: {error})\n"),
    };
    let text = String::from_utf8_lossy(&bytes);
    let lines: Vec<&str> = text.lines().collect();
    let from = lines.len().saturating_sub(LINES_MAX);
    lines[from..].iter().map(|line| output::printable(line) + "\n").collect()
}

/// Escapes a text for XML (XML 1.0, sections 2.2 and 2.4).
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\n' | '\t' => out.push(c),
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => out.push(' '),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;
    use std::time::Duration;

    use timenav_core::time::parse_timestamp;

    use super::*;

    fn run(day: u32, outcome: Outcome, output: Option<PathBuf>) -> Run {
        let date = parse_timestamp(&format!("2028-02-{day}T12:00:00Z")).unwrap();
        Run { date, outcome, took: Duration::from_millis(1_500), output }
    }

    #[test]
    fn consecutive_dates_with_equal_outcome_share_a_line() {
        let folder = tempfile::tempdir().unwrap();
        let output = folder.path().join("out.log");
        let lines: Vec<_> = (0..30).map(|line| format!("line {line} <&\u{1b}")).collect();
        std::fs::write(&output, lines.join("\n")).unwrap();
        let runs = [
            run(27, Outcome::Passed, None),
            run(28, Outcome::Passed, None),
            run(29, Outcome::Exited(3), Some(output.clone())),
        ];
        let report = Report { runs: runs.iter().collect(), dates: 3, is_interrupted: false, searched: None };
        let text = report.text();
        let head = "FROM                  TO                    DATES  OUTCOME\n\
                    2028-02-27T12:00:00Z  2028-02-28T12:00:00Z  2      passed\n\
                    2028-02-29T12:00:00Z  2028-02-29T12:00:00Z  1      failed, exit code 3\n\n\
                    --- 2028-02-29T12:00:00Z: failed, exit code 3, ";
        assert!(text.starts_with(head), "{text}");
        assert!(text.contains("line 10 <& \n") && !text.contains("line 9 "), "{text}");
        assert!(text.ends_with("\n\n3 dates: 2 passed, 1 failed.\n"), "{text}");
        let document = report.json();
        assert_eq!((&document["failed"], &document["first_failed"]), (&1.into(), &"2028-02-29T12:00:00Z".into()));
        let expected = json!({ "date": "2028-02-29T12:00:00Z", "outcome": "failed", "exit_code": 3, "signal": null,
            "seconds": 1.5, "output": output.display().to_string() });
        assert_eq!(document["runs"][2], expected);
        let xml = report.junit(&["a \"b\"".into()]);
        assert!(xml.contains("tests=\"3\" failures=\"1\"") && xml.contains("classname=\"a &quot;b&quot;\""), "{xml}");
        assert!(xml.contains("<failure message=\"failed, exit code 3\">line 10 &lt;&amp; \n"), "{xml}");
    }

    #[test]
    fn bisect_status_names_the_first_failing_date() {
        let runs = [run(27, Outcome::Passed, None), run(28, Outcome::Killed(6), None)];
        let status = |searched| {
            let report = Report { runs: runs.iter().collect(), dates: 9, is_interrupted: false, searched };
            report.status()
        };
        let [passed, failed] = [0, 1].map(|index: usize| Some(runs[index].date));
        let expected = "The command fails from 2028-02-28T12:00:00Z on, and passes at 2028-02-27T12:00:00Z. 2 of 9 \
                        dates were tried.";
        assert_eq!(status(Some((failed, passed))), expected);
        assert!(status(Some((failed, None))).contains("fails at the first date"));
        assert!(status(Some((None, passed))).contains("without --bisect"));
    }
}
