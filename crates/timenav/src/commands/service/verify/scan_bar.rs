use indicatif::{HumanBytes, ProgressBar, ProgressStyle};
use timenav_core::ids::TimelineId;

use crate::output;

/// A progress line on stderr if that is a terminal. Removed on drop.
pub(super) struct ScanBar {
    bar: ProgressBar,
    timeline: TimelineId,
}

impl ScanBar {
    pub(super) fn new(timeline: &TimelineId) -> Self {
        let style = ProgressStyle::with_template("{msg} {wide_bar} {human_pos}/{human_len} entries, {eta} left");
        let style = style.unwrap_or_else(|_| ProgressStyle::default_bar());
        Self { bar: ProgressBar::new(0).with_style(style), timeline: timeline.clone() }
    }

    pub(super) fn show(&self, stage: &str, entries: u64, entries_total: u64, bytes: u64) {
        // The text may come from a service.
        let stage = output::printable(stage);
        self.bar.set_message(format!("{}, {stage}, {}", self.timeline, HumanBytes(bytes)));
        self.bar.set_length(entries_total);
        self.bar.set_position(entries);
    }
}

impl Drop for ScanBar {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
