//! Checks for enough free disk space for builds and tests. Without it, tests fail slowly, one after the other.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use anyhow::{Context, bail};
use rustix::fs::StatVfsMountFlags;
use tempfile::TempDir;

use crate::process;
use crate::step::Step;

const GIB: u64 = 1 << 30;

/// Disk space for a full build without incremental compilation (`CARGO_INCREMENTAL=0`).
const BUILD: u64 = 9 * GIB;

/// Disk space for running tests: databases, folders, browser profiles.
const TESTS: u64 = 4 * GIB;

const MEMORY: &str = "/dev/shm";

const PROGRAMS: u64 = 8 * GIB;

/// Advice if there is not enough space.
const HELP: &str = "delete something, or name another disk in TMPDIR or CARGO_TARGET_DIR";

#[derive(Clone, Copy, Debug)]
struct Disk {
    id: u64,
    free: u64,
}

/// Checks that there is enough space for what the steps still have to build, and for their tests.
pub(crate) fn require(root: &Path, steps: &[Step]) -> anyhow::Result<()> {
    let builds = steps.iter().any(|step| matches!(step, Step::Build | Step::Test | Step::Console | Step::Clients));
    if !builds {
        return Ok(());
    }
    let target = process::target_folder(root);
    let left = if steps.contains(&Step::Build) || steps.contains(&Step::Test) {
        BUILD.saturating_sub(size(&target.join("debug")))
    } else {
        0
    };
    // The folder may not exist yet.
    let there = target.ancestors().find(|folder| folder.exists()).unwrap_or(root);
    let temporary = std::env::temp_dir();
    compare((disk(there)?, there, left), (disk(&temporary)?, &temporary, TESTS))
}

/// Creates a temporary folder in memory, if there is enough and `TMPDIR` is not set. The service flushes at each
/// commit, and tests do not need data to survive a power failure.
pub(crate) fn in_memory() -> Option<TempDir> {
    let free = disk(Path::new(MEMORY)).ok()?.free.min(available(&fs::read_to_string("/proc/meminfo").ok()?)?);
    let has_room = std::env::var_os("TMPDIR").is_none() && free >= TESTS + PROGRAMS;
    // Some tests write programs there and run them.
    let flags = rustix::fs::statvfs(MEMORY).ok()?.f_flag;
    let is_place = has_room && !flags.contains(StatVfsMountFlags::NOEXEC);
    is_place.then(|| tempfile::tempdir_in(MEMORY).ok()).flatten()
}

/// Returns the available memory in bytes, from the contents of `/proc/meminfo`.
fn available(text: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    Some(line.trim().strip_suffix(" kB")?.parse::<u64>().ok()? << 10)
}

fn compare(build: (Disk, &Path, u64), tests: (Disk, &Path, u64)) -> anyhow::Result<()> {
    let is_one = build.0.id == tests.0.id;
    let needs = if is_one { vec![(build.0, build.1, build.2 + tests.2)] } else { vec![build, tests] };
    for (disk, folder, needed) in needs {
        if disk.free < needed {
            let (free, needed) = (gib(disk.free), gib(needed));
            bail!("the disk of {} has {free} GiB left, and {needed} GiB are needed; {HELP}", folder.display());
        }
    }
    Ok(())
}

#[expect(clippy::cast_precision_loss, reason = "shown with one digit behind the point")]
fn gib(bytes: u64) -> String {
    format!("{:.1}", bytes as f64 / GIB as f64)
}

fn disk(folder: &Path) -> anyhow::Result<Disk> {
    let unknown = || format!("cannot read the free space of {}", folder.display());
    let room = rustix::fs::statvfs(folder).with_context(unknown)?;
    let id = fs::metadata(folder).with_context(unknown)?.dev();
    Ok(Disk { id, free: room.f_bavail.saturating_mul(room.f_frsize) })
}

/// Returns the total size of the files below a folder, or 0 if it does not exist.
fn size(folder: &Path) -> u64 {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let sizes = entries.map(|entry| match entry.metadata() {
        Ok(about) if about.is_dir() => size(&entry.path()),
        Ok(about) => about.len(),
        Err(_) => 0,
    });
    sizes.sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn required_space_is_summed_per_disk() {
        let (target, temporary) = (Path::new("/t"), Path::new("/tmp"));
        let disk = |id: u64, free: u64| Disk { id, free: free * GIB };
        let sums = |one: Disk, other: Disk| {
            let result = compare((one, target, 9 * GIB), (other, temporary, 4 * GIB));
            result.err().map(|error| error.to_string())
        };
        assert_eq!(sums(disk(1, 13), disk(1, 13)), None);
        let lacks = format!("the disk of /t has 12.0 GiB left, and 13.0 GiB are needed; {HELP}");
        assert_eq!(sums(disk(1, 12), disk(1, 12)).as_deref(), Some(lacks.as_str()));
        assert_eq!(sums(disk(1, 9), disk(2, 4)), None);
        let lacks = format!("the disk of /tmp has 3.0 GiB left, and 4.0 GiB are needed; {HELP}");
        assert_eq!(sums(disk(1, 9), disk(2, 3)).as_deref(), Some(lacks.as_str()));
    }

    #[test]
    fn available_memory_is_read_in_bytes() {
        assert_eq!(available("MemTotal:       24683656 kB\nMemAvailable:   16777216 kB\n"), Some(16 * GIB));
        for text in ["", "MemAvailable:   many kB\n"] {
            assert_eq!(available(text), None, "{text}");
        }
    }

    #[test]
    fn folder_size_includes_nested_files() {
        let folder = std::env::temp_dir().join(format!("timenav-room-{}", std::process::id()));
        fs::create_dir_all(folder.join("deps")).unwrap();
        fs::write(folder.join("deps/lib"), [0; 3_000]).unwrap();
        fs::write(folder.join("it"), [0; 500]).unwrap();
        assert_eq!((size(&folder), size(&folder.join("none"))), (3_500, 0));
        assert!(disk(&folder).unwrap().free > 0);
        fs::remove_dir_all(&folder).unwrap();
    }
}
