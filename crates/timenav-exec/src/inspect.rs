//! What would be done with a command, and why: looks at the file, and starts nothing.

use std::ffi::OsStr;
use std::fs::{File, Metadata};
use std::io::Read as _;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

/// How much of a file is looked at: the headers of a program, or the first line of a script.
const HEAD_BYTES: usize = 4096;
/// How many scripts may interpret each other (Linux allows as many).
const INTERPRETERS_MAX: usize = 5;

/// What a file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A 64-bit program of this processor that is linked when it starts.
    Dynamic,
    /// A 64-bit program of this processor that needs nothing else.
    Static,
    /// A 32-bit program.
    Narrow,
    /// A program of another processor.
    Foreign,
    /// No program and no script.
    Unknown,
}

/// What was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inspection {
    /// The file that is executed.
    pub path: PathBuf,
    /// The programs that interpret it, each the next one's.
    pub interpreters: Vec<PathBuf>,
    /// What the last of them is.
    pub kind: Kind,
    /// Whether it would run with the rights of its owner, its group, or a capability.
    pub gains_rights: bool,
}

impl Inspection {
    /// Returns whether it can be put on the clock.
    #[must_use]
    pub const fn is_on_clock(&self) -> bool {
        matches!(self.kind, Kind::Dynamic | Kind::Static)
    }
}

/// Looks at a command. `path` is the list of folders in which a name without a slash is looked for.
///
/// # Errors
/// There is no such file that can be executed.
pub fn inspect(command: &OsStr, path: &OsStr) -> std::io::Result<Inspection> {
    let file = find(command, path)?;
    let mut gains_rights = false;
    let mut interpreters = Vec::new();
    let mut current = file.clone();
    loop {
        let head = head(&current)?;
        gains_rights = gains_rights || (head.starts_with(b"\x7fELF") && gains(&current));
        match interpreter(&head) {
            Some(next) if interpreters.len() < INTERPRETERS_MAX => {
                interpreters.push(next.clone());
                current = next;
            }
            _ => return Ok(Inspection { path: file, interpreters, kind: kind(&head), gains_rights }),
        }
    }
}

fn find(command: &OsStr, path: &OsStr) -> std::io::Result<PathBuf> {
    if command.as_bytes().contains(&b'/') {
        let path = PathBuf::from(command);
        return std::fs::metadata(&path).map(|_| path);
    }
    let folders = path.as_bytes().split(|byte| *byte == b':').map(|folder| Path::new(OsStr::from_bytes(folder)));
    let is_program = |data: &Metadata| data.is_file() && data.permissions().mode() & 0o111 != 0;
    let mut candidates = folders.map(|folder| folder.join(command));
    candidates
        .find(|candidate| std::fs::metadata(candidate).is_ok_and(|data| is_program(&data)))
        .ok_or_else(|| std::io::Error::new(std::io::ErrorKind::NotFound, "it is in no folder of PATH"))
}

fn head(path: &Path) -> std::io::Result<Vec<u8>> {
    let mut head = Vec::new();
    File::open(path)?.take(HEAD_BYTES as u64).read_to_end(&mut head)?;
    Ok(head)
}

/// Returns the program that a script names on its first line.
fn interpreter(head: &[u8]) -> Option<PathBuf> {
    let line = head.strip_prefix(b"#!")?.split(|byte| *byte == b'\n').next()?;
    let word = line.split(|byte| matches!(byte, b' ' | b'\t')).find(|word| !word.is_empty())?;
    Some(PathBuf::from(OsStr::from_bytes(word)))
}

