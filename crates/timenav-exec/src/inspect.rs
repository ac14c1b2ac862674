//! Predicts how a command would be run, and why. Reads the file, and starts nothing.

use std::ffi::OsStr;
use std::fs::{File, Metadata};
use std::io::Read as _;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{FileExt as _, MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

/// How much of a file is read: the headers of a program, or the first line of a script.
const HEAD_BYTES: usize = 4096;
const ELF: &[u8] = b"\x7fELF";
const SEGMENTS_MAX: usize = 64;
/// How many interpreters may be chained (the same limit as Linux).
const INTERPRETERS_MAX: usize = 5;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A dynamically linked 64-bit program for this processor.
    Dynamic,
    /// A statically linked 64-bit program for this processor.
    Static,
    Narrow,
    /// A program for another processor.
    Foreign,
    /// Neither a program nor a script.
    Unknown,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inspection {
    pub path: PathBuf,
    /// The chain of interpreters, each running the previous one.
    pub interpreters: Vec<PathBuf>,
    /// The type of the last of them.
    pub kind: Kind,
    /// Whether it would run with the rights of its owner or group, or with a capability.
    pub gains_rights: bool,
    pub is_go: bool,
}

/// Why a program does not load a library, or ignores it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OutOfReach {
    #[error("it is statically linked, and loads no library")]
    Static,
    #[error("it is written in Go, and calls the kernel without a C library")]
    Go,
    #[error("it is a 32-bit program")]
    Narrow,
    #[error("its file grants privileges, and such a program ignores preloaded libraries")]
    Rights,
    #[error("it runs where the library is not visible, such as in a chroot")]
    Hidden,
}

impl OutOfReach {
    /// Returns the reason for a number of the library (`enum reach` in `preload/preload.h`).
    #[cfg(all(target_os = "linux", target_arch = "x86_64"))]
    pub(crate) const fn numbered(number: i64) -> Option<Self> {
        match number {
            1 => Some(Self::Static),
            2 => Some(Self::Go),
            3 => Some(Self::Narrow),
            4 => Some(Self::Rights),
            5 => Some(Self::Hidden),
            _ => None,
        }
    }
}

impl Inspection {
    #[must_use]
    pub const fn is_on_clock(&self) -> bool {
        matches!(self.kind, Kind::Dynamic | Kind::Static)
    }

    /// Returns why a library would not put it on the clock; `None` if it would. With `loses_rights`, programs do not
    /// gain the rights of their files, as in a container.
    #[must_use]
    pub const fn out_of_reach(&self, loses_rights: bool) -> Option<OutOfReach> {
        match self.kind {
            Kind::Narrow => Some(OutOfReach::Narrow),
            Kind::Static | Kind::Dynamic if self.is_go => Some(OutOfReach::Go),
            Kind::Static => Some(OutOfReach::Static),
            Kind::Dynamic if self.gains_rights && !loses_rights => Some(OutOfReach::Rights),
            Kind::Dynamic | Kind::Foreign | Kind::Unknown => None,
        }
    }
}

