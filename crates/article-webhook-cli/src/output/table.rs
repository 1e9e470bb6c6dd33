use super::{Output, Tone};
use crate::{failure::Failure, text::escape};

/// Rows in aligned columns. The last column may be long.
pub(crate) struct Table {
    rows: Vec<Vec<(Tone, String)>>,
    is_fitted: bool,
}

/// How narrow a column is cut, at most.
const LEAST: usize = 8;

impl Table {
    pub(crate) fn new<const N: usize>(heads: [&str; N]) -> Self {
        let heads = heads.map(|head| (Tone::Quiet, head.to_owned()));
        Self { rows: vec![heads.into()], is_fitted: false }
    }

    /// A table without heads.
    pub(crate) fn plain() -> Self {
        Self { rows: Vec::new(), is_fitted: false }
    }

    /// The same, whose widest columns are cut until a row fits on a line of the terminal.
    pub(crate) fn fitted(self) -> Self {
        Self { is_fitted: true, ..self }
    }

    /// Adds a row. Text from outside must be escaped before.
    pub(crate) fn row<const N: usize>(&mut self, cells: [(Tone, String); N]) {
        self.rows.push(cells.into());
    }

    /// Adds a row of what a name names, in a table without heads.
    pub(crate) fn named(&mut self, name: &str, tone: Tone, text: impl Into<String>) {
        self.row([(Tone::Quiet, name.to_owned()), (tone, text.into())]);
    }

    /// The same, moved to the right.
    pub(crate) fn fact(&mut self, name: &str, text: impl Into<String>) {
        self.row([
            (Tone::Plain, String::new()),
            (Tone::Quiet, name.to_owned()),
            (Tone::Plain, text.into()),
        ]);
    }

    pub(crate) fn write(&self, output: &Output) -> Result<(), Failure> {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or_default();
        let width = |column: usize| {
            let cells = self.rows.iter().filter_map(|row| row.get(column));
            cells.map(|(_, text)| text.chars().count()).max().unwrap_or_default()
        };
        let mut widths: Vec<_> = (0..columns).map(width).collect();
        let line = output.width().filter(|_| self.is_fitted).unwrap_or(usize::MAX);
        while widths.iter().map(|width| width + 2).sum::<usize>() > line.saturating_add(2)
            && let Some(widest) = widths.iter_mut().max()
            && *widest > LEAST
        {
            *widest -= 1;
        }
        for row in &self.rows {
            let mut line = String::new();
            let last = row.iter().rposition(|(_, text)| !text.is_empty()).unwrap_or_default();
            for (column, (tone, text)) in row.iter().enumerate().take(last + 1) {
                let text = escape::cut_to(text, widths[column]);
                line.push_str(&output.paint(*tone, &text));
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
