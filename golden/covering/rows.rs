//! Covering arrays of strength two.

/// A column: a feature of inputs.
#[derive(Clone, Debug)]
pub struct Column {
    /// The field, or `first`, `doubled`, `before`.
    pub name: String,
    /// The values that it can have.
    pub levels: Vec<String>,
}

/// A level of one column with a level of another, by number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Pair {
    /// The first column, and its level.
    pub one: (usize, usize),
    /// The second column, and its level.
    pub other: (usize, usize),
}

/// The characters of the levels in a row.
const CHARACTERS: &[u8; 62] = b"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

/// The level that a character of a row represents.
pub(super) fn level(character: u8) -> Option<usize> {
    CHARACTERS.iter().position(|&known| known == character)
}

/// The levels of a row.
pub(super) fn levels(row: &str) -> Vec<usize> {
    row.bytes().filter_map(level).collect()
}

fn written(levels: &[usize]) -> String {
    levels.iter().filter_map(|&level| CHARACTERS.get(level)).map(|&character| char::from(character)).collect()
}

/// The pairs that no row has so far.
struct Missing {
    /// Where the levels of each column begin among all levels.
    starts: Vec<usize>,
    all: usize,
    /// For each two levels of different columns.
    is_open: Vec<bool>,
    /// The pairs before this one are not missing.
    from: usize,
}

impl Missing {
    fn of(columns: &[Column], rows: &[String]) -> Self {
        let mut starts = Vec::new();
        let mut all = 0;
        for column in columns {
            starts.push(all);
            all += column.levels.len();
        }
        let mut missing = Self { starts, all, is_open: vec![false; all * all], from: 0 };
        for (first, one) in columns.iter().enumerate() {
            for (second, other) in columns.iter().enumerate().skip(first + 1) {
                for level in 0..one.levels.len() {
                    for other_level in 0..other.levels.len() {
                        let at = missing.at((first, level), (second, other_level));
                        missing.is_open[at] = true;
                    }
                }
            }
        }
        for row in rows {
            missing.remove(&levels(row));
        }
        missing
    }

    /// Where a pair is; the columns are in order.
    fn at(&self, one: (usize, usize), other: (usize, usize)) -> usize {
        (self.starts[one.0] + one.1) * self.all + self.starts[other.0] + other.1
    }

    fn remove(&mut self, row: &[usize]) {
        for (column, &level) in row.iter().enumerate() {
            for (other, &other_level) in row.iter().enumerate().skip(column + 1) {
                let at = self.at((column, level), (other, other_level));
                self.is_open[at] = false;
            }
        }
    }

    fn cell(&self, number: usize) -> (usize, usize) {
        let column = self.starts.partition_point(|&start| start <= number) - 1;
        (column, number - self.starts[column])
    }

    fn pair(&self, at: usize) -> Pair {
        Pair { one: self.cell(at / self.all), other: self.cell(at % self.all) }
    }

    fn next(&mut self) -> Option<Pair> {
        self.from += self.is_open[self.from..].iter().position(|&is_open| is_open)?;
        Some(self.pair(self.from))
    }

    /// How many missing pairs a level makes with the levels that are chosen already.
    fn gain(&self, chosen: &[Option<usize>], column: usize, level: usize) -> usize {
        let is_gained = |(other, chosen): (usize, &Option<usize>)| {
            let Some(chosen) = *chosen else { return false };
            let (one, two) = ((column, level), (other, chosen));
            other != column && self.is_open[if column < other { self.at(one, two) } else { self.at(two, one) }]
        };
        chosen.iter().enumerate().filter(|&cell| is_gained(cell)).count()
    }
}

/// The pairs of levels that no row has.
pub fn uncovered(columns: &[Column], rows: &[String]) -> Vec<Pair> {
    let missing = Missing::of(columns, rows);
    (0..missing.is_open.len()).filter(|&at| missing.is_open[at]).map(|at| missing.pair(at)).collect()
}

/// The rows, and behind them as many as it takes until every pair is covered. Each new row begins with a pair that is missing, and
/// takes in each column the level that makes the most missing pairs: simple, always the same, and within a third of the fewest rows.
pub fn extended(columns: &[Column], rows: &[String]) -> Vec<String> {
    let mut rows = rows.to_vec();
    let mut missing = Missing::of(columns, &rows);
    while let Some(pair) = missing.next() {
        let mut chosen = vec![None; columns.len()];
        chosen[pair.one.0] = Some(pair.one.1);
        chosen[pair.other.0] = Some(pair.other.1);
        // The columns with many levels decide how many rows it takes.
        let mut order: Vec<usize> = (0..columns.len()).filter(|&column| chosen[column].is_none()).collect();
        order.sort_by_key(|&column| std::cmp::Reverse(columns[column].levels.len()));
        for column in order {
            let count = columns[column].levels.len();
            // Where it makes no difference, the levels take turns.
            let turns = (0..count).map(|turn| (turn + rows.len() + column) % count);
            let best = turns.rev().max_by_key(|&level| missing.gain(&chosen, column, level));
            chosen[column] = best;
        }
        let row: Vec<usize> = chosen.into_iter().map(Option::unwrap_or_default).collect();
        missing.remove(&row);
        rows.push(written(&row));
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    fn columns(counts: &[usize]) -> Vec<Column> {
        let column = |&count: &usize| Column { name: count.to_string(), levels: vec![String::new(); count] };
        counts.iter().map(column).collect()
    }

    #[test]
    fn every_pair_is_in_a_row_and_a_lost_row_leaves_a_gap() {
        let columns = columns(&[15, 2, 7, 15, 4, 1]);
        let rows = extended(&columns, &[]);
        assert_eq!(uncovered(&columns, &rows), []);
        assert!((225..300).contains(&rows.len()), "{}", rows.len());
        let without_one = &rows[..rows.len() - 1];
        let gap = uncovered(&columns, without_one);
        assert!(!gap.is_empty(), "the last row was needed");
        assert_eq!(extended(&columns, without_one).len(), rows.len(), "what is there stays, and the gap is filled");
    }

    #[test]
    fn the_pairs_without_any_row_are_all_pairs() {
        let columns = columns(&[2, 3, 1]);
        assert_eq!(uncovered(&columns, &[]).len(), 2 * 3 + 2 + 3);
        let pair = Pair { one: (0, 1), other: (1, 2) };
        assert!(uncovered(&columns, &["000".to_owned()]).contains(&pair));
        assert!(!uncovered(&columns, &["120".to_owned()]).contains(&pair));
    }
}
