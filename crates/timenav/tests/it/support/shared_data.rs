//! Real data that is stored outside the repository.

use std::path::{Path, PathBuf};

/// Returns the folder of the shared data, if it exists.
pub(crate) fn folder() -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    path.is_dir().then_some(path)
}

/// Returns a shared file. Prints a message and returns `None` if it does not exist.
pub(crate) fn read(name: &str) -> Option<Vec<u8>> {
    let Some(folder) = folder() else {
        println!("skipped: {name} needs the folder ../shared/data beside the workspace");
        return None;
    };
    Some(std::fs::read(folder.join(name)).unwrap_or_else(|error| panic!("{name}: {error}")))
}
