use std::path::Path;

use anyhow::Context as _;
use indicatif::{ProgressBar, ProgressStyle};

/// Copies a consistent snapshot of a database. Returns its size in bytes.
pub(in crate::commands) fn copy_database(from: &Path, to: &Path) -> anyhow::Result<u64> {
    let style = ProgressStyle::with_template("copying {wide_bar} {bytes}/{total_bytes}, {eta} left");
    let bar = ProgressBar::new(0).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
    let bar_clone = bar.clone();
    let copied = timenav_store::copy(from, to, move |written, at_most| {
        bar_clone.set_length(at_most.max(written));
        bar_clone.set_position(written);
    });
    bar.finish_and_clear();
    copied.with_context(|| format!("the database {} could not be copied", from.display()))
}
