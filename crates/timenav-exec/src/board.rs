use std::io;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicU64, Ordering, fence};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

use rustix::event::EventfdFlags;
use rustix::fs::{MemfdFlags, Mode, OFlags, SealFlags};

use crate::image::IMAGE_BYTES_MAX;
use crate::kernel::mapping::SharedWords;
use crate::kernel::process::{boot_now, tai_offset};
use crate::page::{END_SECONDS, MAGIC, Moment, Monotonic, PAGE_BYTES, Sleeps, Slot, VERSION, text_words, words};

/// How long it may take to publish a change, in nanoseconds. Until then, programs may read the previous state.
const PUBLISHING: i128 = 1_000_000;

/// The name of the page in `/proc/PID/maps`.
pub(crate) const PAGE_NAME: &str = "timenav-clock";

/// The clock page of one `timenav exec`, and the code that reads it in the programs.
///
/// Both are in one anonymous sealed file: no program can change or truncate it. If programs load a library, the page is
/// a file in the folder of the run instead.
pub struct Board {
    words: SharedWords,
    /// Read-only, for programs.
    file: OwnedFd,
    /// Wakes the supervisor after a change.
    changed: OwnedFd,
    state: Mutex<(Slot, Monotonic)>,
    sleeps: Sleeps,
    /// The number of changes that the supervisor has processed, including sleeps and timers.
    read_count: Mutex<u64>,
    looking: Condvar,
}

impl Board {
    /// Creates a page for programs that get the image. Fails without sealed memory or `/proc`.
    pub(crate) fn create(texts: (&str, &str), first: Slot, sleeps: Sleeps) -> io::Result<Self> {
        let image = crate::attach::image().ok_or_else(|| io::Error::other("this kernel's vDSO cannot be read"))?;
        Self::with_image(texts, (first, sleeps), &image)
    }

    /// Creates a page in a file, which must be at least as large. `readable` is the same file, opened read-only.
    pub(crate) fn in_file(
        writable: BorrowedFd<'_>,
        readable: OwnedFd,
        (timeline, service): (&str, &str),
        (first, sleeps): (Slot, Sleeps),
    ) -> io::Result<Self> {
        let words = SharedWords::map(writable)?;
        let changed = rustix::event::eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        let (state, read_count) = (Mutex::new((first, Monotonic::begin(&first, boot_now()))), Mutex::default());
        let board = Self { words, file: readable, changed, state, sleeps, read_count, looking: Condvar::new() };
        board.write_head(timeline, service);
        board.write(first);
        board.confirm();
        Ok(board)
    }

    fn with_image(texts: (&str, &str), first: (Slot, Sleeps), image: &[u8]) -> io::Result<Self> {
        let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
        // Kernels before 6.3 do not support marking a file as never executable.
        let file = rustix::fs::memfd_create(PAGE_NAME, flags | MemfdFlags::NOEXEC_SEAL)
            .or_else(|_| rustix::fs::memfd_create(PAGE_NAME, flags))?;
        rustix::fs::ftruncate(&file, (PAGE_BYTES + IMAGE_BYTES_MAX) as u64)?;
        let mut written = 0;
        while written < image.len() {
            written += rustix::io::pwrite(&file, &image[written..], (PAGE_BYTES + written) as u64)?;
        }
        let path = format!("/proc/self/fd/{}", std::os::fd::AsRawFd::as_raw_fd(&file));
        let readable = rustix::fs::open(path, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())?;
        let board = Self::in_file(file.as_fd(), readable, texts, first)?;
        // Sealed after mapping it for writing, which is impossible from here on.
        let seals = SealFlags::FUTURE_WRITE | SealFlags::SHRINK | SealFlags::GROW | SealFlags::SEAL;
        rustix::fs::fcntl_add_seals(&file, seals)?;
        Ok(board)
    }

    #[expect(clippy::cast_sign_loss, reason = "words are bit patterns; each reader knows which are signed")]
    fn write_head(&self, timeline: &str, service: &str) {
        for (at, value) in [
            (words::VERSION, VERSION),
            (words::TAI, tai_offset() as u64),
            (words::END, END_SECONDS as u64),
            (words::SLEEPS, self.sleeps.word()),
            (words::MAGIC, MAGIC),
        ] {
            self.word(at).store(value, Ordering::Relaxed);
        }
        let texts =
            [(words::TIMELINE, words::TIMELINE_WORDS, timeline), (words::SERVICE, words::SERVICE_WORDS, service)];
        for (at, count, text) in texts {
            for (index, value) in text_words(text, count).into_iter().enumerate() {
                self.word(at + index).store(value, Ordering::Relaxed);
            }
        }
    }

