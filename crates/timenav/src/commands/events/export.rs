use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use clap::builder::PossibleValuesParser;
use timenav_import::ExportFormat;

use crate::client::{Client, ServiceOptions, TimelineOptions};
use crate::commands::events::filter::FilterOptions;
use crate::exit::Failure;
use crate::output;
use crate::wiring::surroundings::Surroundings;

/// Exports the events of a place and time range, ordered by time.
#[derive(Debug, clap::Args)]
pub(crate) struct ExportCommand {
    /// The file. Defaults to standard output. It appears only when it is complete.
    #[arg(long, short = 'o', value_name = "FILE")]
    save: Option<PathBuf>,
    /// The format. Defaults to the file extension, or ndjson.
    #[arg(long, value_parser = PossibleValuesParser::new(ExportFormat::ALL.map(ExportFormat::as_str)))]
    format: Option<String>,
    /// Attributes that get their own column, with csv: `attribute.status,attribute.amount`.
    #[arg(long, value_name = "COLUMNS")]
    columns: Option<String>,
    /// The place, as for `timenav events find`.
    #[arg(long, default_value = "*", allow_hyphen_values = true)]
    location: String,
    /// The time range, as for `timenav events find`.
    #[arg(long, default_value = "../..", allow_hyphen_values = true)]
    time_range: String,
    /// Read at this ledger position, anchor id or host time. Defaults to now.
    #[arg(long, value_name = "MOMENT", allow_hyphen_values = true)]
    as_of: Option<String>,
    #[command(flatten)]
    filter: FilterOptions,
    #[command(flatten)]
    service: ServiceOptions,
    #[command(flatten)]
    timeline: TimelineOptions,
}

pub(crate) fn run(command: ExportCommand, surroundings: &Surroundings) -> Result<(), Failure> {
    let format = format_of(command.save.as_deref(), command.format.as_deref())?;
    let client = Client::new(&command.service, surroundings)?;
    let mut query = command.timeline.query();
    query.extend([
        ("format", format.as_str().to_owned()),
        ("location", command.location),
        ("time_range", command.time_range),
    ]);
    query.extend(command.columns.map(|columns| ("columns", columns)));
    query.extend(command.filter.query());
    query.extend(command.as_of.map(|moment| ("as_of", moment)));
    let path = ["v1", "export-events"];
    match command.save {
        None => client.download(&path, &query, &mut output::write_bytes),
        Some(file) => into_file(&file, |each| client.download(&path, &query, each)),
    }
}

fn format_of(path: Option<&Path>, given: Option<&str>) -> anyhow::Result<ExportFormat> {
    if let Some(given) = given {
        return Ok(given.parse()?);
    }
    let Some(path) = path else { return Ok(ExportFormat::Ndjson) };
    let extension = path.extension().and_then(|extension| extension.to_str());
    extension.and_then(ExportFormat::from_extension).with_context(|| {
        let formats = ExportFormat::ALL.map(ExportFormat::as_str).join(", ");
        format!("the file name {} does not show which format to write; give --format, one of {formats}", path.display())
    })
}

/// Writes to a temporary file and renames it when it is complete.
fn into_file(
    path: &Path,
    download: impl FnOnce(&mut dyn FnMut(&[u8]) -> Result<(), Failure>) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let mut partial = path.as_os_str().to_owned();
    partial.push(".partial");
    let partial = PathBuf::from(partial);
    let cannot = || format!("{} cannot be written", partial.display());
    let mut file = File::create(&partial).with_context(cannot)?;
    let outcome = download(&mut |bytes| Ok(file.write_all(bytes).with_context(cannot)?));
    let outcome = outcome.and_then(|()| Ok(file.sync_all().with_context(cannot)?));
    if outcome.is_err() {
        // There is no other place to report a failure.
        let _ = std::fs::remove_file(&partial);
        return outcome;
    }
    std::fs::rename(&partial, path).with_context(|| format!("{} cannot be written", path.display()))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn export_format_follows_the_extension_unless_given() {
        let check = |path: Option<&str>, given: Option<&str>, expected: Option<ExportFormat>| {
            assert_eq!(format_of(path.map(Path::new), given).ok(), expected, "{path:?} {given:?}");
        };
        check(None, None, Some(ExportFormat::Ndjson));
        check(None, Some("csv"), Some(ExportFormat::Csv));
        check(Some("a/b.ICS"), None, Some(ExportFormat::ICalendar));
        check(Some("a.csv"), Some("geojson"), Some(ExportFormat::GeoJson));
        check(Some("a.txt"), None, None);
        check(Some("a"), None, None);
    }

    #[test]
    fn export_file_is_replaced_only_when_complete() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.csv");
        std::fs::write(&path, "before").unwrap();
        let broken = into_file(&path, |each| each(b"half").and(Err(Failure::OutputClosed)));
        assert!(broken.is_err());
        assert_eq!(std::fs::read(&path).unwrap(), b"before");
        into_file(&path, |each| each(b"after")).unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"after");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}
