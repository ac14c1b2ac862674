use crate::ids::{FiringId, QueueId};
use crate::ledger::sha256;
use crate::limits::{ATTEMPTS_IN_ADVANCE_MAX, ATTEMPTS_MAX};
use crate::time::Span;

/// The wait after a firing's first attempt within an advance, in microseconds. It doubles after each attempt: three
/// attempts take less than ten seconds.
const WAIT_IN_ADVANCE_MICROS: i64 = 1_000_000;
/// The first and the longest wait outside of an advance.
const WAIT_MICROS: (i64, i64) = (2_000_000, 300_000_000);
/// The waits between attempts at a webhook of a running clock, in seconds (Standard Webhooks 1.0.0, "Delivery"): three
/// days in total. After the last attempt it has failed.
const WEBHOOK_WAITS_SECONDS: [i64; ATTEMPTS_MAX as usize - 1] =
    [5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400];
/// Webhook waits vary by up to one part in `JITTER`, in both directions.
const JITTER: i64 = 10;
/// Longest wait between two attempts at a webhook, in microseconds.
const WEBHOOK_WAIT_MICROS_MAX: i64 = 86_400_000_000 / JITTER * (JITTER + 1);

/// How soon a failed firing is retried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pace {
    /// Within seconds: an advance waits for it.
    Hurried,
    /// Within minutes: no advance waits for it.
    Steady,
    /// Within days if the service sends it to a webhook, within minutes otherwise: no advance waits for it, and its
    /// clock runs. A receiver may be down for longer than a worker, which fetches its firings when it is back.
    Patient,
}

/// Returns the longest wait between two attempts at a firing of a queue, in microseconds.
#[must_use]
pub fn longest_wait_micros(queue: &QueueId) -> i64 {
    if *queue == QueueId::of_webhooks() { WEBHOOK_WAIT_MICROS_MAX } else { WAIT_MICROS.1 }
}

/// Returns the wait after `attempts`; `None` for no retry. `queue` is the queue it was leased from, if any.
pub(super) fn wait_after(firing_id: &FiringId, queue: Option<&QueueId>, (attempts, pace): (u32, Pace)) -> Option<Span> {
    let attempts_max = if pace == Pace::Hurried { ATTEMPTS_IN_ADVANCE_MAX } else { ATTEMPTS_MAX };
    if attempts >= attempts_max {
        return None;
    }
    let doubled = |first: i64| first.saturating_mul(1 << (attempts - 1).min(32));
    let is_sent = queue.is_some_and(|queue| *queue == QueueId::of_webhooks());
    let (first, longest) = WAIT_MICROS;
    Some(Span::from_micros(match pace {
        Pace::Hurried => doubled(WAIT_IN_ADVANCE_MICROS),
        Pace::Patient if is_sent => webhook_wait_micros(firing_id, attempts),
        Pace::Steady | Pace::Patient => doubled(first).min(longest),
    }))
}

/// Returns the wait of a webhook after `attempts` attempts, in microseconds. The jitter spreads webhooks that failed
/// together. It is derived from the firing id, so every computation gives the same wait.
fn webhook_wait_micros(firing_id: &FiringId, attempts: u32) -> i64 {
    let at = usize::try_from(attempts.saturating_sub(1)).unwrap_or(usize::MAX).min(WEBHOOK_WAITS_SECONDS.len() - 1);
    let wait = WEBHOOK_WAITS_SECONDS[at] * 1_000_000;
    let hash = sha256(&[format!("timenav retry\n{firing_id}\n{attempts}").as_bytes()]);
    let mut bytes = [0; 8];
    bytes.copy_from_slice(&hash.as_bytes()[..8]);
    let (least, room) = (wait - wait / JITTER, 2 * (wait / JITTER));
    least + (u64::from_be_bytes(bytes) % room.unsigned_abs()).cast_signed()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn firing_id(number: u32) -> FiringId {
        FiringId::made(&format!("firing_{number}"))
    }

    fn waits(firing_id: &FiringId, queue: &QueueId, pace: Pace) -> Vec<i64> {
        let wait =
            |attempts| wait_after(firing_id, Some(queue), (attempts, pace)).map(|wait| wait.micros() / 1_000_000);
        let waits: Vec<i64> = (1..).map_while(wait).collect();
        assert!(waits.iter().all(|wait| *wait * 1_000_000 <= longest_wait_micros(queue)));
        waits
    }

    #[test]
    fn webhook_on_a_running_clock_is_retried_for_days() {
        let (webhooks, minute) = (QueueId::of_webhooks(), 60);
        let waits_of = |number| waits(&firing_id(number), &webhooks, Pace::Patient);
        for number in 0..100 {
            let waits = waits_of(number);
            assert_eq!(waits.len(), WEBHOOK_WAITS_SECONDS.len());
            for (wait, expected) in waits.iter().zip(WEBHOOK_WAITS_SECONDS) {
                assert!((expected * 9 / 10 - 1..=expected * 11 / 10).contains(wait), "{wait} and not {expected}");
            }
            assert!(waits.iter().sum::<i64>() > 2 * 24 * 60 * minute, "{waits:?}");
            assert_eq!(waits, waits_of(number), "they are the same whoever asks");
        }
        // Webhooks that failed together are not retried together.
        let seconds: std::collections::BTreeSet<i64> = (0..100).map(|number| waits_of(number)[8]).collect();
        assert!(seconds.len() > 90, "{}", seconds.len());
    }

    #[test]
    fn only_patient_webhooks_are_retried_for_days() {
        let steady = [2, 4, 8, 16, 32, 64, 128, 256, 300];
        let default = QueueId::unnamed();
        assert_eq!(waits(&firing_id(1), &QueueId::of_webhooks(), Pace::Steady), steady);
        assert_eq!(waits(&firing_id(1), &default, Pace::Steady), steady);
        assert_eq!(waits(&firing_id(1), &default, Pace::Patient), steady);
        assert_eq!(waits(&firing_id(1), &QueueId::of_webhooks(), Pace::Hurried), [1, 2]);
    }
}
