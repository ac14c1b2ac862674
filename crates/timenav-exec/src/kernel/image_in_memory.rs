//! Tests that call the image like a program does, with a simulated boot clock.

use std::cell::Cell;
use std::ffi::c_void;
use std::time::Duration;

use crate::image::{IMAGE, IMAGE_BYTES_MAX};
use crate::page::{END_SECONDS, Moment, Monotonic, Sleeps, Slot, words};
use crate::vdso::Mapped;

const PAGE: usize = 4096;
const MAPPED: usize = 2 * PAGE + IMAGE_BYTES_MAX;
const TAI_OFFSET: i64 = 37;

thread_local! {
    static BOOT: Cell<Moment> = const { Cell::new(Moment { seconds: 0, nanos: 0 }) };
}

extern "C" fn fake_clock(id: i32, displayed: *mut [i64; 2]) -> i64 {
    // The image reads the boot clock. Other clocks are passed through unchanged.
    let boot = BOOT.get();
    let checked = if id == libc::CLOCK_BOOTTIME { [boot.seconds, boot.nanos] } else { [i64::from(id), 1] };
    // SAFETY: callers pass a `timespec`.
    unsafe { displayed.write(checked) };
    0
}

struct Loaded {
    at: *mut c_void,
    clock_gettime: u64,
    time: u64,
}

impl Loaded {
    fn new(shift: [i64; 2]) -> Self {
        let image = Mapped::read(IMAGE).unwrap();
        let [clock_gettime, time] = ["clock_gettime", "time"].map(|name| image.function(name).unwrap());
        let (writable, private) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
        // SAFETY: a new mapping, which is written within its bounds before it is executed.
        let at = unsafe {
            let at = libc::mmap(std::ptr::null_mut(), MAPPED, writable, private, -1, 0);
            assert_ne!(at, libc::MAP_FAILED);
            let originals = at.cast::<[i64; 7]>();
            let fake = fake_clock as *const c_void as i64;
            originals.write([fake, fake, fake, fake, fake, shift[0], shift[1]]);
            let bytes = image.image_with(&image);
            std::ptr::copy_nonoverlapping(bytes.as_ptr(), at.byte_add(2 * PAGE).cast::<u8>(), bytes.len());
            let code = at.byte_add(2 * PAGE);
            assert_eq!(libc::mprotect(code, IMAGE_BYTES_MAX, libc::PROT_READ | libc::PROT_EXEC), 0);
            at
        };
        Self { at, clock_gettime, time }
    }

    fn set_monotonic(&self, monotonic: &Monotonic) {
        let sleeps = Sleeps::Virtual { native_below: Duration::ZERO };
        // SAFETY: the second page is ours, and nothing reads it concurrently.
        unsafe {
            let page = self.at.byte_add(PAGE).cast::<u64>();
            page.add(words::SLEEPS).write(sleeps.word());
            let other = usize::from(page.add(words::CHANGES).read() & 1 == 1);
            for (index, word) in monotonic.words().into_iter().enumerate() {
                page.add(words::MONOTONIC[other] + index).write(word);
            }
        }
    }

    fn set(&self, slot: &Slot) {
        // SAFETY: the second page is ours, and nothing reads it concurrently.
        unsafe {
            let page = self.at.byte_add(PAGE).cast::<u64>();
            page.add(words::END).write(END_SECONDS.cast_unsigned());
            page.add(words::TAI).write(TAI_OFFSET.cast_unsigned());
            let changes = page.add(words::CHANGES).read() + 1;
            for (index, word) in slot.words().into_iter().enumerate() {
                page.add(words::SLOTS[usize::from(changes & 1 == 1)] + index).write(word);
            }
            page.add(words::CHANGES).write(changes);
        }
    }

    fn read(&self, id: i32, boot: Moment) -> Moment {
        BOOT.set(boot);
        let mut displayed = [0_i64; 2];
        // SAFETY: the image has a function of this type there.
        let code = unsafe {
            let at = self.at.byte_add(2 * PAGE + usize::try_from(self.clock_gettime).unwrap());
            let function: extern "C" fn(i32, *mut [i64; 2]) -> i32 = std::mem::transmute(at);
            function(id, &raw mut displayed)
        };
        assert_eq!(code, 0);
        Moment { seconds: displayed[0], nanos: displayed[1] }
    }

    fn time(&self) -> i64 {
        // SAFETY: the image has a function of this type there.
        unsafe {
            let at = self.at.byte_add(2 * PAGE + usize::try_from(self.time).unwrap());
            let function: extern "C" fn(*mut i64) -> i64 = std::mem::transmute(at);
            function(std::ptr::null_mut())
        }
    }
}

impl Drop for Loaded {
    fn drop(&mut self) {
        // SAFETY: mapped above, and no longer referenced.
        unsafe { libc::munmap(self.at, MAPPED) };
    }
}

