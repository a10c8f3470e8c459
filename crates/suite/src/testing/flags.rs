//! The flags of `check` and `count`, as far as a test must know them: which ones a list of words gives.

/// Short flags with their long names, and whether a value follows.
const SHORT: [(char, &str, bool); 9] = [
    ('D', "--define", true),
    ('p', "--property", true),
    ('j', "--threads", true),
    ('m', "--memory", true),
    ('t', "--time", true),
    ('k', "--keep-going", false),
    ('q', "--quiet", false),
    ('v', "--verbose", false),
    ('h', "--help", false),
];

/// Is the flag of this long name among these words?
pub fn is_given(words: &[String], flag: &str) -> bool {
    let mut words = words.iter();
    while let Some(word) = words.next() {
        if word.strip_prefix(flag).is_some_and(|rest| rest.is_empty() || rest.starts_with('=')) {
            return true;
        }
        let Some(letters) = word.strip_prefix('-').filter(|letters| !letters.starts_with('-')) else { continue };
        for (at, letter) in letters.char_indices() {
            let Some((_, name, has_value)) = SHORT.iter().find(|(short, ..)| *short == letter) else { break };
            if *name == flag {
                return true;
            }
            if *has_value {
                // The rest of the word is its value, or else the next word.
                if at + letter.len_utf8() == letters.len() {
                    words.next();
                }
                break;
            }
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::is_given;

    #[test]
    fn short_flags_are_known() {
        let given = |text: &str, flag| is_given(&crate::template::words(text).unwrap(), flag);
        for text in ["--memory 64M", "--memory=64M", "-m 64M", "-m64M", "-km 64M", "-k -p x -m=1G"] {
            assert!(given(text, "--memory") && !given(text, "--threads"), "{text}");
        }
        assert!(given("-j2", "--threads") && given("-j 2", "--threads"));
        // Values are no flags.
        assert!(!given("-p -m -k", "--memory") && !given("-pmem", "--memory") && !given("--memory-less", "--memory"));
    }
}
