//! Sums over rows of timers, firings and advances, which need constant memory.
//!
//! Each row contributes its hash. Sums do not depend on the order, and rows can be removed again. Two tables with the
//! same sum have the same rows, unless an attacker finds rows whose hashes add up.

use timenav_core::ledger::sha256;
use timenav_core::time::Instant;
use timenav_core::timers::DueFiring;

use crate::ports::timer_rows::{AdvanceRow, FiringRow, TimerRow};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::integrity::scan) struct RowSum {
    halves: [u128; 2],
    count: u64,
}

impl RowSum {
    pub(in crate::integrity::scan) const fn count(&self) -> u64 {
        self.count
    }

    pub(in crate::integrity::scan) fn add(&mut self, row: &[u8; 32]) {
        self.combine(row, u128::wrapping_add);
        self.count += 1;
    }

    pub(in crate::integrity::scan) fn remove(&mut self, row: &[u8; 32]) {
        self.combine(row, u128::wrapping_sub);
        self.count = self.count.wrapping_sub(1);
    }

    fn combine(&mut self, row: &[u8; 32], combine: fn(u128, u128) -> u128) {
        for (half, bytes) in self.halves.iter_mut().zip(row.as_chunks().0) {
            *half = combine(*half, u128::from_be_bytes(*bytes));
        }
    }
}

/// Returns the hash of a timer's definition, which excludes its state.
pub(in crate::integrity::scan) fn definition_of(timer: &TimerRow) -> [u8; 32] {
    let TimerRow { timer_id, schedule, deliver, queue, order_key, payload, set_by, set_at, .. } = timer;
    let texts = [timer_id.as_str(), schedule, deliver, queue.as_str(), payload, set_by];
    let text = format!("{texts:?} {order_key:?} {}", set_at.micros());
    *sha256(&[text.as_bytes()]).as_bytes()
}

pub(in crate::integrity::scan) fn of_timer(timer: &TimerRow, definition: &[u8; 32]) -> [u8; 32] {
    let TimerRow { position, next, round, is_cancelled, .. } = timer;
    let text = format!("timer {position} {:?} {round} {is_cancelled} ", next.map(Instant::micros));
    *sha256(&[text.as_bytes(), definition]).as_bytes()
}

pub(in crate::integrity::scan) fn of_firing(firing: &FiringRow) -> [u8; 32] {
    let FiringRow { due_firing, firing_id, timer_id, queue, order_key, state, made, settled, advance, reason } = firing;
    let DueFiring { due, position, round } = due_firing;
    let text = format!(
        "firing {} {position} {round} {firing_id} {timer_id} {queue} {order_key:?} {} {made} {settled:?} {advance:?} {reason:?}",
        due.micros(),
        state.as_str(),
    );
    *sha256(&[text.as_bytes()]).as_bytes()
}

pub(in crate::integrity::scan) fn of_advance(advance: &AdvanceRow) -> [u8; 32] {
    let AdvanceRow { position, advance_id, ended, record } = advance;
    *sha256(&[format!("advance {position} {advance_id} {ended} {record}").as_bytes()]).as_bytes()
}
