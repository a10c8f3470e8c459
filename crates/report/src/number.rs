//! Numbers as people read and write them.

use std::time::Duration;

/// `1234567` as `1,234,567`.
pub fn grouped(n: u64) -> String {
    grouped_digits(&n.to_string())
}

/// The same for a number of any size that is written out already.
pub fn grouped_digits(digits: &str) -> String {
    let mut out = String::with_capacity(digits.len() * 4 / 3);
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// `1 state`, `2 states`.
pub fn count_of(n: u64, thing: &str) -> String {
    format!("{} {thing}{}", grouped(n), if n == 1 { "" } else { "s" })
}

/// Bytes with a binary unit, such as `12.5 MiB`.
pub fn bytes(n: usize) -> String {
    let mut value = n as f64;
    let mut unit = "B";
    for next in ["KiB", "MiB", "GiB", "TiB"] {
        if value < 1024.0 {
            break;
        }
        value /= 1024.0;
        unit = next;
    }
    if unit == "B" { format!("{n} B") } else { format!("{value:.1} {unit}") }
}

/// A rate such as `4.2 M/s`.
pub fn rate(count: u64, time: Duration) -> String {
    let rate = count as f64 / time.as_secs_f64().max(1e-9);
    match rate {
        r if r >= 1e6 => format!("{:.2} M/s", r / 1e6),
        r if r >= 1e3 => format!("{:.0} k/s", r / 1e3),
        r => format!("{r:.0} /s"),
    }
}

/// Fewer bytes than this are hardly meant where no unit is given.
const LEAST_BYTES: f64 = (1 << 20) as f64;

/// A size such as `512M`, `2G`, `64MiB` or `1000000`.
pub fn parse_size(text: &str) -> Result<usize, String> {
    let wrong = || format!("expected a size, found `{text}`\nhelp: write it like 64M, 2G or 1500000000");
    let digits = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let value: f64 = text[..digits].parse().map_err(|_| wrong())?;
    let unit = text[digits..].trim().to_ascii_lowercase();
    let factor: u64 = match unit.strip_suffix("ib").or(unit.strip_suffix('b')).unwrap_or(&unit) {
        "" => 1,
        "k" => 1 << 10,
        "m" => 1 << 20,
        "g" => 1 << 30,
        "t" => 1 << 40,
        _ => return Err(wrong()),
    };
    let bytes = value * factor as f64;
    if unit.is_empty() && (1.0..LEAST_BYTES).contains(&bytes) {
        let amount = count_of(bytes as u64, "byte");
        return Err(format!("`{text}` is {amount}\nhelp: did you mean {text}M?"));
    }
    if !(1.0..=(1u64 << 46) as f64).contains(&bytes) {
        return Err(format!("`{text}` is out of range\nhelp: write it like 64M or 2G"));
    }
    Ok(bytes as usize)
}

/// A duration such as `90s`, `5m`, `1.5h`, `200ms`. A bare number could mean seconds or minutes and is refused.
pub fn parse_duration(text: &str) -> Result<Duration, String> {
    let wrong = || format!("expected a duration, found `{text}`\nhelp: write it like 90s, 5m or 2h");
    let digits = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let value: f64 = text[..digits].parse().map_err(|_| wrong())?;
    let factor = match text[digits..].trim() {
        "ms" => 1e-3,
        "" => return Err(format!("`{text}` has no unit\nhelp: did you mean {text}s or {text}m?")),
        "s" => 1.0,
        "m" | "min" => 60.0,
        "h" => 3600.0,
        "d" => 86400.0,
        _ => return Err(wrong()),
    };
    Duration::try_from_secs_f64(value * factor).map_err(|_| wrong())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes() {
        assert_eq!(parse_size("64M"), Ok(64 << 20));
        assert_eq!(parse_size("1.5G"), Ok(3 << 29));
        assert_eq!(parse_size("2GiB"), Ok(2 << 30));
        assert_eq!(parse_size("1500000000"), Ok(1_500_000_000));
        assert_eq!(parse_size("100K"), Ok(100 << 10));
        for wrong in ["", "64", "1000000", "M", "12X", "-5M", "0", "9999999T"] {
            assert!(parse_size(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn durations() {
        assert_eq!(parse_duration("90s"), Ok(Duration::from_secs(90)));
        assert_eq!(parse_duration("200ms"), Ok(Duration::from_millis(200)));
        assert_eq!(parse_duration("2m"), Ok(Duration::from_secs(120)));
        assert!(parse_duration("3").unwrap_err().contains("3s or 3m"));
        assert!(parse_duration("soon").is_err());
        assert!(parse_duration("-1s").is_err());
    }

    #[test]
    fn groups() {
        assert_eq!(grouped(0), "0");
        assert_eq!(grouped(999), "999");
        assert_eq!(grouped(1000), "1,000");
        assert_eq!(grouped(1234567), "1,234,567");
    }
}
