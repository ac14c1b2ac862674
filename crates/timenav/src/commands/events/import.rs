mod cut;
mod guess;
mod report;

use std::fs::File;
use std::io::{self, Read, stdin};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use anyhow::{Context as _, anyhow, bail};
use clap::builder::PossibleValuesParser;
use indicatif::{ProgressBar, ProgressStyle};
use serde_json::Value;
use timenav_import::{Format, Packing};

use self::cut::{Cut, Records};
pub(in crate::commands) use self::report::counts_text;
use crate::client::{Answer, Client, CreateOption, ServiceOptions, TimelineOptions};
use crate::commands::events::mapping;
use crate::exit::Failure;
use crate::output::{self, Unshown, printable};
use crate::wiring::surroundings::Surroundings;

const PROGRESS: &str = "{msg} {bar:30} {percent:>3} % of {total_bytes}, {binary_bytes_per_sec}, {eta} left";

/// Imports events from files. Events that are already recorded stay unchanged.
///
/// An unreadable file is reported and skipped, and the exit code is 1. The exit code is 3 if some records were
/// rejected; the others are imported. Ctrl-C stops after the current record; import the file again to continue.
#[derive(Debug, clap::Args)]
pub(crate) struct ImportCommand {
    /// The files; `-` is standard input.
    #[arg(required_unless_present = "undo", value_name = "FILE")]
    files: Vec<PathBuf>,
    /// The format of the files. Defaults to the file extension, without `.gz`.
    #[arg(long, value_parser = PossibleValuesParser::new(Format::ALL.map(Format::as_str)))]
    format: Option<String>,
    /// Maps columns or properties to fields, such as `time=when,description=what`. Also `@FILE`, or the name of a saved
    /// mapping.
    #[arg(long, value_name = "MAPPING")]
    map: Option<String>,
    /// Print a mapping proposed from the first rows of a file. Sends nothing.
    #[arg(long, conflicts_with_all = ["map", "create"])]
    guess: bool,
    /// Check all files and show what would happen, without recording. The timeline must exist.
    #[arg(long, conflicts_with = "create")]
    dry_run: bool,
    /// Undo the import with this id: cancel its events and free their ids. Events that changed after it stay.
    #[arg(long, value_name = "IMPORT_ID", conflicts_with_all = ["files", "format", "map", "guess", "dry_run", "create"])]
    undo: Option<String>,
    #[command(flatten)]
    create: CreateOption,
    #[command(flatten)]
    service: ServiceOptions,
    #[command(flatten)]
    timeline: TimelineOptions,
}

/// Rejected records are an error too.
pub(crate) fn run(command: &ImportCommand, surroundings: &Surroundings) -> Result<(), Failure> {
    if let Some(import_id) = &command.undo {
        return undo(command, import_id.clone(), surroundings);
    }
    command.files.iter().try_for_each(|path| reject_zstd(path))?;
    if command.guess {
        let format = command.format.as_deref().map(str::parse).transpose().map_err(anyhow::Error::new)?;
        let guess = |path: &PathBuf| guess::run(path, (format, format_of(path, None).ok()), packing_of(path));
        return command.files.iter().try_for_each(guess);
    }
    let map = command.map.as_deref().map(|map| mapping::resolved(map, surroundings)).transpose()?;
    let client = Client::new(&command.service, surroundings)?;
    // Checked before the first upload, so that one invalid name among many changes nothing.
    let formats = command.files.iter().map(|path| format_of(path, command.format.as_deref()));
    let formats = formats.collect::<anyhow::Result<Vec<Format>>>()?;
    let (mut refused, mut failed, mut unshown) = (0, 0, Unshown::default());
    let interrupted = client.interruptible()?;
    for (path, format) in command.files.iter().zip(formats) {
        let mut query = command.timeline.query();
        query.push(("format", format.as_str().to_owned()));
        query.extend(command.dry_run.then(|| ("dry_run", "true".to_owned())));
        query.extend(map.iter().map(|map| ("map", map.clone())));
        match send(&client, (path, format), (&query, command.create, command.dry_run), &interrupted) {
            Ok(answer) => {
                unshown.after(client.show(&answer, |answer| counts_text(path, answer)));
                refused += answer.value["rejected"].as_u64().unwrap_or(0);
            }
            // The other files may be valid.
            Err(failure) if command.files.len() > 1 && failure.is_about_the_request() => {
                failed += 1;
                let name = printable(&path.to_string_lossy());
                output::complain(&format!("{name}: {}", failure.text().unwrap_or_default()));
            }
            Err(failure) => return Err(failure),
        }
        if interrupted.load(Ordering::Relaxed) {
            return Err(cut_off(&command.files, path));
        }
    }
    match (failed, refused) {
        (0, 0) => unshown.end(),
        (0, refused) => Err(Failure::Refused(refused)),
        (failed, _) => Err(anyhow!("{failed} of {} files could not be imported", command.files.len()).into()),
    }
}

