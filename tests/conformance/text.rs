//! Tables as text, a situation a line.
//!
//! A line that begins with `=` heads a section: what comes of its situations, and what they have in common. A situation
//! is its name and what is its own, in cells. Its first cell takes the place of the `$` in the head of its section, if
//! there is one. `#` begins a comment.
//!
//! `⏎` is the end of a line of HTTP. `«…»` stands for what cannot be read: `«U+A0»` for a character, `«ff fe»` for bytes,
//! `«64 × [»` for a text that is repeated (a `%` in it for the number of the repetition), and `«article»` for a text of
//! [`filled`].

use crate::request::ARTICLE;

pub(crate) struct Situation {
    pub(crate) name: &'static str,
    /// The first cell of its section.
    pub(crate) fate: &'static str,
    /// The other cells of its section, and its own.
    pub(crate) cells: Vec<String>,
}

pub(crate) fn situations(table: &'static str) -> Vec<Situation> {
    let mut section = Vec::new();
    let mut situations = Vec::new();
    for line in table.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let cells = line.split(" |").map(str::trim);
        if let Some(head) = line.strip_prefix("= ") {
            section = head.split(" |").map(str::trim).collect();
            continue;
        }
        let (mut cells, common) = (cells, &section[1..]);
        let name = cells.next().expect("a line has a cell");
        let is_open = common.iter().any(|cell| cell.contains('$'));
        let value = if is_open { cells.next().expect("the section has a `$`") } else { "$" };
        let common = common.iter().map(|cell| cell.replace('$', value));
        let cells = common.chain(cells.map(str::to_owned)).collect();
        situations.push(Situation { name, fate: section[0], cells });
    }
    situations
}

/// Where the bytes that are not UTF-8 are, until the text is complete: characters for private use.
const RAW: u32 = 0xf700;

/// A cell, filled in.
pub(crate) fn bytes(cell: &str) -> Vec<u8> {
    let mut text = cell.replace('⏎', "\r\n");
    while let Some((before, behind)) = text.split_once('»') {
        // The innermost first.
        let (before, mark) = before.rsplit_once('«').expect("what ends has begun");
        text = [before, &filled(mark), behind].concat();
    }
    let is_raw = |c: char| (RAW..RAW + 256).contains(&c.into());
    let mut bytes = Vec::new();
    for part in text.split_inclusive(is_raw) {
        let raw = part.chars().next_back().filter(|&c| is_raw(c));
        bytes.extend(part.trim_end_matches(is_raw).as_bytes());
        bytes.extend(raw.map(|c| (u32::from(c) - RAW).to_le_bytes()[0]));
    }
    bytes
}

pub(crate) fn text(cell: &str) -> String {
    String::from_utf8(bytes(cell)).expect("the cell is a text")
}

fn filled(mark: &str) -> String {
    if let Some((count, unit)) = mark.split_once(" × ") {
        let count = count.parse().expect("a number of repetitions");
        let numbered = |number: usize| unit.replace('%', &number.to_string());
        return if unit.contains('%') {
            (0..count).map(numbered).collect()
        } else {
            unit.repeat(count)
        };
    }
    let hexadecimal = |digits| u32::from_str_radix(digits, 16).expect("hexadecimal digits");
    let character = |code| char::from_u32(code).expect("a character");
    if let Some(digits) = mark.strip_prefix("U+") {
        return character(hexadecimal(digits)).into();
    }
    let raw =
        |bytes: Vec<u8>| bytes.into_iter().map(|byte| character(RAW + u32::from(byte))).collect();
    let units = ARTICLE.encode_utf16();
    let wide =
        |to_bytes: fn(u32) -> [u8; 4]| ARTICLE.chars().flat_map(|c| to_bytes(c.into())).collect();
    match mark {
        "article" => ARTICLE.into(),
        "complete.json" => {
            include_str!("../fixtures/complete.json").replace("job_7c1e4a52", "job_1")
        }
        // Made by hand with another HMAC. It expires in the year 2100.
        "capability" => {
            "order-17.4102444800.eaa27a3032e1b3449cb5cc7a0ff6ca5fb649a149c1953ffdd982f55945a78f89"
                .into()
        }
        "article in utf-16-le" => raw(units.flat_map(u16::to_le_bytes).collect()),
        "article in utf-16-be" => raw(units.flat_map(u16::to_be_bytes).collect()),
        "article in utf-32-le" => raw(wide(u32::to_le_bytes)),
        "article in utf-32-be" => raw(wide(u32::to_be_bytes)),
        digits => digits.split(' ').map(|byte| character(RAW + hexadecimal(byte))).collect(),
    }
}

#[test]
fn a_cell_is_filled_in_from_the_inside() {
    assert_eq!(bytes("a«U+A0»⏎"), "a\u{a0}\r\n".as_bytes());
    assert_eq!(bytes("«ff fe»a«c3»"), b"\xff\xfea\xc3");
    assert_eq!(text("«2 × %:«3 × [»,»"), "0:[[[,1:[[[,");
    let [first, second] = &situations("= let_in | at X | field $\n\n# b\na | 1 | job b\nc | 2")[..]
    else {
        panic!("there are two situations");
    };
    assert_eq!((first.name, first.fate, second.name), ("a", "let_in", "c"));
    assert_eq!(first.cells, ["at X", "field 1", "job b"]);
    assert_eq!(second.cells, ["at X", "field 2"]);
}
