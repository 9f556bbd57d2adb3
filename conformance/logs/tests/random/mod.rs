//! A small generator for logs, the same in every run: `xorshift64`.

/// Its state, which must not be 0.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    /// A number below this limit.
    pub(crate) fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 16).expect("48 bits") % limit
    }
}
