use std::{
    cell::{Cell, RefCell},
    mem,
};

use html5ever::{
    QualName, TokenizerResult,
    buffer_queue::BufferQueue,
    local_name, ns,
    tendril::StrTendril,
    tokenizer::{TagKind, Token, TokenSink, TokenSinkResult, Tokenizer, TokenizerOpts},
    tree_builder::{TreeBuilder, TreeBuilderOpts, create_element},
};

use super::{
    profile::is_formatting,
    sanitizer::ArticleSanitizer,
    too_complex::TooComplex,
    tree::{Handle, Tree},
    url::without_long_data,
};

/// How many bytes of HTML are read.
const MAX_BYTES: usize = 8 * 1024 * 1024;

/// How many attributes a tag may have.
const MAX_ATTRIBUTES: usize = 100;

/// How many bytes an unfinished tag may have that can begin an attribute. The tokenizer compares each attribute of a
/// tag with all before it, so a tag must be refused before its end.
const MAX_SEPARATORS: usize = 8 * 1024;

/// A `data:` image may be in that tag: about one in 48 of its bytes is written as a slash. Images that are larger than this are not
/// taken into account.
const MAX_EXPECTED_IMAGE: usize = 1024 * 1024;

/// How many bytes are given to the tokenizer at a time.
const CHUNK: usize = 4096;

impl ArticleSanitizer {
    /// The HTML, and how many operations of the tree it took, also if it was refused.
    pub(crate) fn sanitize(&self, html: &str) -> (Result<String, TooComplex>, usize) {
        if html.len() > MAX_BYTES {
            return (Err(TooComplex::Bytes), 0);
        }
        let html = without_long_data(html, self.max_data_image);
        let tree = self.read(&html);
        let sanitized = match tree.exceeded() {
            Some(limit) => Err(limit),
            None => Ok(tree.write(html.len())),
        };
        (sanitized, tree.operations())
    }

    fn read(&self, html: &str) -> Tree {
        let tree = Tree::new(html.len());
        let context =
            create_element(&tree, QualName::new(None, ns!(html), local_name!("div")), Vec::new());
        let builder =
            TreeBuilder::new_for_fragment(tree, context, None, TreeBuilderOpts::default());
        let filter = Filter {
            sanitizer: self,
            builder,
            ended_token: Cell::default(),
            text: RefCell::default(),
        };
        let tokenizer = Tokenizer::new(filter, TokenizerOpts::default());
        let input = BufferQueue::default();
        let max_separators = MAX_SEPARATORS + self.max_data_image.min(MAX_EXPECTED_IMAGE) / 16;
        let tree = || &tokenizer.sink.builder.sink;
        let (mut rest, mut separators) = (html, 0);
        while !rest.is_empty() && tree().exceeded().is_none() {
            let mut end = CHUNK.min(rest.len());
            while !rest.is_char_boundary(end) {
                end -= 1;
            }
            let (chunk, after) = rest.split_at(end);
            let own = chunk
                .bytes()
                .filter(|byte| matches!(byte, b'/' | b'"' | b'\'') || byte.is_ascii_whitespace())
                .count();
            if separators + own > max_separators {
                tree().exceed(TooComplex::Attributes);
                break;
            }
            tokenizer.sink.ended_token.set(false);
            input.push_back(StrTendril::from(chunk));
            while !matches!(tokenizer.feed(&input), TokenizerResult::Done) {}
            separators = if tokenizer.sink.ended_token.get() { own } else { separators + own };
            rest = after;
        }
        if tree().exceeded().is_none() {
            tokenizer.end();
        }
        tokenizer.sink.builder.sink
    }
}

/// Stands between the tokenizer and the tree builder, and lets through what is allowed. So the tree builder never sees foreign
/// content, templates or forms.
///
/// Of formatting elements it sees no attributes either: it keeps at most three of a kind open, and each that differs in an attribute
/// would be a kind. The attributes are added to the element afterwards. Copies, which it makes where elements are wrongly
/// nested, have none.
struct Filter<'a> {
    sanitizer: &'a ArticleSanitizer,
    builder: TreeBuilder<Handle, Tree>,
    /// Whether a tag, a comment or text ended since the last chunk began.
    ended_token: Cell<bool>,
    /// Text that the tree builder did not get yet. It gets all of what is between two tags at once.
    text: RefCell<StrTendril>,
}

impl TokenSink for Filter<'_> {
    type Handle = Handle;

    fn process_token(&self, token: Token, line: u64) -> TokenSinkResult<Handle> {
        // An error may be reported in the middle of a tag.
        if matches!(token, Token::ParseError(_)) {
            return TokenSinkResult::Continue;
        }
        self.ended_token.set(true);
        let mut formatting = None;
        let token = match token {
            Token::TagToken(mut tag) => {
                if tag.attrs.len() > MAX_ATTRIBUTES {
                    self.builder.sink.exceed(TooComplex::Attributes);
                }
                let is_start = tag.kind == TagKind::StartTag;
                let is_allowed = match is_start {
                    true => self.sanitizer.admit(&mut tag),
                    false => self.sanitizer.admits_element(&tag.name),
                };
                if !is_allowed {
                    return TokenSinkResult::Continue;
                }
                if is_start && is_formatting(&tag.name) {
                    formatting = Some((tag.name.clone(), mem::take(&mut tag.attrs)));
                }
                Token::TagToken(tag)
            }
            Token::CharacterTokens(text) => {
                self.text.borrow_mut().push_tendril(&text);
                return TokenSinkResult::Continue;
            }
            Token::EOFToken => Token::EOFToken,
            _ => return TokenSinkResult::Continue,
        };
        let text = self.text.take();
        if !text.is_empty() {
            let _ = self.builder.process_token(Token::CharacterTokens(text), line);
        }
        if self.builder.sink.exceeded().is_some() {
            return TokenSinkResult::Continue;
        }
        let result = self.builder.process_token(token, line);
        if let Some((name, attributes)) = formatting {
            self.builder.sink.complete(&name, attributes);
        }
        result
    }

    fn end(&self) {
        self.builder.end();
    }
}
