use crate::{finding::Finding, modules::Modules, signs, signs::Sign};

/// What is in one file of the project alone, so that it is changed in one place.
struct Place {
    what: &'static str,
    /// Any of these is it.
    signs: &'static [Seen],
    /// The crate that has exactly one such file.
    home: &'static str,
    /// Crates that may have one such file as well, and why.
    others: &'static [(&'static str, &'static str)],
}

enum Seen {
    Made(&'static str, &'static str),
    Name(&'static str),
    Number(u64),
    /// A text holds these words.
    Words(&'static str),
}

const SERVER: (&str, &str) =
    ("article-webhook-server", "an HTTP server answers what it does not pass on");
const SIMULATOR: (&str, &str) =
    ("article-webhook-simulator", "the API of the service is an HTTP server too");
const CHECK: (&str, &str) =
    ("article-webhook-check", "it knows what a receiver must answer, and asks for it");
const TOOL: (&str, &str) =
    ("article-webhook-cli", "its doctor says what an answer of a receiver, or of a proxy, means");

const PLACES: [Place; 4] = [
    Place {
        what: "the decision that a body is too large",
        signs: &[Seen::Made("Rejection", "TooLarge")],
        home: "article-webhook",
        others: &[],
    },
    Place {
        what: "the decision that a method is not POST",
        signs: &[Seen::Made("Rejection", "MethodNotPost")],
        home: "article-webhook",
        others: &[],
    },
    Place {
        what: "the status 413",
        signs: &[
            Seen::Number(413),
            Seen::Name("PAYLOAD_TOO_LARGE"),
            Seen::Name("CONTENT_TOO_LARGE"),
            Seen::Made("HttpResponse", "PayloadTooLarge"),
            Seen::Words("HTTP/1.1 413"),
        ],
        home: "article-webhook",
        others: &[SERVER, SIMULATOR, CHECK, TOOL],
    },
    Place {
        what: "the status 405",
        signs: &[
            Seen::Number(405),
            Seen::Name("METHOD_NOT_ALLOWED"),
            Seen::Made("HttpResponse", "MethodNotAllowed"),
            Seen::Words("HTTP/1.1 405"),
        ],
        home: "article-webhook",
        others: &[SERVER, SIMULATOR, CHECK, TOOL],
    },
];

/// Each of these is in one file of its home, in at most one of some other crates, and nowhere else.
pub(crate) fn check(crates: &[Modules<'_>]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for modules in crates {
        let mut signs: Vec<(&str, usize, Sign)> = Vec::new();
        for module in modules.all.values() {
            let found = signs::of(&module.items);
            signs.extend(found.into_iter().map(|(line, sign)| (module.file.as_str(), line, sign)));
        }
        for place in &PLACES {
            findings.extend(place.check(modules, &signs));
        }
    }
    findings
}

impl Place {
    fn check(&self, modules: &Modules<'_>, signs: &[(&str, usize, Sign)]) -> Vec<Finding> {
        // The first line of each file that has it.
        let mut places: Vec<(&str, usize)> = signs
            .iter()
            .filter(|(_, _, sign)| self.signs.iter().any(|wanted| wanted.is(sign)))
            .map(|&(file, line, _)| (file, line))
            .collect();
        places.sort_unstable();
        places.dedup_by_key(|(file, _)| *file);

        let name = &modules.sources.name;
        let is_home = *name == self.home;
        if is_home && places.is_empty() {
            return vec![Finding {
                file: modules.sources.shown("src"),
                line: None,
                what: format!("{} is nowhere", self.what),
                rule: self.rule(),
                fix: "if the code says it in another form now, teach it to tests/borders/one_place.rs".to_owned(),
            }];
        }
        let most = usize::from(is_home || self.others.iter().any(|(other, _)| other == name));
        if places.len() <= most {
            return Vec::new();
        }
        let shown: Vec<String> = places
            .iter()
            .map(|(file, line)| format!("{}:{line}", modules.sources.shown(file)))
            .collect();
        places
            .iter()
            .enumerate()
            .map(|(i, &(file, line))| {
                let elsewhere: Vec<&str> = shown
                    .iter()
                    .enumerate()
                    .filter(|&(j, _)| j != i)
                    .map(|(_, at)| at.as_str())
                    .collect();
                Finding {
                    file: modules.sources.shown(file),
                    line: Some(line),
                    what: match elsewhere.is_empty() {
                        true => self.what.to_owned(),
                        false => {
                            format!("{}, which is in {} as well", self.what, elsewhere.join(", "))
                        }
                    },
                    rule: self.rule(),
                    fix: "call what is there already, instead of saying it again".to_owned(),
                }
            })
            .collect()
    }

    fn rule(&self) -> String {
        let others: Vec<&str> = self.others.iter().map(|&(name, _)| name).collect();
        let mut rule = format!("{} is in one file of {} alone", self.what, self.home);
        if !others.is_empty() {
            rule += &format!(", and in at most one file each of {}", others.join(", "));
        }
        rule
    }
}

impl Seen {
    fn is(&self, sign: &Sign) -> bool {
        match (self, sign) {
            (Self::Made(owner, name), Sign::Made { owner: of, name: made }) => {
                owner == of && name == made
            }
            (Self::Name(name), Sign::Name(seen)) => name == seen,
            (Self::Number(number), Sign::Number(seen)) => number == seen,
            (Self::Words(words), Sign::Text(text)) => text.contains(words),
            _ => false,
        }
    }
}
