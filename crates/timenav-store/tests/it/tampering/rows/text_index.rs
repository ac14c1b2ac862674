//! A changed index of words hides events from searches by text. It is checked with `system`, like other indexes.

use timenav_core::words::WORDS_VERSION;

use crate::tampering::*;

/// Adds a block without words for a range of positions of `main`.
fn plant(house: &House, end: u64) {
    let connection = connect(house);
    connection.execute_batch("DELETE FROM text_words; DELETE FROM text_blocks").unwrap();
    let insert = "INSERT INTO text_blocks (timeline, block, first, end, level, state, words_version)
        VALUES (?1, 1, 0, ?2, 0, 0, ?3)";
    connection.execute(insert, (MAIN, end.cast_signed(), WORDS_VERSION.cast_signed())).unwrap();
}

#[tokio::test]
async fn index_without_the_words_of_events_is_reported() {
    let house = lived_in().await;
    clean(&house).await;
    plant(&house, 300);
    let findings = evidence(&house, "system").await;
    let expected = "state-mismatch: table text_words, timeline 2: its 0 positions of words are not the";
    assert!(findings.iter().any(|one| one.starts_with(expected)), "{findings:#?}");
    plant(&house, 99_999);
    let findings = evidence(&house, "system").await;
    assert!(findings.iter().any(|one| one.ends_with("timeline 2: its blocks end after the ledger")), "{findings:#?}");
}

#[tokio::test]
async fn missing_index_is_built_again() {
    let house = lived_in().await;
    connect(&house).execute_batch("DELETE FROM text_words; DELETE FROM text_blocks").unwrap();
    clean(&house).await;
    let home = house.open().await;
    let is_built = || {
        let select = "SELECT EXISTS (SELECT 1 FROM text_blocks WHERE timeline = ?1 AND state = 0)";
        connect(&house).query_row(select, [MAIN], |row| row.get::<_, bool>(0)).unwrap()
    };
    while !is_built() {
        tokio::task::yield_now().await;
    }
    home.close().await;
    clean(&house).await;
}
