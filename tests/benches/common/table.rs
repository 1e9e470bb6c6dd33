//! Figures beside the targets they are held against.

use std::fmt;

/// A table of text: the first column is a name, the others are figures.
pub(crate) struct Table {
    title: &'static str,
    rows: Vec<Vec<String>>,
}

impl Table {
    pub(crate) fn new(title: &'static str, header: &[&str]) -> Self {
        let header = header.iter().map(ToString::to_string).collect();
        let rows = vec![header];
        Self { title, rows }
    }

    pub(crate) fn row(&mut self, name: &str, figures: impl IntoIterator<Item = Figure>) {
        let figures = figures.into_iter().map(|figure| figure.to_string());
        let row = [name.to_owned()].into_iter().chain(figures);
        self.rows.push(row.collect());
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let columns = self.rows[0].len();
        let width = |column: usize| {
            let cells = self.rows.iter().map(|row| row[column].chars().count());
            cells.max().unwrap_or(0)
        };
        let widths: Vec<_> = (0..columns).map(width).collect();
        writeln!(f, "\n{}\n", self.title)?;
        for (index, row) in self.rows.iter().enumerate() {
            write!(f, "  {:<width$}", row[0], width = widths[0])?;
            for (cell, width) in row.iter().zip(&widths).skip(1) {
                write!(f, "  {cell:>width$}")?;
            }
            writeln!(f)?;
            if index == 0 {
                let line: Vec<_> = widths.iter().map(|&width| "─".repeat(width)).collect();
                writeln!(f, "  {}", line.join("  "))?;
            }
        }
        Ok(())
    }
}

/// A ratio, and whether it keeps its target.
#[derive(Clone, Copy)]
pub(crate) struct Figure {
    value: f64,
    kept: bool,
}

impl Figure {
    #[allow(dead_code)] // not every bench has such targets
    pub(crate) fn at_most(value: f64, target: f64) -> Self {
        let kept = value <= target;
        Self { value, kept }
    }

    #[allow(dead_code)] // the same
    pub(crate) fn at_least(value: f64, target: f64) -> Self {
        let kept = value >= target;
        Self { value, kept }
    }
}

impl fmt::Display for Figure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mark = if self.kept { '✓' } else { '✗' };
        write!(f, "{:.2} {mark}", self.value)
    }
}
