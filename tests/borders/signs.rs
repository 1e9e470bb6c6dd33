use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::{Literal, TokenStream, TokenTree};
use syn::{
    Attribute, Expr, ExprPath, ExprStruct, Ident, Item, ItemImpl, Lit, Macro, Pat, Path, Token,
    Type, UseRename, punctuated::Punctuated, visit, visit::Visit,
};

use crate::paths::{self, End};

/// What a line of code shows, as the rules of `one_place` ask for it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Sign {
    /// The value `owner::name` is made, or imported to be made: an expression, not a pattern.
    Made { owner: String, name: String },
    /// An identifier.
    Name(String),
    /// An integer literal.
    Number(u64),
    /// A string or byte string literal.
    Text(String),
}

/// The signs in these items, with their lines.
pub(crate) fn of(items: &[Item]) -> Vec<(usize, Sign)> {
    let mut reader = Reader::default();
    for item in items.iter().filter(|item| !matches!(item, Item::Mod(_))) {
        Renames(&mut reader).visit_item(item);
    }
    for item in items.iter().filter(|item| !matches!(item, Item::Mod(_))) {
        reader.visit_item(item);
    }
    reader.found
}

#[derive(Default)]
struct Reader {
    found: Vec<(usize, Sign)>,
    /// `use Rejection as R`: from `R` to `Rejection`.
    renamed: BTreeMap<String, String>,
    /// `use Rejection::*`: a bare variant may be one of these.
    globs: BTreeSet<String>,
    /// The type whose `impl` is being read.
    own: Option<String>,
}

/// Reads the imports first, because what they rename is used above and below them.
struct Renames<'a>(&'a mut Reader);

impl Visit<'_> for Renames<'_> {
    fn visit_use_rename(&mut self, rename: &UseRename) {
        self.0.renamed.insert(rename.rename.to_string(), rename.ident.to_string());
    }

    fn visit_item_use(&mut self, item: &syn::ItemUse) {
        for path in paths::of_use(item) {
            let line = path.line;
            match path.names.as_slice() {
                [.., owner] if path.ends == End::Glob => {
                    self.0.globs.insert(owner.clone());
                }
                [.., owner, name] => {
                    self.0
                        .found
                        .push((line, Sign::Made { owner: owner.clone(), name: name.clone() }));
                }
                _ => {}
            }
        }
        visit::visit_item_use(self, item);
    }
}

impl Reader {
    fn made(&mut self, path: &Path) {
        let mut names = path.segments.iter().rev().map(|segment| &segment.ident);
        let Some(name) = names.next() else { return };
        let line = name.span().start().line;
        let owners = match names.next() {
            Some(owner) if owner == "Self" => self.own.iter().cloned().collect(),
            Some(owner) => {
                let owner = owner.to_string();
                vec![self.renamed.get(&owner).cloned().unwrap_or(owner)]
            }
            None => self.globs.iter().cloned().collect(),
        };
        let made =
            owners.into_iter().map(|owner| (line, Sign::Made { owner, name: name.to_string() }));
        self.found.extend(made);
    }

    /// Tokens that are not expressions: every `Owner :: Name` counts as made.
    fn tokens(&mut self, stream: TokenStream, patterns: Patterns) {
        let tokens: Vec<TokenTree> = stream.into_iter().collect();
        for (i, token) in tokens.iter().enumerate() {
            match token {
                TokenTree::Group(group) => self.tokens(group.stream(), patterns),
                TokenTree::Ident(name) => {
                    self.visit_ident(name);
                    if let (
                        Patterns::Absent,
                        [TokenTree::Ident(owner), TokenTree::Punct(a), TokenTree::Punct(b)],
                    ) = (patterns, &tokens[i.saturating_sub(3)..i])
                        && (a.as_char(), b.as_char()) == (':', ':')
                        && let Ok(path) = syn::parse_str::<Path>(&format!("{owner}::{name}"))
                    {
                        let line = name.span().start().line;
                        let before = self.found.len();
                        self.made(&path);
                        self.found[before..].iter_mut().for_each(|found| found.0 = line);
                    }
                }
                TokenTree::Literal(literal) => self.literal(literal),
                TokenTree::Punct(_) => {}
            }
        }
    }

    fn literal(&mut self, literal: &Literal) {
        let line = literal.span().start().line;
        let sign = match Lit::new(literal.clone()) {
            Lit::Int(number) => number.base10_parse().map(Sign::Number).ok(),
            Lit::Str(text) => Some(Sign::Text(text.value())),
            Lit::ByteStr(text) => {
                Some(Sign::Text(String::from_utf8_lossy(&text.value()).into_owned()))
            }
            _ => None,
        };
        self.found.extend(sign.map(|sign| (line, sign)));
    }
}

/// Whether what a macro is given may be a pattern, which makes nothing.
#[derive(Clone, Copy)]
enum Patterns {
    Possible,
    Absent,
}

impl Visit<'_> for Reader {
    fn visit_item_impl(&mut self, block: &ItemImpl) {
        let own = match &*block.self_ty {
            Type::Path(path) => path.path.segments.last().map(|last| last.ident.to_string()),
            _ => None,
        };
        let outer = std::mem::replace(&mut self.own, own);
        visit::visit_item_impl(self, block);
        self.own = outer;
    }

    fn visit_expr_struct(&mut self, made: &ExprStruct) {
        self.made(&made.path);
        visit::visit_expr_struct(self, made);
    }

    fn visit_expr_path(&mut self, made: &ExprPath) {
        self.made(&made.path);
        visit::visit_expr_path(self, made);
    }

    // A path in a pattern is an `ExprPath` too, and makes nothing.
    fn visit_pat(&mut self, pattern: &Pat) {
        match pattern {
            Pat::Path(path) => visit::visit_expr_path(self, path),
            other => visit::visit_pat(self, other),
        }
    }

    fn visit_macro(&mut self, call: &Macro) {
        let matches = call
            .path
            .segments
            .last()
            .is_some_and(|last| last.ident.to_string().ends_with("matches"));
        let expressions = call.parse_body_with(Punctuated::<Expr, Token![,]>::parse_terminated);
        match expressions {
            _ if matches => self.tokens(call.tokens.clone(), Patterns::Possible),
            Ok(expressions) => {
                expressions.iter().for_each(|expression| self.visit_expr(expression));
            }
            Err(_) => self.tokens(call.tokens.clone(), Patterns::Absent),
        }
    }

    fn visit_ident(&mut self, name: &Ident) {
        self.found.push((name.span().start().line, Sign::Name(name.to_string())));
    }

    fn visit_lit(&mut self, literal: &Lit) {
        let token = match literal {
            Lit::Int(number) => number.token(),
            Lit::Str(text) => text.token(),
            Lit::ByteStr(text) => text.token(),
            _ => return,
        };
        self.literal(&token);
    }

    // Documentation may tell of anything.
    fn visit_attribute(&mut self, _: &Attribute) {}
}
