use super::{Output, Tone};
use crate::failure::Failure;

/// Rows in aligned columns. The last column may be long.
pub(crate) struct Table {
    rows: Vec<Vec<(Tone, String)>>,
}

impl Table {
    pub(crate) fn new<const N: usize>(heads: [&str; N]) -> Self {
        Self { rows: vec![heads.map(|head| (Tone::Quiet, head.to_owned())).into()] }
    }

    /// A table without heads.
    pub(crate) fn plain() -> Self {
        Self { rows: Vec::new() }
    }

    /// Adds a row. Text from outside must be escaped before.
    pub(crate) fn row<const N: usize>(&mut self, cells: [(Tone, String); N]) {
        self.rows.push(cells.into());
    }

    pub(crate) fn write(&self, output: &Output) -> Result<(), Failure> {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or_default();
        let width = |column: usize| {
            let cells = self.rows.iter().filter_map(|row| row.get(column));
            cells.map(|(_, text)| text.chars().count()).max().unwrap_or_default()
        };
        let widths: Vec<_> = (0..columns).map(width).collect();
        for row in &self.rows {
            let mut line = String::new();
            let last = row.iter().rposition(|(_, text)| !text.is_empty()).unwrap_or_default();
            for (column, (tone, text)) in row.iter().enumerate().take(last + 1) {
                line.push_str(&output.paint(*tone, text));
                if column < last {
                    let space = widths[column] - text.chars().count() + 2;
                    line.extend(std::iter::repeat_n(' ', space));
                }
            }
            output.line(&line)?;
        }
        Ok(())
    }
}
