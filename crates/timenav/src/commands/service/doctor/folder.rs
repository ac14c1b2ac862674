use std::collections::BTreeMap;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use rustix::fs::Access;

use super::check::{Check, some_of};
use crate::config::Settings;
use crate::data_folder::{
    ADMIN_KEY_FILE, CHECKPOINTS_FILE, DATABASE_FILE, NEXT_SIGNING_KEY_FILE, SIGNING_KEY_FILE, is_open_to_others,
    unfinished_in,
};

/// Free space below which a check warns, and below which it fails because the ledger will soon stop.
const FREE_BYTES_WARN: u64 = 1 << 30;
const FREE_BYTES_FAIL: u64 = 128 << 20;

#[derive(Clone, Copy, Debug)]
pub(super) struct FileFacts {
    pub(super) mode: u32,
    pub(super) uid: u32,
}

/// The files of a folder by name. The folder itself is `.`.
pub(super) type Files = BTreeMap<String, FileFacts>;

pub(super) fn look_at(settings: &Settings) -> Vec<Check> {
    let mut checks = Vec::new();
    let data = files_of(&settings.data);
    match &data {
        Ok(files) => {
            checks.push(Check::ok("data-folder", format!("{} has {} files", settings.data.display(), files.len() - 1)));
            checks.extend(of_data(files, rustix::process::geteuid().as_raw()));
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let seen = format!("there is no folder {}, so no file was checked", settings.data.display());
            checks.push(Check::warn("data-folder", seen, "Give it with --data"));
        }
        Err(error) => {
            let seen = format!("the folder {} cannot be read: {error}", settings.data.display());
            checks.push(Check::fail("data-folder", seen, "Run this as the user that the service runs as"));
        }
    }
    checks.push(checkpoints(settings));
    if let Ok(files) = &data {
        checks.extend([writable(settings), unfinished(settings)]);
        // It does not exist before the first start.
        let is_needed = [DATABASE_FILE, CHECKPOINTS_FILE].iter().any(|name| files.contains_key(*name));
        if settings.signing_key.is_none() && is_needed {
            let key = settings.data.join(SIGNING_KEY_FILE);
            checks.push(signing_key(&key.display().to_string(), is_open_to_others(&key)));
        }
        let whose = if settings.store.is_some() { FREE_FOR_FOLDER } else { FREE_FOR_DATABASE };
        checks.push(free_space(free_bytes(&settings.data), whose));
    }
    if let Some(key) = &settings.signing_key {
        checks.push(signing_key(&key.display().to_string(), is_open_to_others(key)));
    }
    if let Some(tls) = &settings.tls {
        checks.push(tls_key(&tls.key.display().to_string(), facts_of(&tls.key)));
    }
    checks
}

fn facts_of(path: &Path) -> io::Result<FileFacts> {
    let metadata = std::fs::metadata(path)?;
    Ok(FileFacts { mode: metadata.mode() & 0o7777, uid: metadata.uid() })
}

fn files_of(folder: &Path) -> io::Result<Files> {
    let mut files = Files::from([(".".to_owned(), facts_of(folder)?)]);
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        // Temporary SQLite files may disappear.
        if let Ok(facts) = facts_of(&entry.path()) {
            files.insert(entry.file_name().to_string_lossy().into_owned(), facts);
        }
    }
    Ok(files)
}

/// `asker` is the user id of this process.
pub(super) fn of_data(files: &Files, asker: u32) -> Vec<Check> {
    let open: Vec<String> = named(files, |facts| facts.mode & 0o077 != 0);
    let modes = if open.is_empty() {
        Check::ok("file-modes", "only the owner can read the data folder and its files")
    } else {
        let seen = format!("users other than the owner have access to {}", some_of(&open));
        Check::fail("file-modes", seen, "Run chmod -R go= on the data folder")
    };
    let keys = [SIGNING_KEY_FILE, NEXT_SIGNING_KEY_FILE, ADMIN_KEY_FILE];
    let seen_by_all: Vec<String> = open.iter().filter(|name| keys.contains(&name.as_str())).cloned().collect();
    let keys = if seen_by_all.is_empty() {
        Check::ok("key-files", "only the owner can read the keys")
    } else {
        let seen = format!("other users can read {}", some_of(&seen_by_all));
        let advice = "Run chmod 600 on it, and treat the key as leaked: revoke admin.key, rotate signing.key";
        Check::fail("key-files", seen, advice)
    };
    let admin_key = if files.contains_key(ADMIN_KEY_FILE) {
        let advice = "Move it to where you keep secrets; the service does not need it";
        Check::warn("admin-key", "admin.key is in the data folder", advice)
    } else {
        Check::ok("admin-key", "admin.key is not in the data folder")
    };
    let rotation = if files.contains_key(NEXT_SIGNING_KEY_FILE) {
        let advice = "Stop the service and run timenav rotate-signing-key";
        Check::warn("rotation", "a rotation of the signing key was started but not finished", advice)
    } else {
        Check::ok("rotation", "no rotation of the signing key is unfinished")
    };
    vec![modes, keys, owner(files, asker), admin_key, rotation]
}

fn named(files: &Files, is_wrong: impl Fn(&FileFacts) -> bool) -> Vec<String> {
    let wrong = files.iter().filter(|(_, facts)| is_wrong(facts));
    wrong.map(|(name, _)| if name == "." { "the folder itself".to_owned() } else { name.clone() }).collect()
}