fn undo(command: &ImportCommand, import_id: String, surroundings: &Surroundings) -> Result<(), Failure> {
    let client = Client::new(&command.service, surroundings)?;
    let mut unshown = Unshown::default();
    let mut rest = Some(import_id);
    while let Some(import_id) = rest {
        let mut body = command.timeline.body();
        body.insert("import_id".to_owned(), Value::String(import_id));
        let answer = client.post(&["v1", "undo-import"], body)?;
        unshown.after(client.show(&answer, undone_text));
        rest = answer.value["next_import_id"].as_str().map(str::to_owned);
    }
    unshown.end()
}

fn undone_text(answer: &Value) -> String {
    let Some(rest) = answer["next_import_id"].as_str() else { return output::status(answer) };
    let undone = output::member(answer, "undone_count");
    let left = rest.rsplit('-').next().unwrap_or_default();
    format!("{undone} events undone, {left} to go\n")
}

fn cut_off(files: &[PathBuf], path: &Path) -> Failure {
    let name = printable(&path.to_string_lossy());
    let left = files.iter().skip_while(|file| *file != path).count().saturating_sub(1);
    let rest = match left {
        0 => String::new(),
        1 => ", and 1 file was not started".to_owned(),
        left => format!(", and {left} files were not started"),
    };
    anyhow!("interrupted: {name} may be incomplete{rest}. Import again to continue: recorded events stay unchanged")
        .into()
}

fn send(
    client: &Client,
    (path, format): (&Path, Format),
    (query, create, is_dry): (&[(&str, String)], CreateOption, bool),
    interrupted: &Arc<AtomicBool>,
) -> Result<Answer, Failure> {
    let (file, progress) = open(path)?;
    let file = Cut::new(file, Records::of(format, packing_of(path).is_some()), Arc::clone(interrupted));
    let broken = Arc::new(OnceLock::new());
    let body = Watched { file: Box::new(file), broken: Arc::clone(&broken) };
    let answer = client.upload(
        &["v1", "import-events"],
        query,
        format.content_type(),
        (packing_of(path), create.if_match()),
        body,
    );
    // A dry run creates nothing, so --create would not help.
    let answer = if is_dry { answer } else { create.explain(answer) };
    progress.finish_and_clear();
    match broken.get() {
        // Otherwise the request would appear to have failed for no reason.
        Some(error) if answer.is_err() => Err(anyhow!("{} cannot be read further: {error}", path.display()).into()),
        _ => answer,
    }
}

/// A file that remembers its read error.
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
        let path = path.display();
        format!("the file name {path} does not show its format; give --format, one of {formats}, or try --guess {path}")
    })
}

/// Returns the compression of a file, by its extension. The service decompresses it.
fn packing_of(path: &Path) -> Option<Packing> {
    Packing::from_extension(path.extension()?.to_str()?)
}

fn reject_zstd(path: &Path) -> anyhow::Result<()> {
    let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
    if extension.eq_ignore_ascii_case("zst") || extension.eq_ignore_ascii_case("zstd") {
        bail!("{} is compressed with zstd, which is not supported; decompress it with `zstd -d`", path.display());
    }
    Ok(())
}

/// Opens a file for upload. The progress bar is only drawn on a terminal.
fn open(path: &Path) -> anyhow::Result<(Box<dyn Read + Send>, ProgressBar)> {
    if path == Path::new("-") {
        return Ok((Box::new(stdin()), ProgressBar::hidden()));
    }
    let file = File::open(path).with_context(|| format!("{} cannot be read", path.display()))?;
    let about = file.metadata().with_context(|| format!("{} cannot be read", path.display()))?;
    if !about.is_file() {
        // A pipe has no known length.
        return Ok((Box::new(file), ProgressBar::hidden()));
    }
    let style = ProgressStyle::with_template(PROGRESS).context("the progress bar is drawn wrongly")?;
    let progress = ProgressBar::new(about.len()).with_style(style).with_message(printable(&path.to_string_lossy()));
    Ok((Box::new(progress.wrap_read(file)), progress))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn import_format_follows_the_extension_unless_given() {
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
        check("a/b.tsv.zst", None, None);
        check("x.gz", None, None);
        check("x.gz", Some("otlp"), Some(Format::Otlp));
    }

    #[test]
    fn reject_zstd_of_zstd_extension_names_the_command() {
        for path in ["a/b.tsv.zst", "x.NDJSON.ZST", "x.csv.zstd"] {
            let error = reject_zstd(Path::new(path)).unwrap_err().to_string();
            assert!(error.starts_with(path) && error.contains("`zstd -d`"), "{error}");
        }
        for path in ["a.csv", "a.csv.gz", "zst", "-"] {
            reject_zstd(Path::new(path)).unwrap();
        }
    }
}
