//! Numbers as text, as other languages write them by default.

use crate::plants::prelude::*;

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
}

const fn style(
    places: Option<usize>,
    plain: std::ops::Range<i32>,
    has_fraction: [bool; 2],
    signs: [&'static str; 2],
    width: usize,
) -> Style {
    Style { places, plain, has_fraction, signs, width }
}

/// `Double.toString`.
const JAVA: Style = style(None, -3..7, [true, true], ["E", "E-"], 1);
/// `double.ToString()` since .NET Core 3.0.
const DOTNET: Style = style(None, -4..15, [false, false], ["E+", "E-"], 2);
/// `%g`.
const SIX: Style = style(Some(6), -4..6, [false, false], ["e+", "e-"], 2);
/// `%.17g`, or PHP with `serialize_precision=17`.
const SEVENTEEN: Style = style(Some(17), -4..17, [false, false], ["e+", "e-"], 2);
/// `(string)` in PHP with `precision=14`.
const FOURTEEN: Style = style(Some(14), -4..14, [false, true], ["E+", "E-"], 1);
/// `Float#to_s`.
const RUBY: Style = style(None, -4..16, [true, true], ["e+", "e-"], 2);
/// The crate ryu, by which `serde_json` wrote numbers until 2025.
const RYU: Style = style(None, -5..16, [true, false], ["e", "e-"], 1);
/// `fmt.Sprint`.
const GO: Style = style(None, -4..6, [false, false], ["e+", "e-"], 2);

/// As programs that try one digit more until the number reads back: of several texts that do, it need not be the nearest.
fn by_trying(double: f64) -> String {
    let tried = |places| style(Some(places), -6..21, [false, false], ["e+", "e-"], 1).of(double);
    (15..=17).map(tried).find(|text| text.parse() == Ok(double)).unwrap_or_default()
}

pub(super) fn bugs() -> Vec<Planted> {
    let of_floats: [(&str, fn(f64) -> String); 9] = [
        ("numbers-as-java-writes-doubles", |double| JAVA.of(double)),
        ("numbers-as-dotnet-writes-doubles", |double| DOTNET.of(double)),
        ("numbers-with-six-digits", |double| SIX.of(double)),
        ("numbers-with-seventeen-digits", |double| SEVENTEEN.of(double)),
        ("numbers-with-fourteen-digits", |double| FOURTEEN.of(double)),
        ("numbers-as-ruby-writes-floats", |double| RUBY.of(double)),
        ("numbers-as-ryu-writes-them", |double| RYU.of(double)),
        ("numbers-as-go-prints-them", |double| GO.of(double)),
        ("numbers-by-trying-digits", by_trying),
    ];
    // Those that JSON writes with a point or an exponent.
    let of_floats = of_floats
        .map(|(name, written)| odd_number(name, JSON_3, move |raw, double| raw.is_f64().then(|| written(double))));
    let of_all = odd_number("whole-numbers-as-doubles", JSON_3, |_, double| Some(JAVA.of(double)));
    of_floats.into_iter().chain([of_all]).collect()
}

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
