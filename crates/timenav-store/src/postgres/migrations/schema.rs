//! Compares the schema of a database with the one that the migrations create.

use std::collections::BTreeSet;

use timenav_engine::StoreError;

use crate::postgres::connection::sessions::Object;
use crate::postgres::migrations;
use crate::postgres::transaction::batch::rows;
use crate::postgres::values::{Failed, get};

/// The schema after all migrations, one object per line. It includes everything that could make the database execute
/// something: triggers, rules, row policies, inheritance.
const LAYOUT: &str = include_str!("../../../migrations/postgres/layout.txt");

/// Reads everything about tables with these names in the current schema. Other tables may exist too, such as those of
/// an extension. In a distributed table, Citus has a trigger that forwards TRUNCATE to the workers. Only the owner of
/// the server can create another trigger with that name.
const SELECT: &str = "WITH tables AS (
        SELECT c.oid, c.relname, c.relkind, c.relrowsecurity, c.relpersistence FROM pg_class c
        JOIN pg_namespace n ON n.oid = c.relnamespace
        WHERE n.nspname = current_schema() AND c.relname = ANY($1))
    SELECT 'relation ' || relname || ' ' || relkind::text || ' ' || relpersistence::text
        || CASE WHEN relrowsecurity THEN ' row security' ELSE '' END FROM tables
    UNION ALL SELECT 'column ' || relname || '.' || attname || ' ' || format_type(atttypid, atttypmod)
        || CASE WHEN attnotnull THEN ' not null' ELSE '' END
        || CASE WHEN atthasdef THEN ' default' ELSE '' END
        || CASE WHEN co.collname IS NULL THEN '' ELSE ' ' || co.collname END
        FROM tables JOIN pg_attribute a ON a.attrelid = tables.oid
        LEFT JOIN pg_collation co ON co.oid = a.attcollation
        WHERE attnum > 0 AND NOT attisdropped
    UNION ALL SELECT 'index ' || replace(pg_get_indexdef(i.indexrelid), current_schema() || '.', '')
        || CASE WHEN i.indisvalid THEN '' ELSE ' invalid' END
        FROM tables JOIN pg_index i ON i.indrelid = tables.oid
    UNION ALL SELECT 'check ' || relname || ' ' || pg_get_constraintdef(k.oid)
        FROM tables JOIN pg_constraint k ON k.conrelid = tables.oid WHERE k.contype NOT IN ('p', 'u', 'n')
    UNION ALL SELECT 'trigger ' || relname || ' ' || tgname
        FROM tables JOIN pg_trigger t ON t.tgrelid = tables.oid
        JOIN pg_proc p ON p.oid = t.tgfoid JOIN pg_namespace n ON n.oid = p.pronamespace
        WHERE NOT (n.nspname = 'pg_catalog' AND p.proname = 'citus_truncate_trigger' AND t.tgtype = 32)
    UNION ALL SELECT 'rule ' || relname || ' ' || rulename
        FROM tables JOIN pg_rewrite r ON r.ev_class = tables.oid
    UNION ALL SELECT 'policy ' || relname || ' ' || polname
        FROM tables JOIN pg_policy p ON p.polrelid = tables.oid
    UNION ALL SELECT 'inherits ' || relname
        FROM tables JOIN pg_inherits h ON h.inhrelid = tables.oid OR h.inhparent = tables.oid";

pub(in crate::postgres) async fn check(on: &Object) -> Result<(), Failed> {
    match differences(on).await?.into_iter().next() {
        None => Ok(()),
        Some(difference) => Err(StoreError::Damaged(difference).into()),
    }
}

/// Returns the differences, one sentence each.
pub(in crate::postgres) async fn differences(on: &Object) -> Result<Vec<String>, Failed> {
    let tables = LAYOUT.lines().filter_map(|line| line.strip_prefix("relation ")?.split(' ').next());
    let tables: Vec<&str> = tables.collect();
    let found = rows(on, SELECT, &[&tables]).await?;
    let found = found.iter().map(|row| get(row, 0)).collect::<Result<_, _>>()?;
    Ok(compare(found, &migrations::to_come(on).await?))
}

/// Compares the schema with the expected one, without tables and columns that the database does not have yet.
fn compare(found: Vec<String>, to_come: &[&str]) -> Vec<String> {
    let found: BTreeSet<String> = found.into_iter().collect();
    let is_there = |line: &&str| !to_come.iter().any(|name| is_about(line, name));
    let expected: BTreeSet<String> = LAYOUT.lines().filter(is_there).map(str::to_owned).collect();
    let missing = expected.difference(&found).map(|line| format!("the database lacks this: {line}"));
    let others = found.difference(&expected).map(|line| format!("timenav did not create this: {line}"));
    others.chain(missing).collect()
}

/// Returns whether a line of the layout is about a table, ` name ` or ` name.column`, or about a column.
fn is_about(line: &str, name: &str) -> bool {
    let name = format!(" {name}");
    let mut after = line.match_indices(&name).map(|(at, found)| &line[at + found.len()..]);
    after.any(|after| after.starts_with([' ', '.']))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pending_table_may_be_absent_and_is_reported_if_present() {
        let (later, all): (Vec<&str>, Vec<&str>) = LAYOUT.lines().partition(|line| is_about(line, "followers"));
        assert_eq!(later.len(), 13, "ten columns, two indexes and the table: {later:?}");
        let before: Vec<String> = all.iter().map(|line| (*line).to_owned()).collect();
        assert!(compare(before.clone(), &["followers"]).is_empty());
        assert_eq!(compare(before, &[]).len(), later.len());
        assert_eq!(compare(LAYOUT.lines().map(str::to_owned).collect(), &["followers"]).len(), later.len());
    }

    #[test]
    fn pending_column_may_be_absent_and_is_reported_if_present() {
        let to_come = ["permissions.expires_at"];
        let (later, all): (Vec<&str>, Vec<&str>) = LAYOUT.lines().partition(|line| is_about(line, to_come[0]));
        assert_eq!(later, ["column permissions.expires_at bigint"]);
        assert!(compare(all.iter().map(|line| (*line).to_owned()).collect(), &to_come).is_empty());
        assert_eq!(
            compare(LAYOUT.lines().map(str::to_owned).collect(), &to_come),
            ["timenav did not create this: column permissions.expires_at bigint"]
        );
    }

    #[test]
    fn added_and_missing_schema_objects_are_reported() {
        assert!(compare(LAYOUT.lines().map(str::to_owned).collect(), &[]).is_empty());
        let mut found: Vec<String> = LAYOUT.lines().skip(1).map(str::to_owned).collect();
        found.push("trigger entries forge".to_owned());
        let differences = compare(found, &[]);
        assert_eq!(differences.len(), 2, "{differences:?}");
        assert_eq!(differences[0], "timenav did not create this: trigger entries forge");
    }
}