const EDGES: [i64; 9] =
    [-377_705_116_800, -62_167_219_200, -1, 0, 1, 2_147_483_648, 4_102_444_800, 253_402_300_798, END_SECONDS];

#[test]
fn image_reads_the_time_of_the_page() {
    let image = Loaded::new([0, 0]);
    let mut looked_at = 0;
    for seconds in EDGES {
        for rate in [1, 333_333, 500_000, 1_000_000, 1_234_567, 3_600_000_000, 1_000_000_000_000] {
            for (is_paused, origin) in [(false, 0), (false, -1_790_000_000), (true, 5)] {
                let slot = Slot {
                    origin_virtual: Moment { seconds, nanos: 999_998_999 },
                    origin_boot: Moment { seconds: origin, nanos: 999_999_999 },
                    rate,
                    is_paused,
                    generation: 1,
                    uncertainty: Some(0),
                };
                image.set(&slot);
                for passed in [-5, 0, 1, 999, 1_000_000, 59_999_999_999, 86_400_000_000_001, 31_536_000_000_000_000] {
                    let boot = Moment::from_nanos(slot.origin_boot.nanos_in_all() + passed);
                    let expected = slot.at(boot);
                    assert_eq!(image.read(0, boot), expected, "{slot:?} {passed}");
                    assert_eq!(image.time(), expected.seconds, "{slot:?} {passed}");
                    looked_at += 1;
                }
            }
        }
    }
    assert!(looked_at > 1_000);
}

#[test]
fn each_clock_id_is_virtual_or_real() {
    let (image, boot) = (Loaded::new([1_000, 5]), Moment { seconds: 1_100, nanos: 5 });
    image.set(&Slot {
        origin_virtual: Moment { seconds: 7, nanos: 0 },
        origin_boot: Moment { seconds: 90, nanos: 0 },
        rate: 1_000_000,
        is_paused: false,
        generation: 1,
        uncertainty: Some(0),
    });
    let displayed = Moment { seconds: 17, nanos: 0 };
    for id in [libc::CLOCK_REALTIME, libc::CLOCK_REALTIME_COARSE, libc::CLOCK_REALTIME_ALARM] {
        assert_eq!(image.read(id, boot), displayed, "the boot clock of another time namespace");
    }
    assert_eq!(image.read(libc::CLOCK_TAI, boot).seconds, 17 + TAI_OFFSET);
    for id in [libc::CLOCK_MONOTONIC, libc::CLOCK_MONOTONIC_RAW, libc::CLOCK_PROCESS_CPUTIME_ID, -6, 40] {
        assert_eq!(image.read(id, boot), Moment { seconds: id.into(), nanos: 1 });
    }
    assert_eq!(image.read(libc::CLOCK_BOOTTIME, boot), boot);
}

#[test]
fn image_reads_the_monotonic_clock_of_the_page() {
    let image = Loaded::new([0, 0]);
    let slot = |seconds: i64, rate: u64, is_paused: bool, origin: i64| Slot {
        origin_virtual: Moment { seconds, nanos: 999_998_999 },
        origin_boot: Moment { seconds: origin, nanos: 7 },
        rate,
        is_paused,
        generation: 1,
        uncertainty: Some(0),
    };
    let boot = |nanos: i64| Moment { seconds: 1_000, nanos };
    let mut before = slot(2_000_000_000, 1_000_000, false, 0);
    let mut monotonic = Monotonic::begin(&before, boot(0));
    for after in [
        slot(2_000_086_400, 1_000_000, false, 0),
        slot(-5, 3_600_000_000, false, 1_000),
        slot(-5, 1, true, 1_000),
        slot(253_402_300_000, 10_000_000_000, false, 1_000),
        slot(0, 333_333, false, -50_000),
    ] {
        monotonic = monotonic.continued(&before, &after, boot(500));
        image.set(&after);
        image.set_monotonic(&monotonic);
        let mut last = Moment::default();
        for nanos in [0, 499, 500, 501, 999_999_999] {
            let displayed = image.read(libc::CLOCK_MONOTONIC, boot(nanos));
            assert_eq!(displayed, Moment::from_nanos(monotonic.at(&after, boot(nanos))), "{after:?} {nanos}");
            assert!(displayed >= last, "it never goes back");
            last = displayed;
            for id in [libc::CLOCK_MONOTONIC_COARSE, libc::CLOCK_BOOTTIME, libc::CLOCK_BOOTTIME_ALARM] {
                assert_eq!(image.read(id, boot(nanos)), displayed);
            }
        }
        assert_eq!(image.read(libc::CLOCK_MONOTONIC_RAW, boot(0)), Moment { seconds: 4, nanos: 1 }, "as it is");
        before = after;
    }
}
