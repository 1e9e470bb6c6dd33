/// A constant text. It needs no escape in HTML or JSON, and its words are counted at compile time.
#[derive(Clone, Copy)]
pub(super) struct Phrase {
    pub(super) text: &'static str,
    pub(super) words: usize,
}

const fn phrase(text: &'static str) -> Phrase {
    let bytes = text.as_bytes();
    let (mut words, mut at, mut is_inside) = (0, 0, false);
    while at < bytes.len() {
        let is_space = bytes[at] == b' ';
        if !is_space && !is_inside {
            words += 1;
        }
        is_inside = !is_space;
        at += 1;
    }
    Phrase { text, words }
}

const fn phrases<const N: usize>(texts: [&'static str; N]) -> [Phrase; N] {
    let mut phrases = [phrase(""); N];
    let mut at = 0;
    while at < N {
        phrases[at] = phrase(texts[at]);
        at += 1;
    }
    phrases
}

/// A sentence consists of a subject, a predicate and an ending.
pub(super) const SUBJECTS: [Phrase; 24] = phrases([
    "A good coach",
    "The right pair of shoes",
    "Every long distance",
    "Your left foot",
    "A visit to the café",
    "The naïve choice",
    "A runner from Łódź",
    "Whoever wears Größe 42",
    "The label “日本製”",
    "A slow week",
    "The heel of a racing shoe",
    "An honest training diary",
    "The first kilometre",
    "A wet surface",
    "Half an hour of walking",
    "The marathon",
    "Señora Núñez",
    "The shop around the corner",
    "A second opinion",
    "Zażółć gęślą jaźń",
    "Nobody’s stride",
    "A cushion of 30 mm",
    "The evening run 🏃",
    "A worn sole",
]);

pub(super) const PREDICATES: [Phrase; 24] = phrases([
    "can teach you more than any table of sizes",
    "will feel different",
    "should be measured with a thumb’s width to spare",
    "doesn’t need to be expensive",
    "may look better than it is",
    "will show what the advertisement left out",
    "can be trusted for about 800 km",
    "should never hurt",
    "will tell you the truth about your balance",
    "can wait, if the fit isn’t right",
    "must carry three times your weight",
    "will change how your ankle moves",
    "would rather be tried than described",
    "can’t replace patience",
    "should be compared with what you already own",
    "will cost less than a doctor’s visit",
    "might turn out to be the best of the season",
    "could be half a size larger",
    "should feel dull rather than exciting",
    "will keep its shape",
    "can ruin a careful plan",
    "deserves a closer look",
    "has its price",
    "will surprise most beginners",
]);

pub(super) const ENDINGS: [Phrase; 20] = phrases([
    "in the evening, when feet are at their largest.",
    "before the first race.",
    "after a winter on the treadmill.",
    "once the laces are tied properly.",
    "on asphalt as well as on gravel.",
    "even at −5 °C.",
    "as long as the surface is dry.",
    "whatever the label says.",
    "within two weeks.",
    "without a single blister.",
    "at a pace of 6:30 per kilometre.",
    "according to three of four shops.",
    "and that is worth writing down.",
    "so take your time!",
    "but is it enough for a marathon?",
    "between the heel and the toes.",
    "for 89 € or less.",
    "in every weather…",
    "year after year.",
    "if you listen.",
]);

pub(super) const HEADINGS: [Phrase; 12] = phrases([
    "Know your foot before you know the shop",
    "What the numbers mean",
    "Cushioning, or the art of leaving things out",
    "Mistakes that are made every spring",
    "A short history of the sole",
    "When to buy a second pair",
    "Trail, road and everything between",
    "Größen, rozmiary, tailles",
    "Questions for the shop",
    "How long should they last?",
    "The test on the stairs",
    "In a nutshell",
]);

pub(super) const TERMS: [Phrase; 16] = phrases([
    "heel drop",
    "stack height",
    "Größe",
    "weight",
    "toe box",
    "outsole",
    "upper",
    "price",
    "8 mm",
    "36 mm",
    "42½",
    "265 g",
    "wide",
    "rubber",
    "knitted",
    "139 €",
]);

/// Single words to fill the remaining length.
pub(super) const WORDS: [Phrase; 8] =
    phrases(["run", "slow", "and", "rest", "often", "then", "again", "far"]);

/// The most words and bytes of a sentence, with its spaces.
pub(super) const LONGEST_SENTENCE: [usize; 2] = [32, 160];
