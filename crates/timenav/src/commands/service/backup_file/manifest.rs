//! The manifest of a backup, signed by the service's key.

use std::fmt::Write as _;

use anyhow::{Context as _, bail};
use timenav_core::ids::TimelineId;
use timenav_core::ledger::{Note, VerifierKey, origin};

use crate::key_files::ServiceKey;
use crate::wiring::ports::verify_signature;

/// The first line. No other text signed by the key starts with it.
const FIRST_LINE: &str = "timenav backup v1";

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Manifest {
    /// The key that signs the ledgers and this manifest, under the name of the service.
    pub(crate) key: VerifierKey,
    /// Host time before the copy started: everything acknowledged earlier is in the backup.
    pub(crate) made_at: String,
    pub(crate) version: String,
    pub(crate) timelines: u64,
    pub(crate) entries: u64,
    pub(crate) members: Vec<ManifestMember>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ManifestMember {
    pub(crate) name: String,
    pub(crate) bytes: u64,
    /// SHA-256 in hexadecimal.
    pub(crate) sha256: String,
}

impl Manifest {
    /// Returns the key under the ledger name of `main`, as published for verifiers.
    pub(crate) fn verifier_key(&self) -> anyhow::Result<VerifierKey> {
        Ok(VerifierKey::new(&origin(self.key.name(), TimelineId::MAIN), *self.key.public_key())?)
    }

    /// Signs the manifest as a note. Fails if a text in it has control characters.
    pub(super) fn sign(&self, key: &ServiceKey) -> anyhow::Result<String> {
        let note = Note::sign(self.text(), &self.key, |message| key.signer.sign(message))?;
        Ok(note.to_string())
    }

    fn text(&self) -> String {
        let Self { key, made_at, version, timelines, entries, members } = self;
        let mut text = format!(
            "{FIRST_LINE}\nkey {key}\nmade {made_at}\nversion {version}\ntimelines {timelines}\nentries {entries}\n"
        );
        for ManifestMember { name, bytes, sha256 } in members {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "file {name} {bytes} {sha256}");
        }
        text
    }

    /// Does not check the signature; [`Manifest::verify`] does.
    pub(super) fn parse(bytes: &[u8]) -> anyhow::Result<(Self, Note)> {
        let note = Note::parse(bytes)?;
        let mut lines = note.text().lines();
        if lines.next() != Some(FIRST_LINE) {
            bail!("its first line is not `{FIRST_LINE}`: a newer version of timenav may have created it");
        }
        let mut field = |name: &str| {
            let value = lines.next().and_then(|line| line.strip_prefix(name)?.strip_prefix(' '));
            value.with_context(|| format!("it lacks a `{name}` line"))
        };
        let key = VerifierKey::parse(field("key")?)?;
        let made_at = field("made")?.to_owned();
        let version = field("version")?.to_owned();
        let timelines = field("timelines")?.parse()?;
        let entries = field("entries")?.parse()?;
        let members = lines.map(member).collect::<anyhow::Result<_>>()?;
        let manifest = Self { key, made_at, version, timelines, entries, members };
        if manifest.text() != note.text() {
            bail!("it is not in the form timenav writes");
        }
        Ok((manifest, note))
    }

    /// Verifies the signature with the key that the manifest names.
    pub(super) fn verify(&self, note: &Note) -> anyhow::Result<()> {
        Ok(note.verify(std::slice::from_ref(&self.key), verify_signature)?)
    }
}

fn member(line: &str) -> anyhow::Result<ManifestMember> {
    let mut words = line.split(' ');
    let (Some("file"), Some(name), Some(bytes), Some(sha256), None) =
        (words.next(), words.next(), words.next(), words.next(), words.next())
    else {
        bail!("a line of it does not name a file, its length and its digest");
    };
    Ok(ManifestMember { name: name.to_owned(), bytes: bytes.parse()?, sha256: sha256.to_owned() })
}
