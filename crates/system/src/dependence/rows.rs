//! Many short lists of numbers, one after the other in memory.

/// Lists by number.
#[derive(Debug, Clone)]
pub(super) struct Rows {
    ends: Vec<usize>,
    data: Vec<u32>,
}

impl Rows {
    pub fn new() -> Rows {
        Rows { ends: Vec::new(), data: Vec::new() }
    }

    pub fn push(&mut self, row: impl IntoIterator<Item = u32>) {
        self.data.extend(row);
        self.ends.push(self.data.len());
    }

    #[inline]
    pub fn get(&self, row: usize) -> &[u32] {
        let start = if row == 0 { 0 } else { self.ends[row - 1] };
        &self.data[start..self.ends[row]]
    }

    pub fn len(&self) -> usize {
        self.ends.len()
    }

    pub fn bytes(&self) -> usize {
        self.ends.capacity() * size_of::<usize>() + self.data.capacity() * size_of::<u32>()
    }
}
