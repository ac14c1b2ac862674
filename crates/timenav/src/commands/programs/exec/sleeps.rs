//! The options for sleeps and timeouts.

use std::time::Duration;

use timenav_core::time::parse_duration;
use timenav_exec::page::Sleeps;

#[derive(Clone, Copy, Debug, clap::Args)]
pub(crate) struct SleepsOptions {
    /// Which clock sleeps, timeouts and monotonic clocks use. With `native`, that of the host. With `virtual`, at rate
    /// 60 a sleep of a minute takes a second, a jump forward ends it, and a pause holds it.
    #[arg(long, value_enum, value_name = "CLOCK", default_value_t, hide_possible_values = true)]
    sleeps: SleepsOption,
    /// With `--sleeps virtual`, take host time for timeouts and sleeps that are shorter than this, such as for those of
    /// network connections.
    #[arg(long, value_name = "DURATION", value_parser = limit)]
    native_timeouts_below: Option<Duration>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
enum SleepsOption {
    #[default]
    Native,
    Virtual,
}

impl SleepsOptions {
    /// # Errors
    /// The limit is of no use with native sleeps.
    pub(super) fn sleeps(self) -> anyhow::Result<Sleeps> {
        match (self.sleeps, self.native_timeouts_below) {
            (SleepsOption::Native, Some(_)) => {
                anyhow::bail!("--native-timeouts-below needs --sleeps virtual; otherwise all timeouts are native")
            }
            (SleepsOption::Native, None) => Ok(Sleeps::Native),
            (SleepsOption::Virtual, limit) => Ok(Sleeps::Virtual { native_below: limit.unwrap_or_default() }),
        }
    }
}

fn limit(text: &str) -> Result<Duration, String> {
    let duration = parse_duration(text).map_err(|error| error.to_string())?;
    match u64::try_from(duration.exact().micros()) {
        Ok(micros) if duration.months() == 0 => Ok(Duration::from_micros(micros)),
        Ok(_) | Err(_) => Err("write a length such as 500ms or 5s, without months".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limit_is_a_length_without_months() {
        assert_eq!(limit("5s"), Ok(Duration::from_secs(5)));
        assert_eq!(limit("500ms"), Ok(Duration::from_millis(500)));
        for wrong in ["P1M", "-1s", "soon"] {
            assert!(limit(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn limit_needs_virtual_sleeps() {
        let of = |sleeps, native_timeouts_below| SleepsOptions { sleeps, native_timeouts_below }.sleeps().ok();
        let five = Duration::from_secs(5);
        assert_eq!(of(SleepsOption::Native, None), Some(Sleeps::Native));
        assert_eq!(of(SleepsOption::Native, Some(five)), None);
        assert_eq!(of(SleepsOption::Virtual, None), Some(Sleeps::Virtual { native_below: Duration::ZERO }));
        assert_eq!(of(SleepsOption::Virtual, Some(five)), Some(Sleeps::Virtual { native_below: five }));
    }
}
