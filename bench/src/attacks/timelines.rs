use anyhow::bail;
use serde_json::json;

use super::Verdict;
use super::attacker::{Target, ask};
use crate::http::{Connection, request};
use crate::load::count;
use crate::measure::setting::Setting;
use crate::service::block_on;

const TOUCHED: usize = 10_000;
const KILOBYTES_MOST: f64 = 5.0;
const REQUESTS_PER_MINUTE: usize = 30;
const KEYS: usize = 50;

pub(crate) fn run(setting: &Setting) -> anyhow::Result<Vec<Verdict>> {
    let target = Target::start(setting, "timelines", &["--timelines-per-user", "9000"])?;
    let (made, megabytes) = block_on(async {
        let user = target.user("many").await?;
        let mut connection = Connection::open(target.address()).await?;
        let (before, mut made) = (target.service.resident_megabytes()?, 0);
        for number in 0..TOUCHED {
            let body = json!({ "timeline_id": format!("touched-{number}") }).to_string();
            match connection.exchange(&request("POST", "/v1/pause-time", &user, Some(&body))).await? {
                200 => made += 1,
                _ => break,
            }
        }
        anyhow::Ok((made, target.service.resident_megabytes()? - before))
    })?;
    target.service.stop()?;
    Ok(vec![
        Verdict::new(
            "memory of a timeline whose clock was touched",
            megabytes * 1e3 / count(made),
            KILOBYTES_MOST,
            "kB each",
        )
        .with_remark(format!("{megabytes:.1} MB for {made}")),
        Verdict::new("timelines of a user who may make 9 000", count(made), 9_000.0, "timelines"),
    ])
}

pub(crate) fn keys(setting: &Setting) -> anyhow::Result<Vec<Verdict>> {
    let limit = REQUESTS_PER_MINUTE.to_string();
    let target = Target::start(setting, "keys", &[])?;
    let keys = block_on(async {
        let mut connection = Connection::open(target.address()).await?;
        ask(&mut connection, target.admin(), "POST", "/v1/users", Some(&json!({ "user_id": "many" }))).await?;
        let mut keys = Vec::new();
        for _ in 0..KEYS {
            keys.push(target.api_key("many", "many").await?);
        }
        anyhow::Ok(keys)
    })?;
    let target = target.again(&["--requests-per-minute", &limit])?;
    let answered = block_on(async {
        let mut connection = Connection::open(target.address()).await?;
        let mut answered = 0;
        for key in keys.iter().cycle().take(20 * KEYS) {
            match connection.exchange(&request("GET", "/v1/limits", key, None)).await? {
                200 => answered += 1,
                429 => {}
                other => bail!("a request is answered with {other}"),
            }
        }
        Ok(answered)
    })?;
    target.service.stop()?;
    Ok(vec![
        // One or two more are let in while the others are being sent.
        Verdict::new(
            format!("answers to a user with {KEYS} keys"),
            count(answered),
            count(REQUESTS_PER_MINUTE + 3),
            "answers",
        )
        .with_remark(format!("of {} requests, at {REQUESTS_PER_MINUTE} a minute", 20 * KEYS)),
    ])
}
