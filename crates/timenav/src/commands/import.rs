//! `timenav import`: records the events of files of any size.

mod guess;

use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, Read, stdin};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use anyhow::{Context as _, anyhow};
use clap::builder::PossibleValuesParser;
use indicatif::{ProgressBar, ProgressStyle};
use serde_json::Value;
use timenav_import::{Format, Packing};

use super::mapping;
use crate::client::{Answer, Client, CreateOption, ServiceOptions, TimelineOptions};
use crate::exit::Failure;
use crate::output::{self, Unshown, printable};
use crate::surroundings::Surroundings;

const PROGRESS: &str = "{msg} {bar:30} {percent:>3} % of {total_bytes}, {binary_bytes_per_sec}, {eta} left";

/// Imports events from files. Events that are already recorded stay as they are.
///
/// A file that cannot be read, or is not in the given format, is reported and skipped, and the exit code is 1. Exit
/// code 3 means that some records were refused; the others were imported.
#[derive(Debug, clap::Args)]
pub(crate) struct ImportCommand {
    /// The files; `-` is standard input.
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// The format of the files. Defaults to the file extension, for compressed files the one before `.gz` or `.zst`.
    #[arg(long, value_parser = PossibleValuesParser::new(Format::ALL.map(Format::as_str)))]
    format: Option<String>,
    /// Which column or property fills which field: time=when,description=what. Or @FILE, which has the mapping, or the
    /// name of one that `timenav mapping save` keeps.
    #[arg(long, value_name = "MAPPING")]
    map: Option<String>,
    /// Looks at the first rows of a file, proposes a mapping on stdout, and sends nothing.
    #[arg(long, conflicts_with_all = ["map", "create"])]
    guess: bool,
    #[command(flatten)]
    create: CreateOption,
    #[command(flatten)]
    service: ServiceOptions,
    #[command(flatten)]
    timeline: TimelineOptions,
}

/// Sends one file after the other.
///
/// # Errors
/// A file could not be imported, the service does not answer or says no, or records were refused.
pub(crate) fn run(command: &ImportCommand, surroundings: &Surroundings) -> Result<(), Failure> {
    if command.guess {
        let format = command.format.as_deref().map(str::parse).transpose().map_err(anyhow::Error::new)?;
        let guess = |path: &PathBuf| guess::run(path, format.or_else(|| format_of(path, None).ok()), packing_of(path));
        return command.files.iter().try_for_each(guess);
    }
    let map = command.map.as_deref().map(|map| mapping::resolved(map, surroundings)).transpose()?;
    let client = Client::new(&command.service, surroundings)?;
    // Before anything is sent, so that a wrong name among many files changes nothing.
    let formats = command.files.iter().map(|path| format_of(path, command.format.as_deref()));
    let formats = formats.collect::<anyhow::Result<Vec<Format>>>()?;
    let (mut refused, mut failed, mut unshown) = (0, 0, Unshown::default());
    for (path, format) in command.files.iter().zip(formats) {
        let mut query = command.timeline.query();
        query.push(("format", format.as_str().to_owned()));
        query.extend(map.iter().map(|map| ("map", map.clone())));
        match send(&client, path, format, (&query, command.create)) {
            Ok(answer) => {
                unshown.after(client.show(&answer, |answer| counts_text(path, answer)));
                refused += answer.value["refused"].as_u64().unwrap_or(0);
            }
            // The others may well be good.
            Err(failure) if command.files.len() > 1 && failure.is_about_the_request() => {
                failed += 1;
                let name = printable(&path.to_string_lossy());
                output::complain(&format!("{name}: {}", failure.text().unwrap_or_default()));
            }
            Err(failure) => return Err(failure),
        }
    }
    match (failed, refused) {
        (0, 0) => unshown.end(),
        (0, refused) => Err(Failure::Refused(refused)),
        (failed, _) => Err(anyhow!("{failed} of {} files could not be imported", command.files.len()).into()),
    }
}

/// Sends one file.
fn send(
    client: &Client,
    path: &Path,
    format: Format,
    (query, create): (&[(&str, String)], CreateOption),
) -> Result<Answer, Failure> {
    let (file, progress) = open(path)?;
    let broken = Arc::new(OnceLock::new());
    let body = Watched { file, broken: Arc::clone(&broken) };
    let answer = client.upload(
        &["v1", "import-events"],
        query,
        format.content_type(),
        (packing_of(path), create.if_match()),
        body,
    );
    let answer = create.explain(answer);
    progress.finish_and_clear();
    match broken.get() {
        // Otherwise the request would seem to have broken off by itself.
        Some(error) if answer.is_err() => Err(anyhow!("{} cannot be read any further: {error}", path.display()).into()),
        _ => answer,
    }
}

/// A file that is sent, and remembers why it could not be read on.
struct Watched {
    file: Box<dyn Read + Send>,
    broken: Arc<OnceLock<String>>,
}

