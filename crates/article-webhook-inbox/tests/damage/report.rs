//! The verdicts of all spots.

use std::{collections::BTreeMap, fmt};

use super::{damages::DamagedSpot, verdict::Verdict};

/// How many examples of each wrong are shown.
const EXAMPLES: usize = 3;

#[derive(Debug, Default)]
pub(super) struct Report {
    /// By kind of page and outcome.
    outcomes: BTreeMap<(&'static str, &'static str), usize>,
    /// By the first words of what is wrong.
    wrong: BTreeMap<String, Wrong>,
    spread: usize,
}

/// How often something went wrong, by the kind of page, and examples.
#[derive(Debug, Default)]
struct Wrong {
    kinds: BTreeMap<&'static str, usize>,
    examples: Vec<String>,
}

impl Report {
    pub(super) fn add(&mut self, number: usize, spot: &DamagedSpot, verdict: Verdict) {
        *self.outcomes.entry((spot.kind, verdict.outcome)).or_default() += 1;
        self.spread += usize::from(!verdict.wrong.is_empty());
        for wrong in verdict.wrong {
            let words = wrong.split(':').next().unwrap_or_default().to_owned();
            let Wrong { kinds, examples } = self.wrong.entry(words).or_default();
            *kinds.entry(spot.kind).or_default() += 1;
            if examples.len() < EXAMPLES {
                examples.push(format!("--spot {number} ({spot}): {wrong}"));
            }
        }
    }

    pub(super) fn spots(&self) -> usize {
        self.outcomes.values().sum()
    }

    pub(super) fn is_sound(&self) -> bool {
        self.spread == 0
    }

    /// One line.
    pub(super) fn summary(&self) -> String {
        let mut by_outcome: BTreeMap<_, usize> = BTreeMap::new();
        for ((_, outcome), count) in &self.outcomes {
            *by_outcome.entry(*outcome).or_default() += count;
        }
        let outcomes: Vec<_> =
            by_outcome.iter().map(|(outcome, count)| format!("{count} {outcome}")).collect();
        format!("{}; damage spread from {} spots", outcomes.join(", "), self.spread)
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for ((kind, outcome), count) in &self.outcomes {
            writeln!(f, "{kind:<18} {outcome:<18} {count:>6}")?;
        }
        for (words, Wrong { kinds, examples }) in &self.wrong {
            writeln!(f, "\n✗ {words}: {kinds:?}")?;
            examples.iter().try_for_each(|example| writeln!(f, "    {example}"))?;
        }
        Ok(())
    }
}