/// Inspects a command. `path` is the list of folders in which a name without a slash is searched.
///
/// # Errors
/// There is no such executable file.
pub fn inspect(command: &OsStr, path: &OsStr) -> std::io::Result<Inspection> {
    let file = find(command, path)?;
    let mut gains_rights = false;
    let mut interpreters = Vec::new();
    let mut current = file.clone();
    loop {
        let head = head(&current)?;
        gains_rights = gains_rights || (head.starts_with(ELF) && gains(&current));
        match interpreter(&head) {
            Some(next) if interpreters.len() < INTERPRETERS_MAX => {
                interpreters.push(next.clone());
                current = next;
            }
            _ => {
                let (kind, is_go) = (kind(&head), is_go(&current, &head));
                return Ok(Inspection { path: file, interpreters, kind, gains_rights, is_go });
            }
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
        .ok_or_else(|| std::io::Error::new(std::io::ErrorKind::NotFound, "it is not in PATH"))
}

fn head(path: &Path) -> std::io::Result<Vec<u8>> {
    let mut head = Vec::new();
    File::open(path)?.take(HEAD_BYTES as u64).read_to_end(&mut head)?;
    Ok(head)
}

fn interpreter(head: &[u8]) -> Option<PathBuf> {
    let line = head.strip_prefix(b"#!")?.split(|byte| *byte == b'\n').next()?;
    let word = line.split(|byte| matches!(byte, b' ' | b'\t')).find(|word| !word.is_empty())?;
    Some(PathBuf::from(OsStr::from_bytes(word)))
}

fn kind(head: &[u8]) -> Kind {
    let (class, machine) = (head.get(4), number(head, 18, 2));
    match (head.starts_with(ELF), class, machine) {
        (true, Some(1), 3 | 62) => Kind::Narrow,
        (true, Some(2), 62) => {
            // PT_INTERP: the dynamic linker.
            if segments(head).any(|at| number(head, at, 4) == 3) { Kind::Dynamic } else { Kind::Static }
        }
        (true, ..) => Kind::Foreign,
        (false, ..) => Kind::Unknown,
    }
}

/// Returns the number of `count` bytes at a position; 0 beyond the end.
fn number(bytes: &[u8], at: usize, count: usize) -> usize {
    let bytes = at.checked_add(count).and_then(|end| bytes.get(at..end)).unwrap_or_default();
    bytes.iter().rev().fold(0, |all, byte| all << 8 | usize::from(*byte))
}

/// Returns the offsets of the segment headers of a 64-bit program.
fn segments(head: &[u8]) -> impl Iterator<Item = usize> {
    let table = number(head, 32, 8);
    (0..number(head, 56, 2).min(SEGMENTS_MAX)).map(move |index| table.saturating_add(index * 56))
}

/// Returns whether a program has a note by the Go linker.
fn is_go(path: &Path, head: &[u8]) -> bool {
    let Ok(file) = File::open(path) else { return false };
    // PT_NOTE.
    let notes = segments(head).filter(|at| head.starts_with(ELF) && number(head, *at, 4) == 4);
    notes.take(SEGMENTS_MAX).any(|at| {
        let mut notes = vec![0; number(head, at + 32, 8).min(HEAD_BYTES)];
        let is_read = file.read_exact_at(&mut notes, number(head, at + 8, 8) as u64).is_ok();
        is_read && has_note_of_go(&notes)
    })
}

fn has_note_of_go(notes: &[u8]) -> bool {
    let mut at = 0;
    while at + 12 <= notes.len() {
        let (name, text) = (number(notes, at, 4), number(notes, at + 4, 4));
        if name == 4 && notes.get(at + 12..at + 16) == Some(b"Go\0\0") {
            return true;
        }
        at += 12 + name.next_multiple_of(4) + text.next_multiple_of(4);
    }
    false
}

/// Returns whether a program runs with more rights than its caller.
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
    fn executable_kinds_are_distinguished() {
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
    fn scripts_are_followed_to_their_interpreter() {
        let folder = tempfile::tempdir().unwrap();
        let program = written(folder.path(), "program", &elf(2, 62, 3));
        let script = |to: &Path| format!("#! {} -x\nrest", to.display()).into_bytes();
        let inner = written(folder.path(), "inner", &script(&program));
        let outer = written(folder.path(), "outer", &script(&inner));
        let found = inspect(OsStr::new("outer"), folder.path().as_os_str()).unwrap();
        let interpreters = vec![inner, program];
        let expected = Inspection { path: outer, interpreters, kind: Kind::Dynamic, gains_rights: false, is_go: false };
        assert_eq!(found, expected);
        let around = written(folder.path(), "around", &script(&folder.path().join("around")));
        assert_eq!(inspect(around.as_os_str(), OsStr::new("")).unwrap().kind, Kind::Unknown, "it ends");
    }

    #[test]
    fn programs_that_load_no_library_are_detected() {
        let folder = tempfile::tempdir().unwrap();
        let look = |bytes: &[u8], mode: u32| {
            let path = written(folder.path(), "program", bytes);
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
            inspect(path.as_os_str(), OsStr::new("")).unwrap()
        };
        // A Go note after the header, in place of the interpreter.
        let mut go = elf(2, 62, 4);
        (go[64 + 8], go[64 + 32]) = (180, 20);
        go[180..200].copy_from_slice(b"\x04\0\0\0\x04\0\0\0\x04\0\0\0Go\0\0abcd");
        assert!(look(&go, 0o755).is_go);
        for (bytes, mode, expected) in [
            (elf(2, 62, 3), 0o755, None),
            (elf(2, 62, 3), 0o4755, Some(OutOfReach::Rights)),
            (elf(2, 62, 1), 0o755, Some(OutOfReach::Static)),
            (elf(1, 3, 3), 0o755, Some(OutOfReach::Narrow)),
            (go, 0o755, Some(OutOfReach::Go)),
        ] {
            let found = look(&bytes, mode);
            assert_eq!(found.out_of_reach(false), expected, "{found:?}");
            assert_eq!(found.out_of_reach(true), expected.filter(|it| *it != OutOfReach::Rights), "{found:?}");
        }
    }

    #[test]
    fn setuid_programs_are_detected() {
        let folder = tempfile::tempdir().unwrap();
        let program = written(folder.path(), "program", &elf(2, 62, 3));
        std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o4755)).unwrap();
        assert!(inspect(program.as_os_str(), OsStr::new("")).unwrap().gains_rights);
        assert!(inspect(OsStr::new("nowhere"), folder.path().as_os_str()).is_err());
    }
}