fn kind(head: &[u8]) -> Kind {
    let half = |at: usize| head.get(at..at + 2).map_or(0, |bytes| u16::from_le_bytes([bytes[0], bytes[1]]));
    let small = |at: usize| head.get(at..at + 4).map(|bytes| bytes.iter().rev().fold(0, |a, b| a << 8 | u32::from(*b)));
    let (class, machine) = (head.get(4), half(18));
    match (head.starts_with(b"\x7fELF"), class, machine) {
        (true, Some(1), 3 | 62) => Kind::Narrow,
        (true, Some(2), 62) => {
            let table = head.get(32..40).map_or(0, |bytes| bytes.iter().rev().fold(0, |a, b| a << 8 | usize::from(*b)));
            // PT_INTERP: the program that links it.
            let is_linked = |index: usize| small(table.saturating_add(index * 56)) == Some(3);
            if (0..usize::from(half(56)).min(64)).any(is_linked) { Kind::Dynamic } else { Kind::Static }
        }
        (true, ..) => Kind::Foreign,
        (false, ..) => Kind::Unknown,
    }
}

/// Returns whether a program runs with more rights than who starts it.
fn gains(path: &Path) -> bool {
    let Ok(data) = std::fs::metadata(path) else { return false };
    let (is_owners, is_groups) = (data.mode() & 0o4000 != 0, data.mode() & 0o2010 == 0o2010);
    is_owners || is_groups || has_capability(path)
}

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
fn has_capability(path: &Path) -> bool {
    let mut value: Vec<u8> = Vec::new();
    rustix::fs::getxattr(path, "security.capability", &mut value).is_ok_and(|length| length > 0)
}

#[cfg(not(all(target_os = "linux", target_arch = "x86_64")))]
const fn has_capability(_path: &Path) -> bool {
    false
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    fn written(folder: &Path, name: &str, bytes: &[u8]) -> PathBuf {
        let path = folder.join(name);
        std::fs::write(&path, bytes).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        path
    }

    fn elf(class: u8, machine: u8, segment: u8) -> Vec<u8> {
        let mut bytes = vec![0; 200];
        bytes[..6].copy_from_slice(&[0x7f, b'E', b'L', b'F', class, 1]);
        (bytes[18], bytes[32], bytes[56], bytes[64]) = (machine, 64, 1, segment);
        bytes
    }

    #[test]
    fn files_are_told_apart() {
        for (bytes, expected) in [
            (elf(2, 62, 3), Kind::Dynamic),
            (elf(2, 62, 1), Kind::Static),
            (elf(1, 3, 3), Kind::Narrow),
            (elf(1, 62, 3), Kind::Narrow),
            (elf(2, 183, 3), Kind::Foreign),
            (b"\x7fELF".to_vec(), Kind::Foreign),
            (b"hello".to_vec(), Kind::Unknown),
            (Vec::new(), Kind::Unknown),
        ] {
            assert_eq!(kind(&bytes), expected, "{bytes:?}");
        }
    }

    #[test]
    fn scripts_are_followed_to_a_program() {
        let folder = tempfile::tempdir().unwrap();
        let program = written(folder.path(), "program", &elf(2, 62, 3));
        let script = |to: &Path| format!("#! {} -x\nrest", to.display()).into_bytes();
        let inner = written(folder.path(), "inner", &script(&program));
        let outer = written(folder.path(), "outer", &script(&inner));
        let found = inspect(OsStr::new("outer"), folder.path().as_os_str()).unwrap();
        let expected =
            Inspection { path: outer, interpreters: vec![inner, program], kind: Kind::Dynamic, gains_rights: false };
        assert_eq!(found, expected);
        let around = written(folder.path(), "around", &script(&folder.path().join("around")));
        assert_eq!(inspect(around.as_os_str(), OsStr::new("")).unwrap().kind, Kind::Unknown, "it ends");
    }

    #[test]
    fn rights_are_seen() {
        let folder = tempfile::tempdir().unwrap();
        let program = written(folder.path(), "program", &elf(2, 62, 3));
        std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o4755)).unwrap();
        assert!(inspect(program.as_os_str(), OsStr::new("")).unwrap().gains_rights);
        assert!(inspect(OsStr::new("nowhere"), folder.path().as_os_str()).is_err());
    }
}
