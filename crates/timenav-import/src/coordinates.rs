//! Parsing of coordinates: `33.675N`, `-106,475`, `33°40′30″N`, `N 33 40.5`.

use std::borrow::Cow;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Axis {
    Lat,
    Lon,
}

/// Most numbers in one coordinate: degrees, minutes and seconds.
const NUMBERS_MAX: usize = 3;

/// Parses a coordinate in degrees. `None` if it is not valid, or for the other axis.
pub(crate) fn degrees(text: &str, axis: Axis) -> Option<f64> {
    let (sign, numbers) = side(text.trim(), axis);
    let numbers = numbers.trim();
    let (is_negative, numbers) = match numbers.strip_prefix(['-', '\u{2212}']) {
        Some(rest) => (true, rest),
        None => (false, numbers.strip_prefix('+').unwrap_or(numbers)),
    };
    // A letter and a minus sign would be ambiguous.
    if is_negative && sign.is_some() {
        return None;
    }
    let is_mark = |c: char| c.is_whitespace() || "°º'′’\"″”:".contains(c);
    let parts: Vec<&str> = numbers.split(is_mark).filter(|part| !part.is_empty()).collect();
    if parts.is_empty() || parts.len() > NUMBERS_MAX {
        return None;
    }
    let mut value = 0.0;
    let mut worth = 1.0;
    for (place, part) in parts.iter().enumerate() {
        let number = decimal(part)?;
        let is_last = place + 1 == parts.len();
        // Minutes and seconds are below 60, and only the last number can have a fraction.
        if (place > 0 && number >= 60.0) || (!is_last && part.contains(['.', ','])) {
            return None;
        }
        value += number / worth;
        worth *= 60.0;
    }
    Some(if is_negative { -value } else { sign.unwrap_or(1.0) * value })
}

/// Removes the letter before or after the numbers.
fn side(text: &str, axis: Axis) -> (Option<f64>, &str) {
    let (positive, negative) = match axis {
        Axis::Lat => ('N', 'S'),
        Axis::Lon => ('E', 'W'),
    };
    for (letter, sign) in [(positive, 1.0), (negative, -1.0)] {
        let is_letter = |c: char| c.eq_ignore_ascii_case(&letter);
        if let Some(numbers) = text.strip_suffix(is_letter).or_else(|| text.strip_prefix(is_letter)) {
            return (Some(sign), numbers);
        }
    }
    (None, text)
}

/// A comma is a decimal comma, because degrees have no thousands separators. An exponent is allowed.
fn decimal(text: &str) -> Option<f64> {
    let text = &*with_point(text)?;
    let is_digit = |byte: u8| byte.is_ascii_digit();
    let is_right = text.bytes().all(|byte| is_digit(byte) || matches!(byte, b'.' | b'e' | b'E' | b'-' | b'+'))
        && text.bytes().any(is_digit)
        && text.bytes().next().is_some_and(|first| is_digit(first) || first == b'.');
    is_right.then(|| text.parse().ok()).flatten().filter(|number: &f64| number.is_finite())
}

pub(crate) fn with_point(text: &str) -> Option<Cow<'_, str>> {
    let Some((whole, fraction)) = text.split_once(',') else { return Some(Cow::Borrowed(text)) };
    let is_between =
        whole.ends_with(|c: char| c.is_ascii_digit()) && fraction.starts_with(|c: char| c.is_ascii_digit());
    (is_between && !text.contains('.') && !fraction.contains(',')).then(|| Cow::Owned(format!("{whole}.{fraction}")))
}

/// Parses a latitude and a longitude in one text: `33.675N 106.475W`, `33.675, -106.475`, `(33.7;-106.5)`. Letters
/// determine the axis. Without them the latitude comes first, or second with `is_lon_first`.
pub(crate) fn pair(text: &str, is_lon_first: bool) -> Option<(f64, f64)> {
    let text = text.trim().trim_start_matches(['(', '[']).trim_end_matches([')', ']']).trim();
    let (start, rest) = text.split_at_checked("POINT".len()).unwrap_or(("", text));
    let text = if start.eq_ignore_ascii_case("POINT") { rest.trim().trim_start_matches('(') } else { text };
    let (first, second) = halves(text)?;
    let in_order = |lat: &str, lon: &str| Some((degrees(lat, Axis::Lat)?, degrees(lon, Axis::Lon)?));
    if is_lon_first || is_of_lon(first) { in_order(second, first) } else { in_order(first, second) }
}

