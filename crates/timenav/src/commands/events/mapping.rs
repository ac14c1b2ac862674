//! `timenav mapping`: saved mappings for `timenav import --map NAME`.

use std::fs;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use clap::Subcommand;
use timenav_import::Mapping;
use timenav_import::limits::MAPPING_BYTES_MAX;

use crate::exit::Failure;
use crate::output;
use crate::wiring::surroundings::Surroundings;

const FOLDER: &str = "timenav/mappings";
const EXTENSION: &str = "json";
/// Maximum length of a name, in bytes. File systems allow 255 including the extension.
const NAME_BYTES_MAX: usize = 128;

/// Stores named mappings for `timenav import --map NAME`.
///
/// They are files in `timenav/mappings` in your configuration folder: `XDG_CONFIG_HOME`, else `~/.config`; on Windows
/// `APPDATA`.
#[derive(Debug, clap::Args)]
pub(crate) struct MappingCommand {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Saves a mapping. Replaces a mapping of the same name.
    Save {
        /// The name: letters, digits, `-`, `_` and `.`.
        name: String,
        /// The file with the mapping; `-` is standard input.
        file: PathBuf,
    },
    /// Lists the names.
    List,
    /// Prints a mapping.
    Show {
        /// The name.
        name: String,
    },
    /// Removes a mapping.
    Remove {
        /// The name.
        name: String,
    },
}

pub(crate) fn run(command: MappingCommand, surroundings: &Surroundings) -> Result<(), Failure> {
    let folder = folder(surroundings)?;
    match command.action {
        Action::Save { name, file } => {
            let path = path_of(&folder, &name)?;
            let mapping = read(&file)?;
            fs::create_dir_all(&folder).with_context(|| format!("{} cannot be created", folder.display()))?;
            fs::write(&path, mapping).with_context(|| format!("{} cannot be written", path.display()))?;
            output::write(&format!("saved {}\n", path.display()))
        }
        Action::List => output::write(&names(&folder)?.into_iter().map(|name| name + "\n").collect::<String>()),
        Action::Show { name } => output::write(&(named(&folder, &name)?.trim_end().to_owned() + "\n")),
        Action::Remove { name } => {
            named(&folder, &name)?;
            let path = path_of(&folder, &name)?;
            fs::remove_file(&path).with_context(|| format!("{} cannot be removed", path.display()))?;
            output::write(&format!("removed {}\n", path.display()))
        }
    }
}

/// Returns the mapping for `--map`: inline JSON, a file (`@mapping.json`), or a saved name.
pub(in crate::commands) fn resolved(map: &str, surroundings: &Surroundings) -> anyhow::Result<String> {
    if let Some(file) = map.strip_prefix('@') {
        return read(Path::new(file));
    }
    if map.trim().is_empty() || map.contains('=') || map.trim_start().starts_with('{') {
        return Ok(map.to_owned());
    }
    named(&folder(surroundings)?, map)
}

fn folder(surroundings: &Surroundings) -> anyhow::Result<PathBuf> {
    let folder = surroundings.config_folder.as_ref().map(|folder| folder.join(FOLDER));
    folder.context("there is no folder for your configuration; set XDG_CONFIG_HOME or HOME, or use --map @FILE")
}

fn path_of(folder: &Path, name: &str) -> anyhow::Result<PathBuf> {
    let is_right = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    if name.is_empty() || name.len() > NAME_BYTES_MAX || name.starts_with('.') || !name.bytes().all(is_right) {
        bail!("`{name}` is not a name for a mapping; use letters, digits, `-`, `_` and `.`, at most {NAME_BYTES_MAX}");
    }
    Ok(folder.join(format!("{name}.{EXTENSION}")))
}

fn named(folder: &Path, name: &str) -> anyhow::Result<String> {
    let path = path_of(folder, name)?;
    if !path.exists() {
        let names = names(folder)?;
        let known =
            if names.is_empty() { "none is saved".to_owned() } else { format!("there are {}", names.join(", ")) };
        bail!("there is no mapping `{name}` ({known}); write one such as `time=when`, or @FILE, or save it first");
    }
    read(&path)
}

fn names(folder: &Path) -> anyhow::Result<Vec<String>> {
    if !folder.exists() {
        return Ok(Vec::new());
    }
    let entries = fs::read_dir(folder).with_context(|| format!("{} cannot be read", folder.display()))?;
    let paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
    let mappings = paths.filter(|path| path.extension().is_some_and(|extension| extension == EXTENSION));
    let mut names: Vec<String> = mappings.filter_map(|path| Some(path.file_stem()?.to_str()?.to_owned())).collect();
    names.sort_unstable();
    Ok(names)
}

fn read(file: &Path) -> anyhow::Result<String> {
    let path_text = file.display();
    let mut text = String::new();
    let bytes_max = u64::try_from(MAPPING_BYTES_MAX).unwrap_or(u64::MAX) + 1;
    let read = if file == Path::new("-") {
        io::stdin().take(bytes_max).read_to_string(&mut text)
    } else {
        fs::File::open(file).and_then(|file| file.take(bytes_max).read_to_string(&mut text))
    };
    read.with_context(|| format!("{path_text} cannot be read"))?;
    Mapping::parse(&text).with_context(|| format!("{path_text} has no mapping"))?;
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mapping_is_read_from_text_file_or_name() {
        let home = tempfile::tempdir().unwrap();
        let surroundings = Surroundings { config_folder: Some(home.path().to_owned()), ..Surroundings::default() };
        let resolved = |map: &str| resolved(map, &surroundings).map_err(|error| format!("{error:#}"));
        assert_eq!(resolved("time=when").unwrap(), "time=when");
        assert_eq!(resolved(" {\"time\": \"when\"}").unwrap(), " {\"time\": \"when\"}");
        assert_eq!(resolved("").unwrap(), "");
        let error = resolved("quakes").unwrap_err();
        assert!(error.starts_with("there is no mapping `quakes` (none is saved)"), "{error}");
        let file = home.path().join("m.json");
        fs::write(&file, "{\"time\": \"when\"}\n").unwrap();
        assert_eq!(resolved(&format!("@{}", file.display())).unwrap(), "{\"time\": \"when\"}\n");
        fs::write(&file, "{\"tmie\": \"when\"}\n").unwrap();
        let error = resolved(&format!("@{}", file.display())).unwrap_err();
        assert!(error.contains("did you mean `time`?"), "{error}");
        for wrong in ["../m", ".m", "a/b", "a b"] {
            assert!(path_of(home.path(), wrong).is_err(), "{wrong}");
        }
    }
}
