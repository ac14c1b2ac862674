//! Real input that is kept beside the project, not in it.

use std::path::{Path, PathBuf};

/// Returns where the shared data is, if it is there.
pub(crate) fn folder() -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    path.is_dir().then_some(path)
}

/// Returns the bytes of a shared file. Says so and returns `None` where there is none.
pub(crate) fn read(name: &str) -> Option<Vec<u8>> {
    let Some(folder) = folder() else {
        println!("skipped: {name} needs the folder ../shared/data beside the workspace");
        return None;
    };
    Some(std::fs::read(folder.join(name)).unwrap_or_else(|error| panic!("{name}: {error}")))
}
