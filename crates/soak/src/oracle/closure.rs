//! A formula of linear time in few words, with what is guessed of the next state, and the graph that guesses make.

/// The parts of a formula, operands before what they are part of.
#[derive(Default)]
pub struct Closure {
    parts: Vec<Part>,
    /// What is guessed to hold in the next state.
    pub nexts: Vec<usize>,
    /// For each `U`: itself, and what it promises.
    pub promises: Vec<(usize, usize)>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    True,
    Atom(usize),
    Not(usize),
    And(usize, usize),
    /// The guess of that number.
    Next(usize),
    /// Here the second, or the first and the guess of that number, which is about the whole.
    Until(usize, usize, usize),
}

impl Closure {
    fn part(&mut self, part: Part) -> usize {
        self.parts.iter().position(|known| *known == part).unwrap_or_else(|| {
            self.parts.push(part);
            self.parts.len() - 1
        })
    }

    pub fn truth(&mut self, value: bool) -> usize {
        let always = self.part(Part::True);
        if value { always } else { self.not(always) }
    }

    pub fn atom(&mut self, number: usize) -> usize {
        self.part(Part::Atom(number))
    }

    pub fn not(&mut self, a: usize) -> usize {
        match self.parts[a] {
            Part::Not(inner) => inner,
            _ => self.part(Part::Not(a)),
        }
    }

    pub fn and(&mut self, a: usize, b: usize) -> usize {
        self.part(Part::And(a, b))
    }

    pub fn or(&mut self, a: usize, b: usize) -> usize {
        let (a, b) = (self.not(a), self.not(b));
        let neither = self.and(a, b);
        self.not(neither)
    }

    pub fn implies(&mut self, a: usize, b: usize) -> usize {
        let not = self.not(a);
        self.or(not, b)
    }

    pub fn equivalent(&mut self, a: usize, b: usize) -> usize {
        let (both, either) = (self.and(a, b), self.or(a, b));
        let neither = self.not(either);
        self.or(both, neither)
    }

    pub fn next(&mut self, a: usize) -> usize {
        let guess = self.nexts.iter().position(|known| *known == a).unwrap_or_else(|| {
            self.nexts.push(a);
            self.nexts.len() - 1
        });
        self.part(Part::Next(guess))
    }

    pub fn until(&mut self, a: usize, b: usize) -> usize {
        let same = |part: &Part| matches!(part, Part::Until(x, y, _) if (*x, *y) == (a, b));
        if let Some(known) = self.parts.iter().position(same) {
            return known;
        }
        let whole = self.parts.len();
        self.parts.push(Part::Until(a, b, self.nexts.len()));
        self.nexts.push(whole);
        self.promises.push((whole, b));
        whole
    }

    pub fn finally(&mut self, a: usize) -> usize {
        let always = self.truth(true);
        self.until(always, a)
    }

    pub fn globally(&mut self, a: usize) -> usize {
        let not = self.not(a);
        let ends = self.finally(not);
        self.not(ends)
    }

    /// The first for ever, or until the second.
    pub fn weak_until(&mut self, a: usize, b: usize) -> usize {
        let (lasts, until) = (self.globally(a), self.until(a, b));
        self.or(lasts, until)
    }

    pub fn release(&mut self, a: usize, b: usize) -> usize {
        let (a, b) = (self.not(a), self.not(b));
        let until = self.until(a, b);
        self.not(until)
    }

    pub fn strong_release(&mut self, a: usize, b: usize) -> usize {
        let both = self.and(a, b);
        self.until(b, both)
    }

    /// Which parts hold in a state with these atoms, given which guesses hold in the next.
    pub fn values(&self, label: u64, guess: usize) -> Vec<bool> {
        let mut values: Vec<bool> = Vec::with_capacity(self.parts.len());
        for part in &self.parts {
            values.push(match *part {
                Part::True => true,
                Part::Atom(atom) => label >> atom & 1 == 1,
                Part::Not(a) => !values[a],
                Part::And(a, b) => values[a] && values[b],
                Part::Next(bit) => guess >> bit & 1 == 1,
                Part::Until(a, b, bit) => values[b] || values[a] && guess >> bit & 1 == 1,
            });
        }
        values
    }
}

/// The strongly connected components of what can be reached: a number for each node, `None` where it cannot.
pub fn components<E>(edges: &[Vec<(usize, E)>], starts: &[usize]) -> Vec<Option<usize>> {
    const NEW: usize = usize::MAX;
    let (mut found, mut lowest) = (vec![NEW; edges.len()], vec![NEW; edges.len()]);
    let mut component = vec![None; edges.len()];
    let (mut open, mut count, mut numbers) = (Vec::new(), 0, 0);
    for &start in starts {
        let mut way: Vec<(usize, usize)> = Vec::new();
        if found[start] == NEW {
            way.push((start, 0));
        }
        while let Some((at, next)) = way.pop() {
            if next == 0 {
                (found[at], lowest[at]) = (count, count);
                count += 1;
                open.push(at);
            }
            if let Some((to, _)) = edges[at].get(next) {
                way.push((at, next + 1));
                if found[*to] == NEW {
                    way.push((*to, 0));
                } else if component[*to].is_none() {
                    lowest[at] = lowest[at].min(found[*to]);
                }
                continue;
            }
            if lowest[at] == found[at] {
                while let Some(member) = open.pop() {
                    component[member] = Some(numbers);
                    if member == at {
                        break;
                    }
                }
                numbers += 1;
            }
            if let Some((before, _)) = way.last() {
                lowest[*before] = lowest[*before].min(lowest[at]);
            }
        }
    }
    component
}
