//! Messages of the library to the supervisor (`preload/tell.c`).

use rustix::event::Timespec;

use crate::inspect::OutOfReach;
use crate::page::Moment;

const NANOS: i64 = 1_000_000_000;
/// Largest message: the path of a program, and the header.
pub(super) const BYTES_MAX: usize = 4096 + 16;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Message {
    /// A timer was set to a date. The message includes its descriptor.
    Timer {
        until: Moment,
        interval: Timespec,
        /// Bounds for its end on the monotonic clock, in nanoseconds.
        ends: (i128, i128),
    },
    /// A program that will not be on the clock is about to be executed.
    Program { reason: OutOfReach, path: String },
}

impl Message {
    /// Decodes a message; `None` if the bytes are not valid.
    pub(super) fn read(bytes: &[u8]) -> Option<Self> {
        let word = |at: usize| bytes.get(at * 8..at * 8 + 8)?.try_into().ok().map(i64::from_ne_bytes);
        match word(0)? {
            1 => {
                let is_right = |seconds: i64, nanos: i64| seconds >= 0 && (0..NANOS).contains(&nanos);
                let (until, interval) = ((word(1)?, word(2)?), (word(3)?, word(4)?));
                if !is_right(until.0, until.1) || !is_right(interval.0, interval.1) {
                    return None;
                }
                let until = Moment { seconds: until.0, nanos: until.1 };
                let interval = Timespec { tv_sec: interval.0, tv_nsec: interval.1 };
                Some(Self::Timer { until, interval, ends: (word(5)?.into(), word(6)?.into()) })
            }
            2 => {
                let reason = OutOfReach::numbered(word(1)?)?;
                Some(Self::Program { reason, path: String::from_utf8_lossy(bytes.get(16..)?).into_owned() })
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(words: &[i64]) -> Vec<u8> {
        words.iter().flat_map(|word| word.to_ne_bytes()).collect()
    }

    #[test]
    fn valid_messages_are_read_and_others_rejected() {
        let timer = Message::Timer {
            until: Moment { seconds: 5, nanos: 6 },
            interval: Timespec { tv_sec: 7, tv_nsec: 8 },
            ends: (9, 10),
        };
        assert_eq!(Message::read(&words(&[1, 5, 6, 7, 8, 9, 10])), Some(timer));
        let program = Message::Program { reason: OutOfReach::Static, path: "/bin/x".to_owned() };
        assert_eq!(Message::read(&[words(&[2, 1]), b"/bin/x".to_vec()].concat()), Some(program));
        for wrong in [&[][..], &[1], &[1, 5, 6, 7, 8, 9], &[1, 5, NANOS, 0, 0, 0, 0], &[2], &[2, 0], &[2, 9], &[3]] {
            assert_eq!(Message::read(&words(wrong)), None, "{wrong:?}");
        }
    }
}
