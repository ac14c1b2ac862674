//! `timenav timeline export --bundle`: a timeline as one file that can be verified offline.

use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, anyhow, bail};
use indicatif::{ProgressBar, ProgressStyle};

use crate::client::Client;
use crate::commands::service::verify::VERIFIER_KEY_COMMAND;
use crate::data_folder::sync_folder_of;
use crate::exit::Failure;
use crate::output;

/// Maximum length of the last line, in bytes: two numbers and a hash.
const END_BYTES_MAX: usize = 256;

/// Downloads a bundle. The file appears under its name when it is complete and never replaces another.
pub(super) fn export(client: &Client, timeline: &str, path: &Path) -> Result<(), Failure> {
    refuse_existing(path)?;
    let mut partial = path.as_os_str().to_owned();
    partial.push(".partial");
    let partial = PathBuf::from(partial);
    let outcome = write_partial(&partial, |each| client.download(&["timeline", timeline, "bundle"], &[], each))
        .and_then(|bytes| Ok(give_name(&partial, path).map(|()| bytes)?));
    // There is no other place to report a failure. After success this only removes the second link.
    let _ = std::fs::remove_file(&partial);
    let bytes = outcome?;
    let name = path.display();
    let key_command = VERIFIER_KEY_COMMAND.replace("TIMELINE_ID", timeline);
    output::note(&format!(
        "{name} has {bytes} bytes; check it with `timenav verify {name} --verifier-key KEY`. KEY is the `verifier_key` \
         from `{key_command}`"
    ));
    Ok(())
}

fn refuse_existing(path: &Path) -> anyhow::Result<()> {
    let exists = path.try_exists().with_context(|| format!("{} cannot be checked", path.display()))?;
    if exists {
        bail!("{} already exists and is not overwritten", path.display());
    }
    Ok(())
}

/// Writes the download and returns its size in bytes.
fn write_partial(
    partial: &Path,
    download: impl FnOnce(&mut dyn FnMut(&[u8]) -> Result<(), Failure>) -> Result<(), Failure>,
) -> Result<u64, Failure> {
    let cannot = || format!("{} cannot be written", partial.display());
    let mut file = create(partial).with_context(cannot)?;
    let style = ProgressStyle::with_template("{spinner} {bytes} ({bytes_per_sec})");
    let bar = ProgressBar::no_length().with_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()));
    let mut tail = Vec::new();
    let mut bytes = 0;
    let downloaded = download(&mut |part| {
        file.write_all(part).with_context(cannot)?;
        bytes += part.len() as u64;
        bar.set_position(bytes);
        tail.extend_from_slice(&part[part.len().saturating_sub(END_BYTES_MAX)..]);
        tail.drain(..tail.len().saturating_sub(END_BYTES_MAX));
        Ok(())
    });
    bar.finish_and_clear();
    downloaded?;
    if !has_end(&tail) {
        return Err(anyhow!("the service closed the connection before the end of the bundle").into());
    }
    file.sync_all().with_context(cannot)?;
    Ok(bytes)
}

/// Creates a file that only its owner can read, because it holds the whole timeline. A leftover of a crash is removed
/// first instead of overwritten: it may be a hard link to a complete bundle.
fn create(path: &Path) -> std::io::Result<File> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)
}

fn has_end(tail: &[u8]) -> bool {
    let lines = tail.strip_suffix(b"\n").map(|lines| lines.rsplit(|byte| *byte == b'\n'));
    lines.and_then(|mut lines| lines.next()).is_some_and(|last| last.starts_with(b"{\"end\":{"))
}

/// Gives the file its final name unless that name is taken.
fn give_name(partial: &Path, path: &Path) -> anyhow::Result<()> {
    let cannot = || format!("{} cannot be written", path.display());
    match std::fs::hard_link(partial, path) {
        // Some file systems do not support hard links.
        Err(error) if error.kind() != ErrorKind::AlreadyExists => {
            refuse_existing(path)?;
            std::fs::rename(partial, path).with_context(cannot)?;
        }
        linked => linked.with_context(cannot)?,
    }
    sync_folder_of(path).with_context(cannot)
}

#[cfg(test)]
mod tests {
    use super::*;

    const END: &[u8] = b"{\"x\":1}\n{\"end\":{\"data\":0}}\n";

    #[test]
    fn bundle_without_an_end_line_is_rejected() {
        let folder = tempfile::tempdir().unwrap();
        let partial = folder.path().join("a.partial");
        let write = |parts: &[&[u8]]| write_partial(&partial, |each| parts.iter().try_for_each(|part| each(part)));
        assert_eq!(write(&[END]).unwrap(), END.len() as u64);
        assert_eq!(write(&[&[b'x'; 3 * END_BYTES_MAX], b"\n{\"e", b"nd\":{}}\n"]).unwrap(), 780);
        for cut in [&END[..END.len() - 1], &END[..8], b"", b"\n"] {
            write(&[cut]).unwrap_err();
        }
        write_partial(&partial, |each| each(END).and(Err(Failure::OutputClosed))).unwrap_err();
    }

    #[test]
    fn bundle_does_not_overwrite_a_file() {
        let folder = tempfile::tempdir().unwrap();
        let (partial, path) = (folder.path().join("a.partial"), folder.path().join("a"));
        std::fs::write(&partial, "new").unwrap();
        give_name(&partial, &path).unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"new");
        // As after a crash: the same file under both names.
        write_partial(&partial, |each| each(END)).unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"new");
        give_name(&partial, &path).unwrap_err();
        refuse_existing(&path).unwrap_err();
        assert_eq!(std::fs::read(&path).unwrap(), b"new");
    }
}
