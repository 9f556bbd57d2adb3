//! Numbers as text, as other languages write them by default.

use super::super::{Planted, bug};
use crate::twin::text::number;
use serde_json::Number;
use threadspec_golden::clause;

/// The digits of a number, shortest or so many, and the exponent of the first.
fn digits(double: f64, places: Option<usize>) -> (String, i32) {
    let text = places.map_or_else(|| format!("{double:e}"), |places| format!("{double:.*e}", places - 1));
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let digits = mantissa.trim_start_matches('-').replace('.', "");
    let kept = digits.trim_end_matches('0');
    (if kept.is_empty() { "0" } else { kept }.to_owned(), exponent.parse().unwrap_or(0))
}

/// How a language writes a floating-point number.
struct Style {
    /// Significant digits; the shortest that read back when absent.
    places: Option<usize>,
    /// The exponents of the first digit from and up to which no exponent is written.
    plain: std::ops::Range<i32>,
    /// Whether a whole number has a fraction, written plainly and before an exponent.
    has_fraction: [bool; 2],
    /// The sign or letters before a positive and before a negative exponent.
    signs: [&'static str; 2],
    /// The least number of digits of an exponent.
    width: usize,
}

impl Style {
    fn of(&self, double: f64) -> String {
        let (digits, exponent) = digits(double, self.places);
        let sign = if double.is_sign_negative() { "-" } else { "" };
        let whole = usize::try_from(exponent + 1).unwrap_or(0);
        let is_plain = self.plain.contains(&exponent);
        let fraction = |digits: &str| match (digits, self.has_fraction[usize::from(!is_plain)]) {
            ("", false) => String::new(),
            ("", true) => ".0".to_owned(),
            (digits, _) => format!(".{digits}"),
        };
        if !is_plain {
            let (first, rest) = digits.split_at(1);
            let letter = self.signs[usize::from(exponent < 0)];
            return format!("{sign}{first}{}{letter}{:0>2$}", fraction(rest), exponent.unsigned_abs(), self.width);
        }
        if exponent < 0 {
            return format!("{sign}0.{}{digits}", "0".repeat(exponent.unsigned_abs() as usize - 1));
        }
        let padded = format!("{digits:0<whole$}");
        format!("{sign}{}{}", &padded[..whole], fraction(&padded[whole..]))
    }

    /// A number that JSON writes with a point or an exponent.
    fn of_float(&self, raw: &Number) -> String {
        match raw.as_f64().filter(|_| raw.is_f64()) {
            Some(double) => self.of(double),
            None => number(raw),
        }
    }
}

/// `Double.toString`.
const JAVA: Style = Style { places: None, plain: -3..7, has_fraction: [true, true], signs: ["E", "E-"], width: 1 };
/// `double.ToString()` since .NET Core 3.0.
const DOTNET: Style =
    Style { places: None, plain: -4..15, has_fraction: [false, false], signs: ["E+", "E-"], width: 2 };
/// `%g`.
const SIX: Style = Style { places: Some(6), plain: -4..6, has_fraction: [false, false], signs: ["e+", "e-"], width: 2 };
/// `%.17g`, or PHP with `serialize_precision=17`.
const SEVENTEEN: Style =
    Style { places: Some(17), plain: -4..17, has_fraction: [false, false], signs: ["e+", "e-"], width: 2 };
/// `(string)` in PHP with `precision=14`.
const FOURTEEN: Style =
    Style { places: Some(14), plain: -4..14, has_fraction: [false, true], signs: ["E+", "E-"], width: 1 };
/// `Float#to_s`.
const RUBY: Style = Style { places: None, plain: -4..16, has_fraction: [true, true], signs: ["e+", "e-"], width: 2 };
/// The crate ryu, by which `serde_json` wrote numbers until 2025.
const RYU: Style = Style { places: None, plain: -5..16, has_fraction: [true, false], signs: ["e", "e-"], width: 1 };
/// `fmt.Sprint`.
const GO: Style = Style { places: None, plain: -4..6, has_fraction: [false, false], signs: ["e+", "e-"], width: 2 };

/// As programs that try one digit more until the number reads back: of several texts that do, it need not be the nearest.
fn by_trying(raw: &Number) -> String {
    let Some(double) = raw.as_f64().filter(|_| raw.is_f64()) else { return number(raw) };
    let tried = |places| Style { places: Some(places), plain: -6..21, width: 1, ..GO }.of(double);
    (15..=17).map(tried).find(|text| text.parse() == Ok(double)).unwrap_or_default()
}

pub(in super::super) const BUGS: &[Planted] = &[
    bug("numbers-as-java-writes-doubles", &[clause::JSON_3], |twin| twin.number = |raw| JAVA.of_float(raw)),
    bug("whole-numbers-as-doubles", &[clause::JSON_3], |twin| {
        twin.number = |raw| raw.as_f64().map_or_else(String::new, |double| JAVA.of(double))
    }),
    bug("numbers-as-dotnet-writes-doubles", &[clause::JSON_3], |twin| twin.number = |raw| DOTNET.of_float(raw)),
    bug("numbers-with-six-digits", &[clause::JSON_3], |twin| twin.number = |raw| SIX.of_float(raw)),
    bug("numbers-with-seventeen-digits", &[clause::JSON_3], |twin| twin.number = |raw| SEVENTEEN.of_float(raw)),
    bug("numbers-with-fourteen-digits", &[clause::JSON_3], |twin| twin.number = |raw| FOURTEEN.of_float(raw)),
    bug("numbers-as-ruby-writes-floats", &[clause::JSON_3], |twin| twin.number = |raw| RUBY.of_float(raw)),
    bug("numbers-as-ryu-writes-them", &[clause::JSON_3], |twin| twin.number = |raw| RYU.of_float(raw)),
    bug("numbers-as-go-prints-them", &[clause::JSON_3], |twin| twin.number = |raw| GO.of_float(raw)),
    bug("numbers-by-trying-digits", &[clause::JSON_3], |twin| twin.number = by_trying),
    bug("decimal-point-as-a-comma", &[clause::JSON_3], |twin| twin.number = |raw| number(raw).replace('.', ",")),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_look_as_in_their_languages() {
        for (style, double, text) in [
            (&JAVA, 1.0, "1.0"),
            (&JAVA, 1e7, "1.0E7"),
            (&JAVA, 1.5e-4, "1.5E-4"),
            (&JAVA, 0.001, "0.001"),
            (&JAVA, -123_456.75, "-123456.75"),
            (&DOTNET, 1e15, "1E+15"),
            (&DOTNET, 0.000_01, "1E-05"),
            (&DOTNET, 0.0001, "0.0001"),
            (&DOTNET, -0.0, "-0"),
            (&SIX, 1e6, "1e+06"),
            (&SIX, 2.645_751_311, "2.64575"),
            (&SEVENTEEN, 0.1, "0.10000000000000001"),
            (&FOURTEEN, 0.1 + 0.2, "0.3"),
            (&FOURTEEN, 1e25, "1.0E+25"),
            (&RUBY, 1e16, "1.0e+16"),
            (&RUBY, 100.0, "100.0"),
            (&RYU, 1e16, "1e16"),
            (&RYU, 1.0, "1.0"),
            (&RYU, 5e-324, "5e-324"),
            (&GO, 1e21, "1e+21"),
            (&GO, 1e-7, "1e-07"),
            (&GO, 123_456_789.0, "1.23456789e+08"),
            (&GO, 123_456.5, "123456.5"),
        ] {
            assert_eq!(style.of(double), text);
        }
    }
}