impl Read for Watched {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        self.file.read(out).inspect_err(|error| {
            if error.kind() != io::ErrorKind::Interrupted {
                self.broken.get_or_init(|| error.to_string());
            }
        })
    }
}

fn format_of(path: &Path, given: Option<&str>) -> anyhow::Result<Format> {
    if let Some(given) = given {
        return Ok(given.parse()?);
    }
    let unpacked = if packing_of(path).is_some() { path.with_extension("") } else { path.to_owned() };
    let extension = unpacked.extension().and_then(|extension| extension.to_str());
    extension.and_then(Format::from_extension).with_context(|| {
        let formats = Format::ALL.map(Format::as_str).join(", ");
        format!("the name {} does not say which format it has; give --format, one of {formats}", path.display())
    })
}

/// Returns how the file is packed, as its name says. The service unpacks it.
fn packing_of(path: &Path) -> Option<Packing> {
    Packing::from_extension(path.extension()?.to_str()?)
}

/// Opens a file for sending. The progress bar shows itself only on a terminal.
fn open(path: &Path) -> anyhow::Result<(Box<dyn Read + Send>, ProgressBar)> {
    if path == Path::new("-") {
        return Ok((Box::new(stdin()), ProgressBar::hidden()));
    }
    let file = File::open(path).with_context(|| format!("{} cannot be read", path.display()))?;
    let about = file.metadata().with_context(|| format!("{} cannot be read", path.display()))?;
    if !about.is_file() {
        // A pipe, whose length nobody knows.
        return Ok((Box::new(file), ProgressBar::hidden()));
    }
    let style = ProgressStyle::with_template(PROGRESS).context("the progress bar is drawn wrongly")?;
    let progress = ProgressBar::new(about.len()).with_style(style).with_message(printable(&path.to_string_lossy()));
    Ok((Box::new(progress.wrap_read(file)), progress))
}

/// Returns what became of a file.
pub(super) fn counts_text(path: &Path, answer: &Value) -> String {
    let count = |name: &str| answer[name].as_u64().unwrap_or(0);
    let (taken, unchanged, refused) = (count("taken"), count("unchanged"), count("refused"));
    let name = printable(&path.to_string_lossy());
    let mut text = format!("{name}: {taken} imported, {unchanged} unchanged, {refused} refused\n");
    let shown = answer["refusals"].as_array().map_or(&[][..], Vec::as_slice);
    for refusal in shown {
        let part = |name: &str| output::member(refusal, name);
        let field = part("field");
        let colon = if field.is_empty() { "" } else { ": " };
        let _ = writeln!(text, "  line {}: {field}{colon}{} ({})", part("line"), part("detail"), part("code"));
    }
    let more = refused.saturating_sub(shown.len() as u64);
    if more > 0 {
        let _ = writeln!(text, "  and {more} more");
    }
    let shown = answer["notes"].as_array().map_or(&[][..], Vec::as_slice);
    for note in shown {
        let part = |name: &str| output::member(note, name);
        let _ = writeln!(text, "  line {}: note: {} ({})", part("line"), part("detail"), part("code"));
    }
    let more = count("noted").saturating_sub(shown.len() as u64);
    if more > 0 {
        let _ = writeln!(text, "  and {more} more notes");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_are_told_by_extension_unless_given() {
        let check = |path: &str, given: Option<&str>, expected: Option<Format>| {
            assert_eq!(format_of(Path::new(path), given).ok(), expected, "{path} {given:?}");
        };
        check("a/b.csv", None, Some(Format::Csv));
        check("week.geojson", None, Some(Format::GeoJson));
        check("x.NDJSON", None, Some(Format::Ndjson));
        check("x.csv", Some("ndjson"), Some(Format::Ndjson));
        check("-", Some("csv"), Some(Format::Csv));
        check("-", None, None);
        check("x.json", None, None);
        check("a/b.csv.gz", None, Some(Format::Csv));
        check("x.GEOJSON.GZ", None, Some(Format::GeoJson));
        check("a/b.tsv.zst", None, Some(Format::Csv));
        check("x.gz", None, None);
        check("x.gz", Some("otlp"), Some(Format::Otlp));
    }

    #[test]
    fn refusals_are_shown_and_the_rest_counted() {
        let answer = serde_json::json!({"taken": 5, "unchanged": 1, "refused": 3,
            "refusals": [{"line": 7, "code": "missing_parameter", "field": "time", "detail": "is missing"}],
            "noted": 2, "notes": [{"line": 3, "code": "recurrence_kept", "detail": "it repeats"}]});
        assert_eq!(
            counts_text(Path::new("a.csv"), &answer),
            "a.csv: 5 taken, 1 unchanged, 3 refused\n  line 7: time: is missing (missing_parameter)\n  and 2 more\n  \
             line 3: note: it repeats (recurrence_kept)\n  and 1 more notes\n"
        );
    }
}