fn owner(files: &Files, asker: u32) -> Check {
    let owner = files.get(".").map_or(asker, |facts| facts.uid);
    let others = named(files, |facts| facts.uid != owner);
    if !others.is_empty() {
        let seen = format!("the data folder belongs to user {owner}, but {} belongs to another user", some_of(&others));
        return Check::fail(
            "file-owner",
            seen,
            "Change the owner of the folder and everything in it to the user that the service runs as",
        );
    }
    if owner == 0 {
        let advice = "Run the service as a dedicated user that owns nothing else";
        return Check::warn("file-owner", "the data folder belongs to root", advice);
    }
    if owner != asker && asker != 0 {
        let seen = format!("the data folder belongs to user {owner}, but you are {asker}");
        return Check::fail("file-owner", seen, "Only the user that the service runs as should be able to read it");
    }
    Check::ok("file-owner", format!("the data folder and everything in it belong to user {owner}"))
}

pub(super) fn checkpoints(settings: &Settings) -> Check {
    // With PostgreSQL, the data folder is not where the database is.
    let is_nested = settings.store.is_none()
        && settings.checkpoints.as_ref().is_none_or(|folder| {
            let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
            real(folder).starts_with(real(&settings.data))
        });
    if is_nested {
        let advice = "Give --checkpoints a folder that users who can change the database cannot write to";
        return Check::warn("checkpoints", "signed checkpoints are in the same folder as the database", advice);
    }
    let folder = settings.checkpoints.as_deref().unwrap_or(&settings.data);
    match facts_of(folder) {
        Ok(facts) if facts.mode & 0o077 != 0 => {
            let seen = format!("users other than the owner have access to {}", folder.display());
            Check::fail("checkpoints", seen, "Run chmod -R go= on it")
        }
        Ok(_) => Check::ok("checkpoints", format!("signed checkpoints are in {}", folder.display())),
        Err(error) => {
            let seen = format!("the folder of checkpoints {} cannot be read: {error}", folder.display());
            Check::warn("checkpoints", seen, "The service creates it on its first start; otherwise fix the path")
        }
    }
}

fn writable(settings: &Settings) -> Check {
    const NAME: &str = "writable";
    let folders = [Some(&settings.data), settings.checkpoints.as_ref()].into_iter().flatten();
    let files = folders.flat_map(|folder| [folder.clone(), folder.join(DATABASE_FILE), folder.join(CHECKPOINTS_FILE)]);
    for path in files.filter(|path| path.exists()) {
        if let Err(error) = rustix::fs::access(&path, Access::WRITE_OK) {
            let seen = format!("{} cannot be written: {}", path.display(), io::Error::from(error));
            let advice = "Mount the file system read-write, and give write access to the user that the service runs as";
            return Check::fail(NAME, seen, advice);
        }
    }
    Check::ok(NAME, "the data folder and the service's files in it are writable")
}

/// Checks for leftovers of an interrupted command that creates a data folder.
fn unfinished(settings: &Settings) -> Check {
    const NAME: &str = "unfinished";
    match unfinished_in(&settings.data) {
        Some(seen) => Check::fail(NAME, seen, "The service does not start until this is finished"),
        None => Check::ok(NAME, "no restore and no move into the data folder is unfinished"),
    }
}

fn free_bytes(folder: &Path) -> io::Result<u64> {
    let stat = rustix::fs::statvfs(folder)?;
    Ok(stat.f_bavail.saturating_mul(stat.f_frsize))
}

pub(super) const FREE_FOR_DATABASE: &str = "the database";
pub(super) const FREE_FOR_FOLDER: &str = "the data folder; the database server has its own disk";

pub(super) fn free_space(free: io::Result<u64>, whose: &str) -> Check {
    const NAME: &str = "free-space";
    let advice = "Free some space: reads are recorded too, and the service rejects requests that it cannot record";
    match free {
        Ok(bytes) => {
            let seen = format!("{} MiB are free for {whose}", bytes >> 20);
            match bytes {
                ..FREE_BYTES_FAIL => Check::fail(NAME, seen, advice),
                FREE_BYTES_FAIL..FREE_BYTES_WARN => Check::warn(NAME, seen, advice),
                FREE_BYTES_WARN.. => Check::ok(NAME, seen),
            }
        }
        Err(error) => Check::warn(NAME, format!("the free space is unknown: {error}"), ""),
    }
}

pub(super) fn signing_key(path: &str, is_open: io::Result<bool>) -> Check {
    const NAME: &str = "signing-key";
    match is_open {
        Ok(true) => {
            let advice = "Run chmod go= on it, treat the key as leaked, and rotate it";
            Check::fail(NAME, format!("other users can read {path}"), advice)
        }
        Ok(false) => Check::ok(NAME, format!("other users cannot read {path}")),
        Err(error) => Check::fail(NAME, format!("{path} cannot be read: {error}"), "The service could not start"),
    }
}

pub(super) fn tls_key(path: &str, facts: io::Result<FileFacts>) -> Check {
    const NAME: &str = "tls-key";
    match facts {
        Ok(facts) if facts.mode & 0o007 != 0 => {
            let seen = format!("all users on this machine have access to {path}");
            Check::fail(NAME, seen, "Run chmod o= on it, and get a new certificate with a new key")
        }
        Ok(_) => Check::ok(NAME, format!("not all users can read {path}")),
        Err(error) => Check::fail(NAME, format!("{path} cannot be read: {error}"), "The service could not start"),
    }
}
