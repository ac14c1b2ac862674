use anyhow::bail;

use crate::config::Settings;
use crate::data_folder::{DATABASE_FILE, SIGNING_KEY_FILE};

/// Rejects a command that reads the SQLite file if the service uses PostgreSQL. `instead` is the advice.
pub(in crate::commands) fn check(settings: &Settings, command: &str, instead: &str) -> anyhow::Result<()> {
    let data = settings.data.display();
    if settings.data.join(DATABASE_FILE).exists() {
        return Ok(());
    }
    check_setting(settings, command, instead)?;
    if settings.data.join(SIGNING_KEY_FILE).exists() {
        bail!(
            "there is no database in {data}, only a signing key: if the service keeps everything in PostgreSQL, \
             {instead}; otherwise give the data folder of a service with --data"
        );
    }
    Ok(())
}

/// Like [`check`], but only by the settings: a data folder that does not exist yet contains nothing.
pub(in crate::commands) fn check_setting(settings: &Settings, command: &str, instead: &str) -> anyhow::Result<()> {
    let Some(url) = &settings.store else { return Ok(()) };
    bail!("`timenav {command}` is for the SQLite file, and this service keeps everything in {url}: {instead}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::ServeOptions;

    #[test]
    fn file_commands_are_rejected_for_postgresql_stores() {
        let folder = tempfile::tempdir().unwrap();
        let data = Some(folder.path().to_owned());
        let error_of = |store: Option<&str>| {
            let store = store.map(|url| url.parse().unwrap());
            let options = ServeOptions { data: data.clone(), store, ..ServeOptions::default() };
            let settings = Settings::resolve(options).unwrap();
            check(&settings, "backup", "use pg_dump").map_err(|error| error.to_string())
        };
        assert_eq!(error_of(None), Ok(()), "the command says that there is nothing");
        let refused = error_of(Some("postgres://ada:secret@db/timenav")).unwrap_err();
        assert!(refused.contains("keeps everything in postgres://db/timenav: use pg_dump"), "{refused}");
        std::fs::write(folder.path().join(SIGNING_KEY_FILE), "").unwrap();
        assert!(error_of(None).unwrap_err().contains("if the service keeps everything in PostgreSQL, use pg_dump"));
        std::fs::write(folder.path().join(DATABASE_FILE), "").unwrap();
        assert_eq!(error_of(Some("postgres://db/timenav")), Ok(()), "that file is meant");
    }
}
