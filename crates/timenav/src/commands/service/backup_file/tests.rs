use std::path::{Path, PathBuf};

use tar::{Builder, EntryType, Header};
use timenav_core::ledger::VerifierKey;

use super::*;
use crate::data_folder::DataFolder;
use crate::key_files::{ServiceKey, service_key};
use crate::wiring::ports::OsEntropy;

struct Folder {
    folder: tempfile::TempDir,
    key: ServiceKey,
}

impl Folder {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let key = service_key(&DataFolder::open(folder.path()).unwrap(), None, &OsEntropy).unwrap();
        for (number, name) in PUBLIC_NAMES.iter().enumerate() {
            std::fs::write(folder.path().join(name), vec![b'a'; 700 * (number + 1)]).unwrap();
        }
        Self { folder, key }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn manifest(&self) -> Manifest {
        Manifest {
            key: VerifierKey::new(&self.key.service_name, self.key.signer.public_key()).unwrap(),
            made_at: "2026-11-21T00:00:00Z".to_owned(),
            version: "0.1.0".to_owned(),
            timelines: 2,
            entries: 5,
            members: Vec::new(),
        }
    }

    fn pack(&self, names: &[&'static str]) -> anyhow::Result<Manifest> {
        let sources: Vec<Source> = names.iter().map(|name| Source { name, path: self.path(name) }).collect();
        let to = self.path("packed");
        let _ = std::fs::remove_file(&to);
        pack(&to, &sources, self.manifest(), 0, &self.key)
    }

    /// Writes a tar with these members and a manifest by hand, and reads it.
    fn read(&self, members: &[(&str, EntryType, u64)], manifest: &Manifest) -> Result<Contents, String> {
        let to = self.path("by-hand");
        let mut archive = Builder::new(std::fs::File::create(&to).unwrap());
        for (name, kind, bytes) in members {
            let mut header = Header::new_gnu();
            header.set_entry_type(*kind);
            header.set_size(*bytes);
            header.as_gnu_mut().unwrap().name[..name.len()].copy_from_slice(name.as_bytes());
            header.set_cksum();
            archive.append(&header, vec![b'a'; usize::try_from((*bytes).min(1_400)).unwrap()].as_slice()).unwrap();
        }
        let note = manifest.sign(&self.key).unwrap();
        let mut header = Header::new_gnu();
        header.set_size(note.len() as u64);
        archive.append_data(&mut header, MANIFEST_NAME, note.as_bytes()).unwrap();
        archive.into_inner().unwrap();
        Contents::read(&to).map_err(|error| format!("{error:#}"))
    }
}

fn sha256_of(bytes: &[u8]) -> String {
    let mut digested = Digested::new(bytes);
    io::copy(&mut digested, &mut io::sink()).unwrap();
    digested.finish().1
}

#[test]
fn packed_backup_round_trips() {
    let folder = Folder::new();
    let packed = folder.pack(&[PUBLIC_NAMES[0], PUBLIC_NAMES[1], "signing.key"]).unwrap();
    let contents = Contents::read(&folder.path("packed")).unwrap();
    assert_eq!(contents.manifest, packed);
    contents.verify_manifest().unwrap();
    contents.verify_members().unwrap();
    assert_eq!(contents.keys().collect::<Vec<_>>(), ["signing.key"]);
    let secret = std::fs::read_to_string(folder.path("signing.key")).unwrap();
    assert_eq!(*contents.key_text("signing.key").unwrap(), secret);
    let to = folder.path("extracted");
    contents.extract(PUBLIC_NAMES[1], &to).unwrap();
    assert_eq!(std::fs::read(&to).unwrap(), vec![b'a'; 1_400]);
    assert!(contents.extract(PUBLIC_NAMES[1], &to).is_err(), "nothing is written over");
    assert!(contents.extract("admin.key", &folder.path("other")).is_err());
    assert_eq!(packed.members[0].sha256, sha256_of(&[b'a'; 700]));
}

#[test]
fn tar_that_contradicts_its_manifest_is_rejected() {
    let folder = Folder::new();
    let manifest = folder.pack(&PUBLIC_NAMES).unwrap();
    let [database, checkpoints] = PUBLIC_NAMES;
    let plain = EntryType::Regular;
    let whole = [(database, plain, 700), (checkpoints, plain, 1_400)];
    folder.read(&whole, &manifest).unwrap().verify_members().unwrap();
    for (members, expected) in [
        (&[(database, plain, 700)][..], "does not have the members"),
        (&[whole[0], whole[1], ("admin.key", plain, 3)], "does not have the members"),
        (&[whole[0], whole[0], whole[1]], "two of its members have the same name"),
        (&[whole[0], whole[1], ("../etc/passwd", plain, 3)], "it has a member `../etc/passwd`"),
        (&[whole[0], whole[1], ("lock", plain, 3)], "it has a member `lock`"),
        (&[(database, EntryType::Symlink, 0), whole[1]], "it has a member `timenav.db`"),
        (&[("././@LongLink", EntryType::GNULongName, u64::MAX / 4)], "it has a member `././@LongLink`"),
        (&[(database, EntryType::GNUSparse, 700), whole[1]], "it has a member `timenav.db`"),
        (&[("x", EntryType::XHeader, 1 << 40)], "it has a member `x`"),
        (&[(database, plain, u64::MAX), whole[1]], "is damaged"),
        (&[(database, plain, u64::MAX - 1_000), whole[1]], "is damaged"),
        (&[(database, plain, 1 << 30), whole[1]], "is cut off"),
    ] {
        let refused = folder.read(members, &manifest).unwrap_err();
        assert!(refused.contains(expected), "{expected}: {refused}");
    }
}

#[test]
fn manifest_is_canonical_and_signed() {
    let folder = Folder::new();
    let manifest = folder.pack(&PUBLIC_NAMES).unwrap();
    let note = manifest.sign(&folder.key).unwrap();
    let (read, signed) = Manifest::parse(note.as_bytes()).unwrap();
    assert_eq!(read, manifest);
    read.verify(&signed).unwrap();
    for (from, to, is_read) in [
        ("timenav backup v1", "timenav backup v2", false),
        ("\nmade ", "\nMade ", false),
        ("entries 5", "entries 05", false),
        ("entries 5", "entries many", false),
        ("file timenav.db 700", "file timenav.db +700", false),
        ("file timenav.db 700", "file timenav.db  700", false),
        ("entries 5", "entries 6", true),
        ("made 2026", "made 2025", true),
    ] {
        let changed = note.replacen(from, to, 1);
        assert_ne!(changed, note);
        match Manifest::parse(changed.as_bytes()) {
            Ok((read, signed)) => assert!(is_read && read.verify(&signed).is_err(), "{to}"),
            Err(error) => assert!(!is_read, "{to}: {error}"),
        }
    }
    // A signature of another key under the name of this one.
    let other = Folder::new();
    let (read, signed) = Manifest::parse(manifest.sign(&other.key).unwrap().as_bytes()).unwrap();
    assert!(read.verify(&signed).is_err());
}

#[test]
fn packing_does_not_overwrite_files() {
    let folder = Folder::new();
    let to = folder.path("packed");
    std::fs::write(&to, "precious").unwrap();
    let sources = [Source { name: PUBLIC_NAMES[0], path: folder.path(PUBLIC_NAMES[0]) }];
    assert!(pack(Path::new(&to), &sources, folder.manifest(), 0, &folder.key).is_err());
    assert_eq!(std::fs::read_to_string(&to).unwrap(), "precious");
}
