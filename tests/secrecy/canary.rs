use std::iter;

use aho_corasick::AhoCorasick;
use base64::{Engine, engine::general_purpose::STANDARD_NO_PAD as BASE64};
use fastrand::Rng;

/// This number of consecutive bytes of a secret is a hit: part of a token is a leak as well.
const PART: usize = 8;

/// Texts that occur nowhere but where a test puts them, by the name of that place.
pub(crate) struct Canaries {
    pub(crate) token: String,
    /// What a stranger presents instead.
    pub(crate) guess: String,
    /// Of a capability.
    pub(crate) key: String,
    /// Whatever stands in a body.
    pub(crate) content: String,
    detector: Detector,
}

impl Canaries {
    pub(crate) fn new(test: &str) -> Self {
        let seed = test.bytes().fold(0, |seed: u64, byte| seed.wrapping_mul(31) + u64::from(byte));
        let mut rng = Rng::with_seed(seed);
        let mut draw = || iter::repeat_with(|| rng.alphanumeric()).take(32).collect::<String>();
        let [token, guess, key, content] = [(); 4].map(|()| draw());
        let mut detector = Detector::default();
        for (name, secret) in
            [("token", &token), ("guess", &guess), ("key", &key), ("content", &content)]
        {
            detector.watch(name, secret);
        }
        Self { token, guess, key, content, detector }
    }

    /// One more secret, which was made later.
    pub(crate) fn watch(&mut self, name: &'static str, secret: &str) {
        self.detector.watch(name, secret);
    }

    /// Every way in which the text shows one of them.
    pub(crate) fn shown_in(&self, text: &str) -> Vec<String> {
        self.detector.find(text)
    }
}

/// Finds parts of secrets in a text, however they were written.
#[derive(Default)]
struct Detector {
    needles: Vec<String>,
    names: Vec<String>,
}

/// What is written for each byte.
type Byte = fn(u8) -> String;

/// Plain is also what percent-encoding, JSON and `Debug` leave letters and digits as.
const FORMS: [(&str, Byte); 8] = [
    ("plain", |byte| char::from(byte).into()),
    ("percent-encoded", |byte| format!("%{byte:02x}")),
    ("hexadecimal", |byte| format!("{byte:02x}")),
    ("a list of bytes", |byte| format!("{byte},")),
    ("a list of hexadecimal bytes", |byte| format!("{byte:#04x},")),
    ("escaped as in C", |byte| format!("\\x{byte:02x}")),
    ("escaped as in JSON", |byte| format!("\\u{byte:04x}")),
    ("escaped as in Rust", |byte| format!("\\u{{{byte:x}}}")),
];

impl Detector {
    fn watch(&mut self, name: &str, secret: &str) {
        for part in secret.as_bytes().windows(PART) {
            for (form, byte) in FORMS {
                let needle: String = part.iter().copied().map(byte).collect();
                // A list may end after the part.
                self.add(needle.trim_end_matches(','), name, form);
            }
        }
        // Three bytes become four characters, and a part may begin anywhere among them.
        for part in secret.as_bytes().windows(PART - PART % 3) {
            self.add(&BASE64.encode(part), name, "base64");
        }
    }

    fn add(&mut self, needle: &str, name: &str, form: &str) {
        self.needles.push(needle.to_owned());
        self.names.push(format!("{name}, {form}"));
    }

    fn find(&self, text: &str) -> Vec<String> {
        let dense: String = text.split_ascii_whitespace().collect();
        let automaton = AhoCorasick::builder().ascii_case_insensitive(true).build(&self.needles);
        let automaton = automaton.expect("there are not too many needles");
        let hits = automaton.find_iter(&dense).map(|hit| {
            let near = dense[..hit.start()].chars().rev().take(120).collect::<String>();
            let near: String = near.chars().rev().collect();
            format!("{}: {near}▶{}", self.names[hit.pattern()], &dense[hit.range()])
        });
        hits.collect()
    }
}

#[test]
fn a_part_of_a_secret_is_found_in_every_form() {
    let canaries = Canaries::new("detector");
    let part = &canaries.token[9..20];
    let bytes = part.as_bytes();
    let hex: String = bytes.iter().map(|byte| format!("{byte:02X}")).collect();
    let percent: String = bytes.iter().map(|byte| format!("%{byte:02X}")).collect();
    let json: String = bytes.iter().map(|byte| format!("\\u{byte:04x}")).collect();
    for text in [
        format!("<{part}>"),
        format!("{bytes:?}"),
        format!("{bytes:#?}"),
        format!("{bytes:#04x?}"),
        hex,
        percent,
        json,
        BASE64.encode(format!("{part}.")),
        BASE64.encode(format!("a{part}")),
        BASE64.encode(format!("aa{part}")),
        part.escape_unicode().to_string(),
        part.to_ascii_uppercase(),
    ] {
        assert!(!canaries.shown_in(&text).is_empty(), "{text}");
    }
    assert!(canaries.shown_in(&Canaries::new("another").token).is_empty());
}
