//! What strace saw of a child: its system calls, in the order they began.

use std::{
    collections::HashMap,
    fs,
    path::{Path, PathBuf},
};

/// The calls of all threads, in the order they began. Lines stand in the order in which strace saw entries and exits:
/// no clock is needed to know which came first.
pub(crate) fn read(trace: &Path) -> Vec<Call> {
    let text = fs::read_to_string(trace).expect("strace writes text");
    let mut calls: Vec<Call> = Vec::new();
    let mut unfinished: HashMap<u32, (usize, &str)> = HashMap::new();
    for (moment, line) in text.lines().enumerate() {
        let Some((thread, line)) = line.split_once(' ') else { continue };
        let Ok(thread) = thread.parse() else { continue };
        let line = line.trim_start();
        if let Some(begun) = line.strip_suffix(" <unfinished ...>") {
            unfinished.insert(thread, (calls.len(), begun));
            calls.extend(Call::new(thread, moment, None, begun));
        } else if line.starts_with("<... ") {
            let Some((call, begun)) = unfinished.remove(&thread) else { continue };
            let rest = line.split_once("resumed>").map_or("", |(_, rest)| rest);
            let start = calls[call].start;
            let whole = Call::new(thread, start, Some(moment), &format!("{begun}{rest}"));
            calls[call] = whole.expect("its first half was a call");
        } else {
            calls.extend(Call::new(thread, moment, Some(moment), line));
        }
    }
    calls
}

/// One system call.
#[derive(Debug)]
pub(crate) struct Call {
    pub(crate) thread: u32,
    /// The line of its entry, before it was executed.
    pub(crate) start: usize,
    /// The line of its exit, after it; `None` if it never ended, because the process died in it.
    pub(crate) end: Option<usize>,
    pub(crate) name: String,
    /// What stands between the parentheses.
    arguments: String,
    /// `None` if it failed or never ended.
    pub(crate) result: Option<u64>,
    /// What the returned descriptor is open on.
    opened: Option<PathBuf>,
}

impl Call {
    /// `pwrite64(3<\x2f…>, "\x78…", 4, 0) = 4`
    fn new(thread: u32, start: usize, end: Option<usize>, line: &str) -> Option<Self> {
        let (name, rest) = line.split_once('(')?;
        let (arguments, result) = match rest.rsplit_once(") = ").or_else(|| split_at_padding(rest))
        {
            Some((arguments, result)) => (arguments, result.trim_start()),
            None => (rest, "?"),
        };
        let digits = result.find(|c: char| !c.is_ascii_digit()).unwrap_or(result.len());
        let opened = result[digits..]
            .strip_prefix('<')
            .and_then(|path| hexadecimal_path(path.split_once('>')?.0));
        Some(Self {
            thread,
            start,
            end: end.filter(|_| !result.starts_with('?')),
            name: name.to_owned(),
            arguments: arguments.to_owned(),
            result: result[..digits].parse().ok(),
            opened,
        })
    }

    /// The file that the first argument is a descriptor of, or that the call opened.
    pub(crate) fn file(&self) -> Option<PathBuf> {
        if self.opened.is_some() {
            return self.opened.clone();
        }
        let (path, _) = self.arguments.split_once('<')?.1.split_once('>')?;
        hexadecimal_path(path)
    }

    /// Whether that file has no name any more.
    pub(crate) fn is_on_a_deleted_file(&self) -> bool {
        self.arguments.split(", ").next().is_some_and(|first| first.ends_with("(deleted)"))
    }

    /// The port of the other side, if the first argument is a connection.
    pub(crate) fn peer(&self) -> Option<u16> {
        let (socket, _) = self.arguments.split_once("<TCP:[")?.1.split_once(']')?;
        socket.rsplit_once(':')?.1.parse().ok()
    }

    /// The first text among the arguments: what is written, or a path.
    pub(crate) fn text(&self) -> Vec<u8> {
        self.arguments.split('"').nth(1).map(hexadecimal).unwrap_or_default()
    }

    /// The second text: where a file is moved to.
    pub(crate) fn second_text(&self) -> Vec<u8> {
        self.arguments.split('"').nth(3).map(hexadecimal).unwrap_or_default()
    }

    pub(crate) fn has_flag(&self, flag: &str) -> bool {
        self.arguments.split([' ', ',', '|']).any(|word| word == flag)
    }

    /// The last argument as a number: an offset, or a length.
    pub(crate) fn last_number(&self) -> u64 {
        let last = self.arguments.rsplit(", ").next().unwrap_or_default();
        last.parse().expect("the last argument is a number")
    }
}

/// Short lines are filled up with spaces: `fsync(3)    = 0`.
fn split_at_padding(rest: &str) -> Option<(&str, &str)> {
    let (arguments, result) = rest.rsplit_once(" = ")?;
    Some((arguments.trim_end().strip_suffix(')')?, result))
}

/// The bytes of `\x2f\x74…`, which is how `strace -xx` writes every text.
fn hexadecimal(text: &str) -> Vec<u8> {
    let digit = |digit: u8| match digit {
        b'0'..=b'9' => digit - b'0',
        b'a'..=b'f' => digit - b'a' + 10,
        _ => panic!("strace writes hexadecimal digits, and not {}", digit.escape_ascii()),
    };
    text.as_bytes()
        .chunks_exact(4)
        .map(|escaped| digit(escaped[2]) << 4 | digit(escaped[3]))
        .collect()
}

fn hexadecimal_path(text: &str) -> Option<PathBuf> {
    // Devices are named with their numbers: `\x2f…<char 1:3>`.
    let path = text.split('<').next().filter(|path| path.starts_with("\\x"))?;
    Some(String::from_utf8_lossy(&hexadecimal(path)).into_owned().into())
}
