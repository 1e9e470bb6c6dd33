use std::{
    fmt,
    sync::atomic::{AtomicBool, Ordering},
};

/// Whether a figure has missed its target.
static MISSED: AtomicBool = AtomicBool::new(false);

/// Figures beside their targets. The first column is a name.
pub(crate) struct Table {
    name: String,
    title: &'static str,
    rows: Vec<Vec<String>>,
}

impl Table {
    pub(crate) fn new(name: impl Into<String>, title: &'static str, header: &[&str]) -> Self {
        let name = name.into();
        Self { name, title, rows: vec![header.iter().map(ToString::to_string).collect()] }
    }

    pub(crate) fn row(
        &mut self,
        name: impl fmt::Display,
        figures: impl IntoIterator<Item = String>,
    ) {
        self.rows.push([name.to_string()].into_iter().chain(figures).collect());
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let cells = |column: usize| self.rows.iter().map(move |row| row[column].chars().count());
        let widths: Vec<usize> =
            (0..self.rows[0].len()).map(|column| cells(column).max().unwrap_or(0)).collect();
        writeln!(f, "\n{}\n", self.title)?;
        for (index, row) in self.rows.iter().enumerate() {
            write!(f, "  {:<width$}", row[0], width = widths[0])?;
            for (cell, width) in row.iter().zip(&widths).skip(1) {
                write!(f, "  {cell:>width$}")?;
            }
            writeln!(f)?;
            if index == 0 {
                let lines: Vec<_> = widths.iter().map(|&width| "─".repeat(width)).collect();
                writeln!(f, "  {}", lines.join("  "))?;
            }
        }
        writeln!(f, "\n{}: {}", self.name, self.line())
    }
}

impl Table {
    /// What is published: the columns that have a target, or all if none has. A target is shown where it is missed.
    fn line(&self) -> String {
        let has_mark = |column: &usize| self.rows.iter().any(|row| row[*column].ends_with(MARKS));
        let mut columns: Vec<_> = (1..self.rows[0].len()).filter(has_mark).collect();
        if columns.is_empty() {
            columns = (1..self.rows[0].len()).collect();
        }
        let rows = self.rows[1..].iter().map(|row| {
            let cells = columns.iter().map(|&column| row[column].as_str());
            let cells = cells.filter(|cell| !cell.is_empty()).map(|cell| {
                cell.strip_suffix(KEPT).and_then(|kept| kept.split(" (").next()).unwrap_or(cell)
            });
            (&row[0], cells.collect::<Vec<_>>().join(", "))
        });
        let rows = rows.filter(|(_, cells)| !cells.is_empty());
        rows.map(|(name, cells)| format!("{name}: {cells}")).collect::<Vec<_>>().join("; ")
    }
}

const KEPT: char = '✓';
const MISSED_MARK: char = '✗';
const MARKS: [char; 2] = [KEPT, MISSED_MARK];

/// Whether a figure has missed its target.
#[allow(dead_code)] // not every benchmark ends so
pub(crate) fn is_missed() -> bool {
    MISSED.load(Ordering::Relaxed)
}

/// A value that should be at least its target.
#[allow(dead_code)] // not every benchmark has such
pub(crate) fn at_least(value: f64, target: f64, unit: &str) -> String {
    let mark = if value >= target { KEPT } else { missed() };
    format!("{}{unit} (≥ {target}) {mark}", number(value))
}

/// A value that should be at most its target.
#[allow(dead_code)] // not every benchmark has such
pub(crate) fn at_most(value: f64, target: f64, unit: &str) -> String {
    let mark = if value <= target { KEPT } else { missed() };
    format!("{}{unit} (≤ {target}) {mark}", number(value))
}

fn missed() -> char {
    MISSED.store(true, Ordering::Relaxed);
    MISSED_MARK
}

/// A value without a target.
#[allow(dead_code)] // not every benchmark has such
pub(crate) fn plain(value: f64, unit: &str) -> String {
    format!("{}{unit}", number(value))
}

fn number(value: f64) -> String {
    if value >= 100.0 { format!("{value:.0}") } else { format!("{value:.2}") }
}
