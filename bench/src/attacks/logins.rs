use serde_json::json;

use super::Verdict;
use super::attacker::{Target, ask, fetch};
use crate::http::Connection;
use crate::load::count;
use crate::measure::setting::Setting;
use crate::service::block_on;

const PASSPHRASES: usize = 150;
/// Concurrent logins of others. This is less than the limit per address and minute.
const LOGINS: usize = 8;

pub(crate) fn run(setting: &Setting) -> anyhow::Result<Vec<Verdict>> {
    let target = Target::start(setting, "logins", &["--allow-insecure-login"])?;
    let rejected = block_on(async {
        let mut connection = Connection::open(target.address()).await?;
        let password = json!({ "password": "correct horse battery staple" });
        ask(&mut connection, target.admin(), "POST", "/v1/set-password", Some(&password)).await?;
        let (address, key) = (target.address(), target.admin());
        let sealed = json!({ "timeline_id": "main", "data": {}, "encryption_key": "a passphrase" }).to_string();
        let login = json!({ "user_id": "admin", "password": "correct horse battery staple" }).to_string();
        let sealing = async || fetch(address, key, "POST", "/v1/encrypt-data", Some(&sealed)).await;
        let logging_in = async || log_in_once(address, &login).await;
        let sealing = futures_util::future::join_all((0..PASSPHRASES).map(|_| sealing()));
        let logging_in = futures_util::future::join_all((0..LOGINS).map(|_| logging_in()));
        let (_, answers) = futures_util::future::join(sealing, logging_in).await;
        anyhow::Ok(answers.into_iter().filter(|answer| !matches!(answer, Ok(200 | 201))).count())
    })?;
    target.service.stop()?;
    Ok(vec![
        Verdict::new(format!("right passwords refused, of {LOGINS}"), count(rejected), 0.0, "logins")
            .with_remark(format!("beside {PASSPHRASES} passphrases of one user")),
    ])
}

async fn log_in_once(address: std::net::SocketAddr, body: &str) -> anyhow::Result<u16> {
    let mut connection = Connection::open(address).await?;
    let head = format!(
        "POST /v1/login HTTP/1.1\r\nHost: {address}\r\nOrigin: http://{address}\r\nSec-Fetch-Site: same-origin\r\n\
         Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    connection.exchange(head.as_bytes()).await
}
