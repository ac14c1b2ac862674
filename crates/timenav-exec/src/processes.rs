//! Finds processes on a clock, by reading `/proc`. Changes nothing.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::os::unix::fs::{FileExt as _, MetadataExt as _};
use std::path::PathBuf;

use crate::board::PAGE_NAME;
use crate::page::{PAGE_BYTES, Reading};

const PARENTS_MAX: usize = 4_096;
/// How often reading a page is retried if it changes.
const READINGS_MAX: usize = 100;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Process {
    pub pid: i32,
    pub parent: i32,
    /// The name of its program, truncated to 15 bytes by the kernel.
    pub name: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    pub process: Process,
    /// Whether it has the clock page; `None` if this user may not inspect it.
    pub is_on_clock: Option<bool>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Supervised {
    /// The process that keeps the page current.
    pub supervisor: i32,
    pub page: Reading,
    /// All supervised processes, ordered by id.
    pub members: Vec<Member>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Found {
    Run(Box<Supervised>),
    /// It has a page that is no longer updated, because its supervisor was killed.
    Abandoned,
    Host,
}

/// Finds the run of a process: one of its programs, its supervisor, or its front.
///
/// # Errors
/// There is no such process, or this user may not inspect it.
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

pub(crate) fn descendants() -> Vec<i32> {
    let own = std::process::id().cast_signed();
    let all = processes().unwrap_or_default();
    all.keys().copied().filter(|pid| ancestors(*pid, &all).skip(1).any(|ancestor| ancestor == own)).collect()
}

/// Returns whether a process or thread with that id exists.
pub(crate) fn is_there(id: i32) -> bool {
    std::path::Path::new(&format!("/proc/{id}")).exists()
}

/// Returns the process of a thread (`proc_pid_status(5)`).
pub(crate) fn process_of(thread: i32) -> Option<i32> {
    let status = std::fs::read_to_string(format!("/proc/{thread}/status")).ok()?;
    status.lines().find_map(|line| line.strip_prefix("Tgid:"))?.trim().parse().ok()
}

/// Returns the supervisor of a process's run, the file of its page, and the inode of that file.
fn supervisor_of(pid: i32, all: &BTreeMap<i32, Process>) -> Option<(i32, File, u64)> {
    let own = page_inode(pid).ok().flatten();
    // The front has its supervisor among its children, with the same program name. A process that adopts orphans also
    // has supervisors among its children, but does not belong to their runs.
    let name = all.get(&pid).map(|process| &process.name);
    let is_its_half = |process: &&Process| process.parent == pid && Some(&process.name) == name;
    let children = all.values().filter(is_its_half).map(|process| process.pid);
    ancestors(pid, all).chain(children).find_map(|candidate| {
        let file = File::open(page_descriptor(candidate)?).ok()?;
        let inode = file.metadata().ok()?.ino();
        // With several runs, the page identifies the right one.
        own.is_none_or(|own| own == inode).then_some((candidate, file, inode))
    })
}

fn ancestors(pid: i32, all: &BTreeMap<i32, Process>) -> impl Iterator<Item = i32> {
    let parent = |pid: &i32| all.get(pid).map(|process| process.parent).filter(|parent| *parent > 0);
    std::iter::successors(Some(pid), parent).take(PARENTS_MAX)
}

/// Only supervisors have a page descriptor: programs map the page and close it.
fn page_descriptor(pid: i32) -> Option<PathBuf> {
    let descriptors = std::fs::read_dir(format!("/proc/{pid}/fd")).ok()?;
    descriptors
        .flatten()
        .map(|entry| entry.path())
        .find(|path| std::fs::read_link(path).is_ok_and(|target| is_page(&target.to_string_lossy())))
}

/// Returns whether a path in `/proc` is that of a clock page: an anonymous file, or a file in the folder of a run.
pub(crate) fn is_page(path: &str) -> bool {
    let path = path.strip_suffix(" (deleted)").unwrap_or(path);
    path == format!("/memfd:{PAGE_NAME}") || path.ends_with(&format!("/{PAGE_NAME}"))
}

/// Returns the inode of the page that a process has mapped (`proc_pid_maps(5)`).
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
    // Processes that have ended in the meantime are left out.
    Ok(pids.filter_map(|pid| Some((pid, process(pid)?))).collect())
}

/// Parses `pid (name) state parent …` (`proc_pid_stat(5)`).
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
    fn clock_pages_are_recognized_by_path() {
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
    fn processes_have_parents_and_ancestors() {
        let own = i32::try_from(std::process::id()).unwrap();
        let all = processes().unwrap();
        let mine = &all[&own];
        assert!(all.contains_key(&mine.parent), "{mine:?}");
        assert!(ancestors(own, &all).count() > 1);
        assert_eq!(find(-1).unwrap_err().kind(), io::ErrorKind::NotFound);
    }
}
