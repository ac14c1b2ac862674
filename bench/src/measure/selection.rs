//! The named parts of a run, all or some of which are run.

use anyhow::bail;

use crate::measure::setting::Setting;

/// A benchmark or an attack.
pub(crate) struct Part<T> {
    pub(crate) name: &'static str,
    pub(crate) about: &'static str,
    pub(crate) run: fn(&Setting) -> anyhow::Result<Vec<T>>,
}

impl<T> Part<T> {
    pub(crate) const fn new(
        name: &'static str,
        about: &'static str,
        run: fn(&Setting) -> anyhow::Result<Vec<T>>,
    ) -> Self {
        Self { name, about, run }
    }
}

pub(crate) fn list<T>(parts: &[Part<T>]) {
    for part in parts {
        println!("{:<22}{}", part.name, part.about);
    }
}

/// Returns the named parts in their own order, or all if none is named.
pub(crate) fn selected<'a, T>(parts: &'a [Part<T>], names: &[String]) -> anyhow::Result<Vec<&'a Part<T>>> {
    if let Some(unknown) = names.iter().find(|name| parts.iter().all(|part| part.name != **name)) {
        let known: Vec<&str> = parts.iter().map(|part| part.name).collect();
        bail!("`{unknown}` is unknown; known are {}", known.join(", "));
    }
    Ok(parts.iter().filter(|part| names.is_empty() || names.iter().any(|name| name == part.name)).collect())
}
