//! PostgreSQL: one prepared `INSERT` per commit, by its own pgbench.

use std::fs;
use std::path::PathBuf;

use super::Peer;
use crate::cluster::Cluster;
use crate::history::History;
use crate::measure::setting::Setting;

const DATABASE: &str = "postgres";
const TABLE: &str = "CREATE TABLE events (position bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, content text)";

pub(crate) struct Postgresql<'a> {
    cluster: Cluster<'a>,
    script: PathBuf,
}

impl<'a> Postgresql<'a> {
    pub(crate) fn start(setting: &'a Setting) -> anyhow::Result<Self> {
        let cluster = Cluster::start(setting, "postgresql")?;
        let script = setting.folder.join("postgresql.sql");
        let content = History { named: false }.json(0).replace('\'', "''");
        fs::write(&script, format!("INSERT INTO events (content) VALUES ('{content}');\n"))?;
        cluster.query(DATABASE, &[TABLE])?;
        Ok(Self { cluster, script })
    }
}

impl Peer for Postgresql<'_> {
    fn rate(&self, clients: usize) -> anyhow::Result<f64> {
        self.cluster.pgbench(DATABASE, std::slice::from_ref(&self.script), clients)
    }
}
