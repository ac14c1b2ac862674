//! Which processes are on a clock: reads `/proc`, and changes nothing.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::os::unix::fs::{FileExt as _, MetadataExt as _};
use std::path::PathBuf;

use crate::board::PAGE_NAME;
use crate::page::{PAGE_BYTES, Reading};

/// How many parents of a process are looked at.
const PARENTS_MAX: usize = 4_096;
/// How often a page is read that is written meanwhile.
const READINGS_MAX: usize = 100;

/// A process, as `/proc` tells it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Process {
    /// Its id.
    pub pid: i32,
    /// The id of its parent.
    pub parent: i32,
    /// The name of its program, of which the kernel keeps 15 bytes.
    pub name: String,
}

/// A process of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    /// The process.
    pub process: Process,
    /// Whether it has the clock page; `None` where this user may not look.
    pub is_on_clock: Option<bool>,
}

/// A run of `timenav exec`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Supervised {
    /// The process that keeps the page current.
    pub supervisor: i32,
    /// What the page says.
    pub page: Reading,
    /// All processes that it supervises, by their ids.
    pub members: Vec<Member>,
}

/// What was found about a process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Found {
    /// It belongs to this run.
    Run(Box<Supervised>),
    /// It has a page that nobody keeps current: its supervisor was killed.
    Abandoned,
    /// It has host time.
    Host,
}

/// Finds the run that a process belongs to: one of its programs, its supervisor, or the process that was called.
///
/// # Errors
/// There is no such process, or this user may not look at it.
pub fn find(pid: i32) -> io::Result<Found> {
    let all = processes()?;
    if !all.contains_key(&pid) {
        return Err(io::Error::new(io::ErrorKind::NotFound, "there is no such process"));
    }
    let Some((supervisor, file, inode)) = supervisor_of(pid, &all) else {
        return Ok(if page_inode(pid)?.is_some() { Found::Abandoned } else { Found::Host });
    };
    let page = read_page(&file)?;
    let is_member = |process: &&Process| ancestors(process.pid, &all).skip(1).any(|ancestor| ancestor == supervisor);
    let members = all.values().filter(is_member).map(|process| {
        let is_on_clock = page_inode(process.pid).ok().map(|found| found == Some(inode));
        Member { process: process.clone(), is_on_clock }
    });
    Ok(Found::Run(Box::new(Supervised { supervisor, page, members: members.collect() })))
}

/// Returns the processes that descend from this one.
pub(crate) fn descendants() -> Vec<i32> {
    let own = std::process::id().cast_signed();
    let all = processes().unwrap_or_default();
    all.keys().copied().filter(|pid| ancestors(*pid, &all).skip(1).any(|ancestor| ancestor == own)).collect()
}

/// Returns the supervisor of the run of a process, the file of its page, and the number of that file.
fn supervisor_of(pid: i32, all: &BTreeMap<i32, Process>) -> Option<(i32, File, u64)> {
    let own = page_inode(pid).ok().flatten();
    // The process that was called has its supervisor among its children, and is the same program. Whoever takes in orphans
    // has supervisors among its children too, and does not belong to their runs.
    let name = all.get(&pid).map(|process| &process.name);
    let is_its_half = |process: &&Process| process.parent == pid && Some(&process.name) == name;
    let children = all.values().filter(is_its_half).map(|process| process.pid);
    ancestors(pid, all).chain(children).find_map(|candidate| {
        let file = File::open(page_descriptor(candidate)?).ok()?;
        let inode = file.metadata().ok()?.ino();
        // Where runs are beside each other, the page says which one it is.
        own.is_none_or(|own| own == inode).then_some((candidate, file, inode))
    })
}

/// Returns a process and its parents, up to the first of all.
fn ancestors(pid: i32, all: &BTreeMap<i32, Process>) -> impl Iterator<Item = i32> {
    let parent = |pid: &i32| all.get(pid).map(|process| process.parent).filter(|parent| *parent > 0);
    std::iter::successors(Some(pid), parent).take(PARENTS_MAX)
}

/// Returns where a process has the file of a page open. Only supervisors have: programs map it and let it go.
fn page_descriptor(pid: i32) -> Option<PathBuf> {
    let descriptors = std::fs::read_dir(format!("/proc/{pid}/fd")).ok()?;
    descriptors
        .flatten()
        .map(|entry| entry.path())
        .find(|path| std::fs::read_link(path).is_ok_and(|target| is_page(&target.to_string_lossy())))
}

/// Returns whether a file is a clock page, by what the kernel calls it: one without a name, or in the folder of a run.
pub(crate) fn is_page(path: &str) -> bool {
    let path = path.strip_suffix(" (deleted)").unwrap_or(path);
    path == format!("/memfd:{PAGE_NAME}") || path.ends_with(&format!("/{PAGE_NAME}"))
}

/// Returns the number of the page that a process has mapped (`proc_pid_maps(5)`).
fn page_inode(pid: i32) -> io::Result<Option<u64>> {
    let maps = std::fs::read_to_string(format!("/proc/{pid}/maps"))?;
    let line = maps.lines().find(|line| line.split_whitespace().nth(5).is_some_and(is_page));
    Ok(line.and_then(|line| line.split_whitespace().nth(4)?.parse().ok()))
}

fn read_page(file: &File) -> io::Result<Reading> {
    let read = || -> io::Result<Reading> {
        let mut bytes = vec![0; PAGE_BYTES];
        file.read_exact_at(&mut bytes, 0)?;
        Reading::of(&bytes).ok_or_else(|| io::Error::other("its clock page is of another version of timenav"))
    };
    let mut last = read()?;
    for _ in 0..READINGS_MAX {
        let again = read()?;
        if again.changes == last.changes {
            return Ok(again);
        }
        last = again;
    }
    Err(io::Error::other("its clock page changes too often to be read"))
}

fn processes() -> io::Result<BTreeMap<i32, Process>> {
    let entries = std::fs::read_dir("/proc")?.flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    // One that has ended meanwhile is left out.
    Ok(pids.filter_map(|pid| Some((pid, process(pid)?))).collect())
}

/// Reads `pid (name) state parent …` (`proc_pid_stat(5)`).
fn process(pid: i32) -> Option<Process> {
    let text = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let (begin, end) = (text.find('(')?, text.rfind(')')?);
    let parent = text.get(end + 1..)?.split_whitespace().nth(1)?.parse().ok()?;
    Some(Process { pid, parent, name: text.get(begin + 1..end)?.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_are_known_by_their_names() {
        for (path, expected) in [
            ("/memfd:timenav-clock", true),
            ("/memfd:timenav-clock (deleted)", true),
            ("/tmp/timenav-exec-1-2/timenav-clock", true),
            ("/tmp/timenav-exec-1-2/timenav-clock (deleted)", true),
            ("/tmp/timenav-clocks", false),
            ("/usr/bin/date", false),
        ] {
            assert_eq!(is_page(path), expected, "{path}");
        }
    }

    #[test]
    fn processes_have_parents_and_names() {
        let own = i32::try_from(std::process::id()).unwrap();
        let all = processes().unwrap();
        let mine = &all[&own];
        assert!(all.contains_key(&mine.parent), "{mine:?}");
        assert!(ancestors(own, &all).count() > 1);
        assert_eq!(find(-1).unwrap_err().kind(), io::ErrorKind::NotFound);
    }
}
