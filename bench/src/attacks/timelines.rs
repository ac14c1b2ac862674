use anyhow::bail;
use serde_json::json;

use super::Verdict;
use super::attacker::{Target, ask, block_on};
use crate::http::{Connection, request};
use crate::load::count;
use crate::measure::setting::Setting;

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
        Verdict {
            what: "memory of a timeline whose clock was touched".to_owned(),
            figure: megabytes * 1e3 / count(made),
            most: KILOBYTES_MOST,
            unit: "kB each",
            remark: format!("{megabytes:.1} MB for {made}"),
        },
        Verdict {
            what: "timelines of a user who may make 9 000".to_owned(),
            figure: count(made),
            most: 9_000.0,
            unit: "timelines",
            remark: String::new(),
        },
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
    Ok(vec![Verdict {
        what: format!("answers to a user with {KEYS} keys"),
        figure: count(answered),
        // One or two more are let in while the others are being sent.
        most: count(REQUESTS_PER_MINUTE + 3),
        unit: "answers",
        remark: format!("of {} requests, at {REQUESTS_PER_MINUTE} a minute", 20 * KEYS),
    }])
}
