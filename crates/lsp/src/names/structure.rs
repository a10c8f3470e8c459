//! How the words of a text hang together: which brackets belong to each other, and where the next sign of a kind is. It is found
//! once for the whole text, so that going through it takes time in its length.

use crate::words::Word;

#[derive(Debug)]
pub struct Structure {
    /// For brackets, the number of the one that belongs to them.
    partners: Vec<Option<usize>>,
    /// Is the innermost bracket around a word a round one?
    rounds: Vec<bool>,
    braces: Vec<usize>,
    semicolons: Vec<usize>,
}

impl Structure {
    pub fn of(words: &[Word<'_>]) -> Structure {
        let mut partners = vec![None; words.len()];
        let (mut open, mut rounds) = (Vec::<usize>::new(), Vec::with_capacity(words.len()));
        for (at, word) in words.iter().enumerate() {
            rounds.push(open.last().is_some_and(|open| words[*open].text == "("));
            match word.text {
                "(" | "[" | "{" => open.push(at),
                ")" | "]" | "}" => {
                    if let Some(first) = open.pop() {
                        partners[first] = Some(at);
                        partners[at] = Some(first);
                    }
                }
                _ => {}
            }
        }
        let all = |sign: &str| (0..words.len()).filter(|&at| words[at].text == sign).collect();
        Structure { partners, rounds, braces: all("{"), semicolons: all(";") }
    }

    /// The word behind the bracket that this one opens; the end of the text where nothing closes it.
    pub fn behind(&self, at: usize) -> usize {
        let end = self.partners.len();
        self.partners.get(at).copied().flatten().map_or(end, |close| close.max(at) + 1)
    }

    /// The bracket that this one closes.
    pub fn opens(&self, close: usize) -> Option<usize> {
        self.partners.get(close).copied().flatten().filter(|open| *open < close)
    }

    pub fn is_in_round(&self, at: usize) -> bool {
        self.rounds.get(at).copied().unwrap_or(false)
    }

    /// The first `{` from a word on, before another.
    pub fn brace(&self, at: usize, end: usize) -> Option<usize> {
        next(&self.braces, at).filter(|found| *found < end)
    }

    /// The first `;` from a word on, or the end of the text.
    pub fn semicolon(&self, at: usize) -> usize {
        next(&self.semicolons, at).unwrap_or(self.partners.len())
    }
}

fn next(all: &[usize], at: usize) -> Option<usize> {
    all.get(all.partition_point(|other| *other < at)).copied()
}
