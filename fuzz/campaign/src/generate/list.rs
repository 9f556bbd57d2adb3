//! Generates lists of limited length and rare choices.

use arbitrary::{Arbitrary, Unstructured};
#[cfg(feature = "fuzzer")]
use proptest::arbitrary::{Arbitrary as Generated, any};
#[cfg(feature = "fuzzer")]
use proptest::collection::{VecStrategy, vec};
#[cfg(feature = "fuzzer")]
use proptest::strategy::{Map, Strategy};
use std::ops::Deref;

/// A list of at most `N` elements, in both engines.
#[derive(Clone, Debug)]
pub struct AtMost<const N: usize, T>(Vec<T>);

#[cfg(feature = "fuzzer")]
impl<const N: usize, T> AtMost<N, T> {
    /// A list of any length, for what grows beyond what is drawn.
    pub(super) fn grown(list: Vec<T>) -> Self {
        Self(list)
    }
}

impl<const N: usize, T> Deref for AtMost<N, T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.0
    }
}

impl<'a, const N: usize, T: Arbitrary<'a>> Arbitrary<'a> for AtMost<N, T> {
    fn arbitrary(bytes: &mut Unstructured<'a>) -> arbitrary::Result<Self> {
        // The length first, so that one byte lengthens or cuts a list; the end of the input ends every list.
        let length = bytes.int_in_range(0..=N)?;
        let mut list = Vec::new();
        while list.len() < length && !bytes.is_empty() {
            list.push(T::arbitrary(bytes)?);
        }
        Ok(Self(list))
    }
}

#[cfg(feature = "fuzzer")]
impl<const N: usize, T: Generated> Generated for AtMost<N, T> {
    type Parameters = ();
    type Strategy = Map<VecStrategy<T::Strategy>, fn(Vec<T>) -> Self>;

    fn arbitrary_with((): ()) -> Self::Strategy {
        vec(any::<T>(), 0..=N).prop_map(Self)
    }
}

/// A choice that is made about once in ten times.
#[derive(Clone, Copy, Debug, Default, arbitrary::Arbitrary)]
#[cfg_attr(feature = "fuzzer", derive(proptest_derive::Arbitrary))]
pub struct Rarely(u8);

impl Rarely {
    /// Returns whether the rare choice is made.
    pub fn is_now(self) -> bool {
        self.0 % 10 == 9
    }

    /// A number by which to choose among several rare ways.
    pub(super) fn which(self) -> usize {
        usize::from(self.0 / 10)
    }
}

/// The entry of a table that a number chooses; every number chooses one.
pub(super) fn pick<T: Copy>(table: &[T], which: u8) -> T {
    table[usize::from(which) % table.len()]
}

/// Writes JSON at once into the text that holds it: a third of a fuzzer's time was copying texts into larger ones.
pub(super) trait AsJsonText {
    /// Appends it to a text.
    fn write(&self, json: &mut String);

    /// The text of it alone.
    fn json(&self) -> String {
        let mut json = String::new();
        self.write(&mut json);
        json
    }
}

/// Appends the elements of a JSON array or object, with commas between them.
pub(super) fn write_list<T>(
    json: &mut String,
    elements: impl IntoIterator<Item = T>,
    mut write: impl FnMut(T, &mut String),
) {
    for (place, element) in elements.into_iter().enumerate() {
        if place > 0 {
            json.push(',');
        }
        write(element, json);
    }
}

/// The elements of a JSON array or object, joined.
#[cfg(feature = "fuzzer")]
pub(super) fn join(elements: impl IntoIterator<Item = String>) -> String {
    elements.into_iter().collect::<Vec<_>>().join(",")
}
