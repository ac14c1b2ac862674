use crate::limits::{RULE_BYTES_MAX, RULE_COUNT_MAX};

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RuleError {
    #[error("the {what} is empty: write one such as `{example}`")]
    Empty {
        /// "rule" or "cron expression".
        what: &'static str,
        example: &'static str,
    },
    #[error("a rule or cron expression can have at most {RULE_BYTES_MAX} bytes, not {bytes}")]
    TooLong { bytes: usize },
    #[error(
        "`{text}` is not a part of a rule: write a name, `=` and a value, such as `INTERVAL=2`, with `;` between parts"
    )]
    NotAPart { text: String },
    #[error("a rule has no part `{name}`: {instead}")]
    PartUnknown {
        name: String,
        /// The valid names, or what to do instead.
        instead: &'static str,
    },
    #[error("`{name}` is in the rule twice: write it once, with `,` between values")]
    PartTwice { name: &'static str },
    #[error(
        "the rule does not say how often: begin it with `FREQ=`, such as `FREQ=MONTHLY;BYMONTHDAY=31;SKIP=BACKWARD`"
    )]
    FrequencyMissing,
    #[error("`{value}` is not a valid `{name}`: write {expected}")]
    Value {
        /// The part of the rule, or the field of the cron expression.
        name: &'static str,
        value: String,
        expected: &'static str,
    },
    #[error("`{name}` cannot be used with `{with}`: {instead}")]
    NotWith { name: &'static str, with: &'static str, instead: &'static str },
    #[error("`COUNT` can be at most {RULE_COUNT_MAX}, not {count}: end the rule with `UNTIL` instead")]
    CountTooHigh { count: u64 },
    #[error("`{text}` fires too rarely to search for its moments: write it with a longer `FREQ`")]
    TooRare { text: String },
    #[error("`{text}` never fires: no moment from its start to the year 9999 fits all of its parts")]
    NeverFires { text: String },
    #[error("the rule ends before it fires: its first moment is {first}, later than `UNTIL`")]
    EndsBefore { first: String },
    #[error(
        "a cron expression has five fields, minute, hour, day of month, month and weekday, not {fields}{}",
        six_fields(*.fields)
    )]
    CronFields { fields: usize },
    #[error("`{value}` uses `{sign}`, which five-field cron does not support: {instead}")]
    CronSign { value: String, sign: char, instead: String },
    /// A step is larger than its field, so only the first value would match.
    #[error(
        "the step {step} of `{name}` is larger than the maximum of {max}: write a rule such as \
         `FREQ={frequency};INTERVAL={step}`"
    )]
    CronStep {
        name: &'static str,
        step: i64,
        max: i64,
        /// The frequency of a rule that can have that step.
        frequency: &'static str,
    },
    #[error("`{name}` is not supported: {instead}")]
    CronName { name: String, instead: &'static str },
}

const fn six_fields(fields: usize) -> &'static str {
    match fields {
        6 => {
            ": leave out the seconds or the year, or write a rule such as `FREQ=SECONDLY;INTERVAL=30` or \
             `FREQ=YEARLY;BYMONTH=1;BYMONTHDAY=1;UNTIL=20301231`"
        }
        1..=4 => "; write `*` for each field that does not matter, as in `30 9 * * MON-FRI`",
        _ => "; for example `30 9 * * MON-FRI`",
    }
}
