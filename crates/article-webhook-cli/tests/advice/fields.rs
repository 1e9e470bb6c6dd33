//! The lines of JSON that commands print are those that the README names and that `schema.json` describes.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use crate::{stage::Stage, tool::ended};

const README: &str = include_str!("../../README.md");
const SCHEMA: &str = include_str!("../../schema.json");

/// The types of each row of the README's table.
fn table() -> BTreeMap<&'static str, BTreeSet<String>> {
    let (_, table) = README.split_once("| command | types of its lines |\n|---|---|\n").unwrap();
    let rows = table.lines().take_while(|line| line.starts_with('|'));
    let rows = rows.map(|row| row.trim_matches('|').split_once(" | ").unwrap());
    let quoted = |cell: &str| cell.split('`').skip(1).step_by(2).map(str::to_owned).collect();
    rows.map(|(commands, types)| (commands.trim(), quoted(types))).collect()
}

/// The type of a line, which has all that the schema says of it and no more.
fn type_of(line: &str) -> String {
    let line: Value = serde_json::from_str(line).unwrap();
    let name = line["type"].as_str().unwrap_or_else(|| panic!("without a type: {line}"));
    let schema: Value = serde_json::from_str(SCHEMA).unwrap();
    let schema = json!({ "$ref": format!("#/$defs/{name}"), "$defs": schema["$defs"] });
    let schema = jsonschema::options().should_validate_formats(true).build(&schema).unwrap();
    if let Err(error) = schema.validate(&line) {
        panic!("{error}: {line}");
    }
    name.to_owned()
}

#[test]
fn each_command_prints_lines_of_the_types_that_the_readme_names() {
    let stage = Stage::new();
    let mut documented = table();
    for row in include_str!("fields.txt").split("\n# ").skip(1) {
        let (row, commands) = row.split_once('\n').unwrap();
        let mut types = BTreeSet::new();
        for command in commands.lines() {
            if let Some(other) = command.strip_prefix("+ ") {
                types.extend(other.split(':').next().map(str::to_owned));
                continue;
            }
            let (exit, out, error) = ended(&mut stage.shell(command));
            assert_eq!(exit, Some(0), "{command}: {out}{error}");
            types.extend(out.lines().map(type_of));
        }
        assert_eq!(documented.remove(row), Some(types), "{row}");
    }
    assert_eq!(documented, BTreeMap::new(), "nothing is run for it");
    let refused = "article-webhook inbox list nowhere.db --json";
    let (_, _, error) = ended(&mut stage.shell(refused));
    assert_eq!(type_of(&error), "error");
}