    pub fn change(&self, slot: Slot) {
        self.write(slot);
        // This only wakes the supervisor. If its counter is full, the descriptor is readable already.
        let _ = rustix::io::write(&self.changed, &1_u64.to_ne_bytes());
    }

    fn write(&self, slot: Slot) {
        let mut newest = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let published = Moment::from_nanos(boot_now().nanos_in_all() + PUBLISHING);
        let monotonic = newest.1.continued(&newest.0, &slot, published);
        // Readers use the slot selected by the lowest bit, and then check that the number is unchanged. So the other
        // slot is written first, and then selected.
        let changes = self.word(words::CHANGES).load(Ordering::Relaxed) + 1;
        let other = usize::from(changes & 1 == 1);
        fence(Ordering::Release);
        for (index, value) in slot.words().into_iter().enumerate() {
            self.word(words::SLOTS[other] + index).store(value, Ordering::Relaxed);
        }
        for (index, value) in monotonic.words().into_iter().enumerate() {
            self.word(words::MONOTONIC[other] + index).store(value, Ordering::Relaxed);
        }
        self.word(words::CHANGES).store(changes, Ordering::Release);
        *newest = (slot, monotonic);
    }

    /// Records that the service responded.
    pub fn confirm(&self) {
        self.word(words::CONFIRMED).store(nanos(boot_now()), Ordering::Relaxed);
        self.word(words::UNCONFIRMED).store(0, Ordering::Relaxed);
    }

    /// Records that the service is unreachable. Programs continue with the last state.
    pub fn lost(&self) {
        let now = nanos(boot_now()).max(1);
        let _ = self.word(words::UNCONFIRMED).compare_exchange(0, now, Ordering::Relaxed, Ordering::Relaxed);
    }

    /// Waits until the supervisor has adjusted to the last change. Returns whether it has within that time.
    #[must_use]
    pub fn settle(&self, patience: Duration) -> bool {
        let changes = self.changes();
        let read_count = self.read_count.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self.looking.wait_timeout_while(read_count, patience, |read_count| *read_count < changes);
        *waited.unwrap_or_else(PoisonError::into_inner).0 >= changes
    }

    pub(crate) fn changes(&self) -> u64 {
        self.word(words::CHANGES).load(Ordering::Relaxed)
    }

    /// Clears the notification of changes, and returns their number.
    pub(crate) fn take_changes(&self) -> u64 {
        let _ = rustix::io::read(&self.changed, &mut [0; 8]);
        self.changes()
    }

    /// Records that sleeps and timers are adjusted to that many changes.
    pub(crate) fn note_read(&self, changes: u64) {
        let mut read_count = self.read_count.lock().unwrap_or_else(PoisonError::into_inner);
        if *read_count < changes {
            *read_count = changes;
            self.looking.notify_all();
        }
    }

    #[must_use]
    pub fn slot(&self) -> Slot {
        self.state().0
    }

    fn state(&self) -> (Slot, Monotonic) {
        *self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) const fn sleeps(&self) -> Sleeps {
        self.sleeps
    }

    /// Returns the monotonic clock of programs whose sleeps are virtual, in nanoseconds.
    pub(crate) fn monotonic_now(&self) -> i128 {
        let (slot, monotonic) = self.state();
        monotonic.at(&slot, boot_now())
    }

    pub(crate) fn now(&self) -> Moment {
        self.slot().at(boot_now())
    }

    pub(crate) fn file(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }

    pub(crate) fn changed(&self) -> BorrowedFd<'_> {
        self.changed.as_fd()
    }

    fn word(&self, at: usize) -> &AtomicU64 {
        &self.words.words()[at]
    }
}

