use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use tar::{Archive, EntryType};
use timenav_core::ledger::{NOTE_BYTES_MAX, Note};
use zeroize::Zeroizing;

use super::manifest::ManifestMember;
use super::{Digested, KEY_BYTES_MAX, KEY_NAMES, MANIFEST_NAME, Manifest, PUBLIC_NAMES};

/// Members of a tar are padded to multiples of this size, in bytes.
const BLOCK_BYTES: u64 = 512;
/// Size of the end-of-archive marker, in bytes.
const END_BYTES: u64 = 2 * BLOCK_BYTES;

#[derive(Debug)]
pub(crate) struct Contents {
    path: PathBuf,
    pub(crate) manifest: Manifest,
    note: Note,
    starts: BTreeMap<String, u64>,
}

impl Contents {
    /// Reads the manifest without verifying it. Fails if the file cannot be read, is truncated or is not a backup.
    pub(crate) fn read(path: &Path) -> anyhow::Result<Self> {
        Self::find(path).with_context(|| format!("the backup {}", path.display()))
    }

    fn find(path: &Path) -> anyhow::Result<Self> {
        let file = File::open(path).context("cannot be read")?;
        let bytes = file.metadata().context("cannot be read")?.len();
        let mut archive = Archive::new(file);
        let (mut starts, mut note, mut end) = (BTreeMap::new(), None, 0);
        // Raw: no member name needs an extension header, and a reader of extensions loads any declared size into
        // memory.
        for entry in archive.entries_with_seek().context("cannot be read")?.raw(true) {
            let mut entry = entry.context("is damaged, or not a timenav backup")?;
            let name = entry.path().ok().and_then(|name| name.to_str().map(str::to_owned)).unwrap_or_default();
            let is_known = name == MANIFEST_NAME || is_member(&name);
            if !is_known || entry.header().entry_type() != EntryType::Regular || note.is_some() {
                bail!("is not a timenav backup: it has a member `{}`", name.escape_debug());
            }
            let (start, length) = (entry.raw_file_position(), entry.size());
            let filled = length.checked_next_multiple_of(BLOCK_BYTES).and_then(|filled| filled.checked_add(start));
            end = filled.and_then(|filled| filled.checked_add(END_BYTES)).context("is damaged")?;
            if name == MANIFEST_NAME {
                let mut text = Vec::new();
                entry.by_ref().take(NOTE_BYTES_MAX as u64 + 1).read_to_end(&mut text).context("cannot be read")?;
                note = Some(text);
            } else if starts.insert(name, start).is_some() {
                bail!("is not a timenav backup: two of its members have the same name");
            }
        }
        let Some(note) = note.filter(|_| end <= bytes) else {
            bail!("is cut off, or is not a timenav backup; get another copy of it");
        };
        if end != bytes {
            bail!("has data after its end: it was changed; get another copy of it");
        }
        let (manifest, note) = Manifest::parse(&note).context("has a manifest that cannot be read")?;
        let named: Vec<&str> = manifest.members.iter().map(|member| member.name.as_str()).collect();
        let is_whole = PUBLIC_NAMES.iter().all(|name| named.contains(name));
        if !is_whole || named.len() != starts.len() || named.iter().any(|name| !starts.contains_key(*name)) {
            bail!("does not have the members listed in its manifest");
        }
        Ok(Self { path: path.to_owned(), manifest, note, starts })
    }

    pub(crate) fn verify_manifest(&self) -> anyhow::Result<()> {
        let named = || format!("the manifest of the backup {} is not signed by its key", self.path.display());
        self.manifest.verify(&self.note).with_context(named)
    }

    pub(crate) fn keys(&self) -> impl Iterator<Item = &'static str> {
        KEY_NAMES.into_iter().filter(|name| self.starts.contains_key(*name))
    }

    pub(crate) fn verify_members(&self) -> anyhow::Result<()> {
        self.manifest.members.iter().try_for_each(|member| self.take(member, &mut io::sink()))
    }

    /// Extracts a member into a new file that only its owner can read, and syncs it. After an error it is unusable.
    pub(crate) fn extract(&self, name: &str, to: &Path) -> anyhow::Result<()> {
        let unwritable = || format!("{} cannot be written", to.display());
        let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(to).with_context(unwritable)?;
        self.take(self.member(name)?, &mut file).with_context(|| format!("{} was not created", to.display()))?;
        file.sync_all().with_context(unwritable)
    }

    /// Fails if the text does not match the manifest.
    pub(crate) fn key_text(&self, name: &str) -> anyhow::Result<Zeroizing<String>> {
        let member = self.member(name)?;
        if member.bytes > KEY_BYTES_MAX {
            bail!("`{name}` in the backup {} is not a key", self.path.display());
        }
        let mut bytes = Zeroizing::new(Vec::new());
        self.take(member, &mut *bytes)?;
        let text = std::str::from_utf8(&bytes).with_context(|| format!("`{name}` in the backup is not a key"))?;
        Ok(Zeroizing::new(text.to_owned()))
    }

    fn member(&self, name: &str) -> anyhow::Result<&ManifestMember> {
        let member = self.manifest.members.iter().find(|member| member.name == name);
        member.with_context(|| format!("there is no `{name}` in the backup {}", self.path.display()))
    }

    fn take(&self, member: &ManifestMember, to: &mut dyn io::Write) -> anyhow::Result<()> {
        let ManifestMember { name, bytes, sha256 } = member;
        let named = || format!("`{name}` of the backup {} cannot be copied", self.path.display());
        let mut file = File::open(&self.path).with_context(named)?;
        file.seek(SeekFrom::Start(*self.starts.get(name).with_context(named)?)).with_context(named)?;
        let mut digested = Digested::new(file.take(*bytes));
        io::copy(&mut digested, to).with_context(named)?;
        if digested.finish() != (*bytes, sha256.clone()) {
            bail!(
                "the backup {} was damaged or changed: `{name}` differs from its digest in the manifest; get another \
                 copy of it",
                self.path.display()
            );
        }
        Ok(())
    }
}

fn is_member(name: &str) -> bool {
    PUBLIC_NAMES.iter().chain(&KEY_NAMES).any(|known| *known == name)
}