fn has_comma(text: &str) -> bool {
    text.contains(',') && with_point(text).is_some()
}

fn is_of_lon(text: &str) -> bool {
    let is_side = |c: char| matches!(c.to_ascii_uppercase(), 'E' | 'W');
    text.trim().ends_with(is_side) || text.trim().starts_with(is_side)
}

/// Splits the text at a semicolon, a slash or a comma, otherwise after the first letter, otherwise at blanks.
fn halves(text: &str) -> Option<(&str, &str)> {
    for separator in [';', '/'] {
        if let Some(halves) = text.split_once(separator) {
            return Some(halves);
        }
    }
    // Two decimal commas: `48,8566 2,3522`.
    let blank = text.split_once(' ').map(|(first, second)| (first, second.trim()));
    if let Some((first, second)) = blank.filter(|(first, second)| has_comma(first) && has_comma(second)) {
        return Some((first, second));
    }
    if let Some(halves) = text.split_once(',') {
        return Some(halves);
    }
    let is_side = |c: char| matches!(c.to_ascii_uppercase(), 'N' | 'S' | 'E' | 'W');
    let digits = text.find(|c: char| c.is_ascii_digit())?;
    if let Some(letter) = text[digits..].find(is_side) {
        let begins_with_side = text.starts_with(is_side);
        let cut = digits + letter + usize::from(!begins_with_side);
        return Some(text.split_at(cut)).filter(|(_, second)| !second.trim().is_empty());
    }
    let mut parts = text.split_whitespace();
    match (parts.next(), parts.next(), parts.next()) {
        (Some(_), Some(_), None) => text.split_once(char::is_whitespace),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, axis: Axis, expected: Option<f64>) {
        let found = degrees(text, axis);
        let is_near = match (found, expected) {
            (Some(found), Some(expected)) => (found - expected).abs() < 1e-9,
            (found, expected) => found == expected,
        };
        assert!(is_near, "{text}: {found:?}");
    }

    #[test]
    fn degrees_with_sides_minutes_and_seconds_are_parsed() {
        check("33.675N", Axis::Lat, Some(33.675));
        check("106.475W", Axis::Lon, Some(-106.475));
        check("s 12.5", Axis::Lat, Some(-12.5));
        check("-12.5", Axis::Lat, Some(-12.5));
        check("+1e1", Axis::Lat, Some(10.0));
        check("33°40′30″N", Axis::Lat, Some(33.675));
        check("33 40 30 N", Axis::Lat, Some(33.675));
        check("33:40.5", Axis::Lat, Some(33.675));
        check("-33°40'30\"", Axis::Lat, Some(-33.675));
        check("33,675N", Axis::Lat, Some(33.675));
        check("-33°40,5'", Axis::Lat, Some(-33.675));
        for wrong in ["", "N", "33.675E", "-33N", "33 60", "33.5 10", "1 2 3 4", "nan", "inf", "1N2", "NN1", "1,", ",5"]
        {
            check(wrong, Axis::Lat, None);
        }
        for wrong in ["1.234,5", "1,2,3", "33,5 10", "1,5.0"] {
            check(wrong, Axis::Lat, None);
        }
    }

    #[test]
    fn coordinate_pair_is_parsed_from_one_text() {
        let texts = "33.675N 106.475W|33.675N106.475W|106.475W 33.675N|N33.675 W106.475|33.675, -106.475|\
                     (33.675;-106.475)|33.675 -106.475|33,675; -106,475|33,675 -106,475|33,675N 106,475W";
        for text in texts.split('|') {
            assert_eq!(pair(text, false), Some((33.675, -106.475)), "{text}");
        }
        assert_eq!(pair("POINT (-106.475 33.675)", true), Some((33.675, -106.475)));
        assert_eq!(pair("Point(-106.475 33.675)", true), Some((33.675, -106.475)));
        for wrong in ["", "1", "1 2 3", "33N 34N", "x, y", "1,", "33.675N"] {
            assert_eq!(pair(wrong, false), None, "{wrong}");
        }
    }

    proptest::proptest! {
        #[test]
        fn parsing_arbitrary_coordinates_does_not_panic(text in "(\\PC|[-0-9.NSEWnsew°' ,]){0,30}") {
            let _ = (degrees(&text, Axis::Lat), pair(&text, false), pair(&text, true));
        }
    }
}
