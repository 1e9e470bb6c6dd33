use std::iter::Peekable;

use proc_macro2::{Delimiter, Ident, TokenStream, TokenTree, token_stream};
use syn::{Attribute, ItemUse, LitStr, Macro, UseTree, visit, visit::Visit};

/// A path as it is written in the source: `crate::json::Value`, or `super::*`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Written {
    pub(crate) line: usize,
    /// Without a last `self` and without `*`.
    pub(crate) names: Vec<String>,
    pub(crate) ends: End,
}

/// What a path of a `use` brings into scope.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum End {
    /// What the path names, under its last name.
    Name,
    /// The same under another name.
    Renamed(String),
    /// Everything in it.
    Glob,
}

impl Written {
    /// The name that a `use` of this path introduces.
    pub(crate) fn introduces(&self) -> Option<&str> {
        match &self.ends {
            End::Name => self.names.last().map(String::as_str),
            End::Renamed(name) => Some(name),
            End::Glob => None,
        }
    }

    pub(crate) fn shown(&self) -> String {
        let path = self.names.join("::");
        match &self.ends {
            End::Name => path,
            End::Renamed(name) => format!("{path} as {name}"),
            End::Glob => format!("{path}::*"),
        }
    }
}

/// The paths of one `use`, one for each name in its braces.
pub(crate) fn of_use(item: &ItemUse) -> Vec<Written> {
    let mut found = Vec::new();
    if item.leading_colon.is_none() {
        flatten(&item.tree, &[], &mut found);
    }
    found
}

fn flatten(tree: &UseTree, before: &[String], found: &mut Vec<Written>) {
    let with = |ident: &Ident| {
        let own = (before.is_empty() || ident != "self").then(|| ident.to_string());
        before.iter().cloned().chain(own).collect::<Vec<_>>()
    };
    let mut push = |ident: &Ident, names, ends| {
        found.push(Written { line: ident.span().start().line, names, ends });
    };
    match tree {
        UseTree::Path(path) => flatten(&path.tree, &with(&path.ident), found),
        UseTree::Name(name) => push(&name.ident, with(&name.ident), End::Name),
        UseTree::Rename(name) => {
            push(&name.ident, with(&name.ident), End::Renamed(name.rename.to_string()));
        }
        UseTree::Glob(glob) => {
            let line = glob.star_token.spans[0].start().line;
            found.push(Written { line, names: before.to_vec(), ends: End::Glob });
        }
        UseTree::Group(group) => group.items.iter().for_each(|tree| flatten(tree, before, found)),
    }
}

/// Every path of several names in these items: in imports, expressions, types and patterns. In what is
/// passed to macros and attributes, those that start with `crate`, `self` or `super`.
#[derive(Default)]
pub(crate) struct Paths {
    pub(crate) found: Vec<Written>,
}

impl Visit<'_> for Paths {
    fn visit_item_use(&mut self, item: &ItemUse) {
        self.found.extend(of_use(item));
    }

    fn visit_path(&mut self, path: &syn::Path) {
        self.found.extend(written(path));
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, call: &Macro) {
        visit::visit_macro(self, call);
        scan(call.tokens.clone(), &mut self.found);
    }

    // `#[serde(with = "crate::json")]` is a use too; what docs link to is not.
    fn visit_attribute(&mut self, attribute: &Attribute) {
        if let (false, syn::Meta::List(list)) = (attribute.path().is_ident("doc"), &attribute.meta)
        {
            scan(list.tokens.clone(), &mut self.found);
            for token in list.tokens.clone() {
                if let TokenTree::Literal(literal) = token
                    && let Ok(text) = syn::parse_str::<LitStr>(&literal.to_string())
                    && let Ok(path) = text.parse::<syn::Path>()
                {
                    let line = literal.span().start().line;
                    self.found.extend(written(&path).map(|path| Written { line, ..path }));
                }
            }
        }
    }
}

/// A single name is a value, a type in scope, or the `crate` of a visibility.
fn written(path: &syn::Path) -> Option<Written> {
    let names: Vec<String> =
        path.segments.iter().map(|segment| segment.ident.to_string()).collect();
    let line = path.segments.first()?.ident.span().start().line;
    (names.len() > 1).then_some(Written { line, names, ends: End::Name })
}

type Tokens = Peekable<token_stream::IntoIter>;

/// Finds `crate :: a :: b` in tokens that need not be Rust.
fn scan(stream: TokenStream, found: &mut Vec<Written>) {
    let mut tokens = stream.into_iter().peekable();
    while let Some(token) = tokens.next() {
        match token {
            TokenTree::Group(group) => scan(group.stream(), found),
            TokenTree::Ident(ident)
                if ["crate", "self", "super"].iter().any(|start| ident == start) =>
            {
                follow(&ident, Vec::new(), &mut tokens, found);
            }
            _ => {}
        }
    }
}

/// Reads on behind a name of a path: `:: b`, `:: { b, c :: d }` or `:: *`.
fn follow(name: &Ident, mut names: Vec<String>, tokens: &mut Tokens, found: &mut Vec<Written>) {
    let line = name.span().start().line;
    names.push(name.to_string());
    let mut ends = End::Name;
    while eat_colons(tokens) {
        match tokens.next() {
            Some(TokenTree::Ident(next)) => names.push(next.to_string()),
            Some(TokenTree::Punct(star)) if star.as_char() == '*' => {
                ends = End::Glob;
                break;
            }
            Some(TokenTree::Group(list)) if list.delimiter() == Delimiter::Brace => {
                let mut list = list.stream().into_iter().peekable();
                while let Some(token) = list.next() {
                    if let TokenTree::Ident(next) = token {
                        follow(&next, names.clone(), &mut list, found);
                    }
                }
                return;
            }
            // Generic arguments: the path of the type itself ends here.
            _ => break,
        }
    }
    if names.len() > 1 || ends == End::Glob {
        found.push(Written { line, names, ends });
    }
}

fn eat_colons(tokens: &mut Tokens) -> bool {
    let is_colon =
        |token: &TokenTree| matches!(token, TokenTree::Punct(mark) if mark.as_char() == ':');
    let mut ahead = tokens.clone();
    let found = ahead.next_if(is_colon).is_some() && ahead.next_if(is_colon).is_some();
    if found {
        *tokens = ahead;
    }
    found
}
