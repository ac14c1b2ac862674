use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use timenav_core::ids::UserId;

use crate::read::turns::{Turn, Turns};

/// A scan reads the disk at full speed and keeps a core busy, in competition with requests.
pub const SCANS_RUNNING_MAX: usize = 4;
/// Maximum number of concurrent scans per user, so that a single user cannot occupy all slots.
pub const SCANS_RUNNING_PER_USER_MAX: usize = 2;

pub(crate) struct ScanPlaces {
    free: Turns<UserId>,
    ended: Arc<Ended>,
}

/// If the slot is dropped before the end, the scan counts as canceled.
#[derive(Debug)]
pub(crate) struct ScanPlace {
    _turn: Turn<UserId>,
    ended: Option<Arc<Ended>>,
}

#[derive(Debug, Default)]
struct Ended {
    finished: AtomicU64,
    cancelled: AtomicU64,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ScanCounts {
    pub(crate) running: u64,
    pub(crate) finished: u64,
    pub(crate) cancelled: u64,
}

impl Default for ScanPlaces {
    fn default() -> Self {
        Self { free: Turns::new(SCANS_RUNNING_MAX), ended: Arc::default() }
    }
}

impl ScanPlaces {
    pub(crate) fn take(&self, user_id: &UserId) -> Option<ScanPlace> {
        let turn = self.free.try_take(user_id.clone(), SCANS_RUNNING_PER_USER_MAX)?;
        Some(ScanPlace { _turn: turn, ended: Some(Arc::clone(&self.ended)) })
    }

    pub(crate) fn counts(&self) -> ScanCounts {
        ScanCounts {
            running: (SCANS_RUNNING_MAX - self.free.free()) as u64,
            finished: self.ended.finished.load(Ordering::Relaxed),
            cancelled: self.ended.cancelled.load(Ordering::Relaxed),
        }
    }
}

impl ScanPlace {
    /// Frees the slot after a completed scan.
    pub(crate) fn end(mut self) {
        if let Some(ended) = self.ended.take() {
            ended.finished.fetch_add(1, Ordering::Relaxed);
        }
    }
}

impl Drop for ScanPlace {
    fn drop(&mut self) {
        if let Some(ended) = self.ended.take() {
            ended.cancelled.fetch_add(1, Ordering::Relaxed);
            tracing::debug!("a scan was canceled because no request waits for it any more");
        }
    }
}
