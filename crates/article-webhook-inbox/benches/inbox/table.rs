use std::{
    fmt,
    process::ExitCode,
    sync::atomic::{AtomicBool, Ordering},
};

use crate::form::Form;

/// Whether a figure has missed its target.
static MISSED: AtomicBool = AtomicBool::new(false);

/// Figures beside their targets. The first column is a name.
pub(crate) struct Table {
    title: &'static str,
    rows: Vec<Vec<String>>,
}

impl Table {
    pub(crate) fn new(title: &'static str, header: &[&str]) -> Self {
        Self { title, rows: vec![header.iter().map(ToString::to_string).collect()] }
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
        Ok(())
    }
}

/// How the benchmark ends. In the long form, which makes the figures that are published, a missed target is a failure. The
/// short form is for a machine that may be busy elsewhere.
#[allow(dead_code)] // not every benchmark ends so
pub(crate) fn ending(form: Form) -> ExitCode {
    match form == Form::Long && MISSED.load(Ordering::Relaxed) {
        true => ExitCode::FAILURE,
        false => ExitCode::SUCCESS,
    }
}

/// A value that should be at least its target.
pub(crate) fn at_least(value: f64, target: f64, unit: &str) -> String {
    let mark = if value >= target { '✓' } else { missed() };
    format!("{}{unit} (≥ {target}) {mark}", number(value))
}

/// A value that should be at most its target.
pub(crate) fn at_most(value: f64, target: f64, unit: &str) -> String {
    let mark = if value <= target { '✓' } else { missed() };
    format!("{}{unit} (≤ {target}) {mark}", number(value))
}

fn missed() -> char {
    MISSED.store(true, Ordering::Relaxed);
    '✗'
}

/// A value without a target.
pub(crate) fn plain(value: f64, unit: &str) -> String {
    format!("{}{unit}", number(value))
}

fn number(value: f64) -> String {
    if value >= 100.0 { format!("{value:.0}") } else { format!("{value:.2}") }
}