/// Returns nanoseconds of the boot clock; 64 bits are sufficient for 584 years.
fn nanos(boot: Moment) -> u64 {
    u64::try_from(boot.nanos_in_all()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page::Reading;

    fn slot(seconds: i64) -> Slot {
        Slot {
            origin_virtual: Moment { seconds, nanos: 7 },
            origin_boot: Moment::default(),
            rate: 1_000_000,
            is_paused: true,
            generation: seconds.cast_unsigned(),
            uncertainty: Some(0),
        }
    }

    #[test]
    fn readers_never_see_a_partial_change() {
        let board = Board::with_image(("main", "http://x"), (slot(1), Sleeps::Native), &[0; 8]).unwrap();
        std::thread::scope(|scope| {
            let reader = scope.spawn(|| {
                let mut last = 0;
                while last < 20_000 {
                    let before = board.word(words::CHANGES).load(Ordering::Acquire);
                    let first = words::SLOTS[usize::from(before & 1 == 1)];
                    let [seconds, generation] = [0, 6].map(|at| board.word(first + at).load(Ordering::Relaxed));
                    fence(Ordering::Acquire);
                    if board.word(words::CHANGES).load(Ordering::Relaxed) == before {
                        assert_eq!(seconds, generation);
                        assert!(generation >= last);
                        last = generation;
                    }
                }
            });
            (2..=20_000).for_each(|seconds| board.change(slot(seconds)));
            reader.join().unwrap();
        });
        assert_eq!(board.slot(), slot(20_000));
    }

    #[test]
    fn page_shows_since_when_it_is_unconfirmed() {
        let board = Board::with_image(("main", "http://x"), (slot(1), Sleeps::Native), &[0; 8]).unwrap();
        let unconfirmed = || board.word(words::UNCONFIRMED).load(Ordering::Relaxed);
        assert_eq!(unconfirmed(), 0);
        board.lost();
        let since = unconfirmed();
        assert!(since > 0);
        board.lost();
        assert_eq!(unconfirmed(), since, "since the first time");
        board.confirm();
        assert_eq!(unconfirmed(), 0);
    }

    #[test]
    fn page_bytes_are_parsed() {
        let board = Board::with_image(("main", "http://x"), (slot(1), Sleeps::Native), &[0; 8]).unwrap();
        board.change(Slot { uncertainty: None, ..slot(-5) });
        let read = || {
            let mut bytes = [0; PAGE_BYTES];
            assert_eq!(rustix::io::pread(board.file(), &mut bytes, 0).unwrap(), PAGE_BYTES);
            bytes
        };
        let found = Reading::of(&read()).unwrap();
        let (timeline, service) = ("main".to_owned(), "http://x".to_owned());
        let unbounded = Slot { uncertainty: None, ..slot(-5) };
        assert_eq!(
            found,
            Reading { timeline, service, slot: unbounded, has_virtual_sleeps: false, is_confirmed: true, changes: 2 }
        );
        board.lost();
        assert!(!Reading::of(&read()).unwrap().is_confirmed);
        let mut other = read();
        other[8] = 2;
        assert_eq!(Reading::of(&other), None, "another version");
        assert_eq!(Reading::of(&other[..100]), None);
    }

    #[test]
    fn change_is_settled_after_it_was_seen() {
        let board = Board::with_image(("main", "http://x"), (slot(1), Sleeps::Native), &[0; 8]).unwrap();
        assert!(!board.settle(Duration::ZERO), "nobody has looked");
        board.note_read(board.changes());
        assert!(board.settle(Duration::ZERO));
        board.change(slot(2));
        assert!(!board.settle(Duration::ZERO));
        std::thread::scope(|scope| {
            let waiter = scope.spawn(|| board.settle(Duration::from_mins(2)));
            board.note_read(board.changes());
            assert!(waiter.join().unwrap());
        });
        board.note_read(1);
        assert!(board.settle(Duration::ZERO), "an old look takes nothing back");
    }

    #[test]
    fn clock_page_cannot_be_changed_by_others() {
        let board = Board::with_image(("main", "http://x"), (slot(1), Sleeps::Native), &[0; 8]).unwrap();
        assert!(rustix::io::write(board.file(), b"x").is_err());
        let path = format!("/proc/self/fd/{}", std::os::fd::AsRawFd::as_raw_fd(&board.file()));
        // Root may open it for writing, but the seal prevents changes.
        if let Ok(again) = rustix::fs::open(path, OFlags::RDWR, Mode::empty()) {
            assert!(rustix::io::write(&again, b"x").is_err());
            assert!(rustix::fs::ftruncate(&again, 0).is_err());
            assert!(SharedWords::map(again.as_fd()).is_err());
        }
    }
}
