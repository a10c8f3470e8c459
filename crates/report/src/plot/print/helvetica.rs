//! How wide texts in Helvetica are, one of the fonts that every reader of PDF has, and how they are written in one byte a letter.

/// Widths of the letters from space to tilde, in thousandths of the size (Adobe's metrics of the font).
const WIDTHS: [u16; 95] = [
    278, 278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333, 278, 278, 556, 556, 556, 556, 556, 556, 556,
    556, 556, 556, 278, 278, 584, 584, 584, 556, 1015, 667, 667, 722, 722, 667, 611, 778, 722, 278, 500, 667, 556, 833,
    722, 778, 667, 778, 722, 667, 611, 722, 667, 944, 667, 667, 611, 278, 278, 278, 469, 556, 333, 556, 556, 500, 556,
    556, 278, 556, 556, 222, 222, 500, 222, 833, 556, 556, 556, 556, 333, 500, 278, 556, 500, 722, 500, 500, 500, 334,
    260, 334, 584,
];
/// Of a letter outside of ASCII: most are as wide as a small one, none that occurs in figures is wider.
const OTHER: u16 = 584;
/// The bold font is wider by so much at most.
const BOLD: f64 = 1.1;

/// The width of a text in points.
pub fn width(text: &str, size: f64, bold: bool) -> f64 {
    let of = |byte: u8| match byte {
        32..127 => WIDTHS[usize::from(byte) - 32],
        // An ellipsis and a long dash.
        0x85 | 0x97 => 1000,
        _ => OTHER,
    };
    let thousandths: u32 = encoded(text).into_iter().map(|byte| u32::from(of(byte))).sum();
    f64::from(thousandths) / 1000.0 * size * if bold { BOLD } else { 1.0 }
}

/// A text in the encoding that PDF calls WinAnsi; a question mark stands for what it does not have.
pub fn encoded(text: &str) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    for c in text.chars() {
        match c {
            ' '..='~' => out.push(c as u8),
            '\u{a0}'..='\u{ff}' => out.push(c as u32 as u8),
            '…' => out.push(0x85),
            '–' => out.push(0x96),
            '—' => out.push(0x97),
            '‘' => out.push(0x91),
            '’' => out.push(0x92),
            '“' => out.push(0x93),
            '”' => out.push(0x94),
            'μ' => out.push(0xb5),
            '→' => out.extend(b"->"),
            '≤' => out.extend(b"<="),
            '≥' => out.extend(b">="),
            '\u{2009}' | '\u{202f}' => out.push(b' '),
            _ => out.push(b'?'),
        }
    }
    out
}

/// The text, cut so that it is no wider than `most`.
pub fn fitted(text: &str, size: f64, most: f64) -> String {
    if width(text, size, false) <= most {
        return text.to_string();
    }
    let mut kept: Vec<char> = text.chars().collect();
    while !kept.is_empty() && width(&kept.iter().chain(&['…']).collect::<String>(), size, false) > most {
        kept.pop();
    }
    kept.into_iter().chain(['…']).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn widths_are_those_of_the_font() {
        assert_eq!(width("Wi", 1000.0, false), 944.0 + 222.0);
        assert_eq!(width(" ~", 1000.0, false), 278.0 + 584.0);
        assert_eq!(width("", 7.0, false), 0.0);
    }

    #[test]
    fn letters_have_one_byte() {
        assert_eq!(encoded("aµé…→中"), [b'a', 0xb5, 0xe9, 0x85, b'-', b'>', b'?']);
        assert_eq!(fitted("abcdef", 10.0, 1000.0), "abcdef");
        assert!(fitted("abcdefghijkl", 10.0, 30.0).ends_with('…'));
        assert_eq!(fitted("abc", 10.0, 0.0), "…");
    }
}
