use std::fs::{File, OpenOptions};
use std::io::{BufWriter, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use tar::{Builder, EntryType, Header};

use super::manifest::ManifestMember;
use super::{Digested, MANIFEST_NAME, Manifest};
use crate::key_files::ServiceKey;

const BLOCK_BYTES: usize = 1 << 20;

pub(crate) struct Source {
    pub(crate) name: &'static str,
    pub(crate) path: PathBuf,
}

/// Writes a new file that only its owner can read: the given members, then the manifest with their digests. The file is
/// durable when this returns.
pub(crate) fn pack(
    to: &Path,
    sources: &[Source],
    mut manifest: Manifest,
    made_secs: u64,
    key: &ServiceKey,
) -> anyhow::Result<Manifest> {
    let unwritable = || format!("{} cannot be written", to.display());
    let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(to).with_context(unwritable)?;
    let mut archive = Builder::new(BufWriter::with_capacity(BLOCK_BYTES, file));
    for Source { name, path } in sources {
        let unreadable = || format!("{} cannot be read", path.display());
        let source = File::open(path).with_context(unreadable)?;
        let bytes = source.metadata().with_context(unreadable)?.len();
        let mut digested = Digested::new(source);
        archive.append_data(&mut header(bytes, made_secs), name, &mut digested).with_context(unwritable)?;
        let (read, sha256) = digested.finish();
        if read != bytes {
            bail!("{} changed while it was read", path.display());
        }
        manifest.members.push(ManifestMember { name: (*name).to_owned(), bytes, sha256 });
    }
    let note = manifest.sign(key)?;
    let mut header = header(note.len() as u64, made_secs);
    archive.append_data(&mut header, MANIFEST_NAME, note.as_bytes()).with_context(unwritable)?;
    let mut out = archive.into_inner().with_context(unwritable)?;
    out.flush().with_context(unwritable)?;
    out.get_ref().sync_all().with_context(unwritable)?;
    Ok(manifest)
}

/// Returns the header of a regular file. Name and checksum are set when it is appended.
fn header(bytes: u64, made_secs: u64) -> Header {
    let mut header = Header::new_gnu();
    header.set_entry_type(EntryType::Regular);
    header.set_mode(0o600);
    header.set_size(bytes);
    header.set_mtime(made_secs);
    header
}
