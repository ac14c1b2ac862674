//! `timenav import --guess`: inspects a file and proposes a mapping without uploading anything.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{Read, stdin};
use std::path::Path;

use anyhow::Context as _;
use timenav_import::limits::GUESS_BYTES_MAX;
use timenav_import::{Format, Guess, Packing, unpacked};

use crate::exit::Failure;
use crate::output::{self, printable};

/// Writes the mapping to stdout, ready to be saved, and the explanation to stderr. An explicit format takes precedence;
/// that of the extension is used only if the content is not recognized.
pub(super) fn run(
    path: &Path,
    (format, extension): (Option<Format>, Option<Format>),
    packing: Option<Packing>,
) -> Result<(), Failure> {
    let start = start_of(path, packing)?;
    let guess = if format.is_some() { Guess::of(&start, format) } else { Guess::of_file(&start, extension) };
    let guess = guess.map_err(|detail| anyhow::anyhow!("{}: {detail}", path.display()))?;
    output::note(&guess_text(path, &guess));
    match &guess.mapping {
        Some(mapping) => output::write(&format!("{mapping}\n")),
        None => Ok(()),
    }
}

/// Reads the start of a file up to the last complete line.
fn start_of(path: &Path, packing: Option<Packing>) -> anyhow::Result<Vec<u8>> {
    let unreadable = || format!("{} cannot be read", path.display());
    let file: Box<dyn Read> = match path.to_str() {
        Some("-") => Box::new(stdin()),
        _ => Box::new(File::open(path).with_context(unreadable)?),
    };
    let file: Box<dyn Read> = match packing {
        Some(packing) => Box::new(unpacked(packing, file)),
        None => file,
    };
    let mut start = Vec::new();
    let bytes_max = u64::try_from(GUESS_BYTES_MAX).unwrap_or(u64::MAX);
    file.take(bytes_max).read_to_end(&mut start).with_context(unreadable)?;
    if start.len() == GUESS_BYTES_MAX
        && let Some(end) = start.iter().rposition(|byte| *byte == b'\n')
    {
        start.truncate(end + 1);
    }
    Ok(start)
}

fn guess_text(path: &Path, guess: &Guess) -> String {
    let name = printable(&path.to_string_lossy());
    let (events, refused) = guess.counts;
    let mut text = format!("{name} is {}; of its first records {events} are events", guess.format.as_str());
    if refused > 0 {
        let _ = write!(text, " and {refused} would be rejected");
    }
    for event in &guess.events {
        let _ = write!(text, "\n  {event}");
    }
    for unsure in &guess.unsure {
        let _ = write!(text, "\nunsure: {unsure}");
    }
    match guess.mapping {
        Some(_) => {
            let format = guess.format.as_str();
            let _ = write!(
                text,
                "\nsave this as mapping.json, then: timenav import --format {format} --map @mapping.json {name}"
            );
        }
        None if events > 0 => text.push_str("\nit needs no mapping"),
        None => {}
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn guessed_mapping_is_shown_or_its_absence_explained() {
        let guess = Guess::of(b"when,a\n2024-07-20T20:17:40Z,1\nsoon,2\n2024-07-20T20:17:41Z,3\n", Some(Format::Csv));
        // One invalid value in three is too many for a time column.
        assert!(guess.unwrap_err().starts_with("no time was recognized"));
        let guess = Guess::of(b"when,a\n1721506660,1\n", Some(Format::Csv)).unwrap();
        assert_eq!(
            guess_text(Path::new("a.csv"), &guess),
            "a.csv is csv; of its first records 1 are events\n  \
             {\"attributes\":{\"a\":\"1\"},\"time\":\"2024-07-20T20:17:40Z\"}\n\
             unsure: `when` is read as seconds since 1970, by its number of digits\n\
             save this as mapping.json, then: timenav import --format csv --map @mapping.json a.csv"
        );
    }

    #[test]
    fn missing_file_is_named() {
        let error = start_of(Path::new("no such file.csv"), None).unwrap_err();
        assert_eq!(error.to_string(), "no such file.csv cannot be read");
    }

    #[test]
    fn guess_reads_a_bounded_number_of_complete_lines() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("long.csv");
        std::fs::write(&path, "time,a\n2024-07-20T20:17:40Z,1\n".repeat(GUESS_BYTES_MAX / 20)).unwrap();
        let start = start_of(&path, None).unwrap();
        assert!(start.len() <= GUESS_BYTES_MAX && start.len() > GUESS_BYTES_MAX - 30 && start.ends_with(b"\n"));
    }
}
