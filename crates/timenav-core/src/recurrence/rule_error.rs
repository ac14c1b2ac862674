//! Errors in rules and cron expressions.

use crate::limits::{RULE_BYTES_MAX, RULE_COUNT_MAX};

/// An error in a rule or a cron expression.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RuleError {
    /// The text is empty.
    #[error("the {what} is empty: write one such as `{example}`")]
    Empty {
        /// "rule" or "cron expression".
        what: &'static str,
        /// A valid example.
        example: &'static str,
    },
    /// The text is longer than [`RULE_BYTES_MAX`].
    #[error("a rule or cron expression can have at most {RULE_BYTES_MAX} bytes, not {bytes}")]
    TooLong { bytes: usize },
    /// A part of a rule is not a name with a value.
    #[error(
        "`{text}` is not a part of a rule: write a name, `=` and a value, such as `INTERVAL=2`, with `;` between parts"
    )]
    NotAPart { text: String },
    /// The name of a part is unknown.
    #[error("a rule has no part `{name}`: {instead}")]
    PartUnknown {
        name: String,
        /// The valid names, or what to do instead.
        instead: &'static str,
    },
    /// A part is repeated.
    #[error("`{name}` is in the rule twice: write it once, with `,` between values")]
    PartTwice { name: &'static str },
    #[error(
        "the rule does not say how often: begin it with `FREQ=`, such as `FREQ=MONTHLY;BYMONTHDAY=31;SKIP=BACKWARD`"
    )]
    FrequencyMissing,
    /// A value is not valid for its part.
    #[error("`{value}` is not a valid `{name}`: write {expected}")]
    Value {
        /// The part of the rule, or the field of the cron expression.
        name: &'static str,
        value: String,
        /// The valid values.
        expected: &'static str,
    },
    /// Two parts cannot be combined.
    #[error("`{name}` cannot be used with `{with}`: {instead}")]
    NotWith {
        name: &'static str,
        with: &'static str,
        /// What to do instead.
        instead: &'static str,
    },
    /// `COUNT` is above [`RULE_COUNT_MAX`].
    #[error("`COUNT` can be at most {RULE_COUNT_MAX}, not {count}: end the rule with `UNTIL` instead")]
    CountTooHigh { count: u64 },
    /// The search for moments of the rule takes too long.
    #[error("`{text}` fires too rarely to search for its moments: write it with a longer `FREQ`")]
    TooRare { text: String },
    /// There is no moment in the range of the calendar.
    #[error("`{text}` never fires: no moment from its start to the year 9999 fits all of its parts")]
    NeverFires { text: String },
    /// The first moment of the rule is after `UNTIL`.
    #[error("the rule ends before it fires: its first moment is {first}, later than `UNTIL`")]
    EndsBefore {
        /// The first moment without `UNTIL`.
        first: String,
    },
    /// The cron expression does not have five fields.
    #[error(
        "a cron expression has five fields, minute, hour, day of month, month and weekday, not {fields}{}",
        six_fields(*.fields)
    )]
    CronFields { fields: usize },
    /// A field uses an extension that some programs support beyond the five plain fields.
    #[error("`{value}` uses `{sign}`, which five-field cron does not support: {instead}")]
    CronSign {
        value: String,
        sign: char,
        /// What to write instead.
        instead: String,
    },
    /// A step is larger than its field, so only the first value would match.
    #[error(
        "the step {step} of `{name}` is larger than the maximum of {max}: write a rule such as \
         `FREQ={frequency};INTERVAL={step}`"
    )]
    CronStep {
        name: &'static str,
        step: i64,
        /// The largest value of the field.
        max: i64,
        /// The frequency of a rule that can have that step.
        frequency: &'static str,
    },
    /// The name of an expression that starts with `@` is unknown.
    #[error("`{name}` is not supported: {instead}")]
    CronName {
        name: String,
        /// What to write instead.
        instead: &'static str,
    },
}

const fn six_fields(fields: usize) -> &'static str {
    match fields {
        6 => {
            ": leave out the seconds or the year, or write a rule such as `FREQ=SECONDLY;INTERVAL=30` or \
             `FREQ=YEARLY;BYMONTH=1;BYMONTHDAY=1;UNTIL=20301231`"
        }
        1..=4 => ", such as `30 9 * * MON-FRI`: write `*` for each field that does not matter",
        _ => ", such as `30 9 * * MON-FRI`",
    }
}
