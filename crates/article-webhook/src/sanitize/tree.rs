use std::{
    borrow::Cow,
    cell::{Cell, RefCell},
};

use html5ever::{
    Attribute, ExpandedName, LocalName, Namespace, QualName,
    interface::{ElementFlags, NodeOrText, QuirksMode, TreeSink},
    local_name, ns,
    tendril::StrTendril,
};

use super::{profile::is_hidden, too_complex::TooComplex};

/// How deep elements may be nested.
const MAX_DEPTH: usize = 256;

/// How many elements and pieces of text there may be.
const MAX_NODES: usize = 100_000;

/// How many operations the tree builder may ask for: some at once, and the more the longer the HTML is. Its searches among open and
/// formatting elements are all operations, so that they cannot take a time that grows with the square of the length.
const FREE_OPERATIONS: usize = 200_000;
const OPERATIONS_PER_BYTE: usize = 16;

/// How many elements and texts may be in a table without being in a cell. The tree builder puts each before the table, and logs a
/// warning.
const MAX_FOSTERED: usize = 1000;

/// The index of the document, which has one child: the root of all elements.
const DOCUMENT: usize = 0;

static HTML: Namespace = ns!(html);

/// The elements and the text of an article, as the tree builder makes them. It counts what is asked of it.
pub(super) struct Tree {
    nodes: RefCell<Vec<Node>>,
    operations: Cell<usize>,
    max_operations: usize,
    exceeded: Cell<Option<TooComplex>>,
}

/// A node of the tree. All elements are of HTML.
#[derive(Clone, Debug)]
pub(super) struct Handle {
    index: usize,
    name: LocalName,
}

/// A node has links to its neighbours, so that it comes and goes at any place in one step.
struct Node {
    content: Content,
    depth: usize,
    parent: Option<usize>,
    previous: Option<usize>,
    next: Option<usize>,
    first: Option<usize>,
    last: Option<usize>,
}

enum Content {
    Element(LocalName, Vec<Attribute>),
    Text(StrTendril),
}

impl Tree {
    /// A tree with its document, for HTML of this length.
    pub(super) fn new(bytes: usize) -> Self {
        let tree = Self {
            nodes: RefCell::default(),
            operations: Cell::default(),
            max_operations: FREE_OPERATIONS + bytes * OPERATIONS_PER_BYTE,
            exceeded: Cell::default(),
        };
        tree.add(Content::Text(StrTendril::new()));
        tree
    }

    pub(super) fn operations(&self) -> usize {
        self.operations.get()
    }

    pub(super) fn exceeded(&self) -> Option<TooComplex> {
        self.exceeded.get()
    }

    /// The first limit that was reached stays.
    pub(super) fn exceed(&self, limit: TooComplex) {
        self.exceeded.set(self.exceeded.get().or(Some(limit)));
    }

    fn charge(&self, operations: usize) {
        self.operations.set(self.operations.get() + operations);
        if self.operations.get() > self.max_operations {
            self.exceed(TooComplex::Operations);
        }
    }

    fn add(&self, content: Content) -> usize {
        let mut nodes = self.nodes.borrow_mut();
        if nodes.len() >= MAX_NODES {
            self.exceed(TooComplex::Nodes);
        }
        nodes.push(Node {
            content,
            depth: 0,
            parent: None,
            previous: None,
            next: None,
            first: None,
            last: None,
        });
        nodes.len() - 1
    }

    /// Gives the element that was made last its attributes, if it has this name.
    pub(super) fn complete(&self, name: &LocalName, attributes: Vec<Attribute>) {
        if let Some(Content::Element(last, none)) =
            self.nodes.borrow_mut().last_mut().map(|node| &mut node.content)
            && last == name
        {
            *none = attributes;
        }
    }

    /// Adds text after a node, or a new one for it.
    fn text_node(&self, after: Option<usize>, text: StrTendril) -> Option<usize> {
        if let Some(after) = after
            && let Content::Text(before) = &mut self.nodes.borrow_mut()[after].content
        {
            before.push_tendril(&text);
            return None;
        }
        Some(self.add(Content::Text(text)))
    }

    /// Puts a node into a parent, before one of its children or at the end.
    fn link(&self, parent: usize, child: NodeOrText<Handle>, next: Option<usize>) {
        self.charge(1);
        let previous =
            |nodes: &[Node]| next.map_or(nodes[parent].last, |next| nodes[next].previous);
        let child = match child {
            NodeOrText::AppendText(text) => {
                let before = previous(&self.nodes.borrow());
                self.text_node(before, text)
            }
            NodeOrText::AppendNode(node) => {
                self.unlink(node.index);
                Some(node.index)
            }
        };
        let Some(child) = child else { return };
        let nodes = &mut *self.nodes.borrow_mut();
        let previous = previous(nodes);
        // The root is not counted.
        let depth = nodes[parent].depth + usize::from(parent != DOCUMENT);
        let node = &mut nodes[child];
        if depth > MAX_DEPTH && matches!(node.content, Content::Element(..)) {
            self.exceed(TooComplex::Depth);
        }
        (node.parent, node.previous, node.next, node.depth) = (Some(parent), previous, next, depth);
        *after(nodes, parent, previous) = Some(child);
        *before(nodes, parent, next) = Some(child);
    }

    fn unlink(&self, index: usize) {
        let nodes = &mut *self.nodes.borrow_mut();
        let node = &mut nodes[index];
        let (parent, previous, next) = (node.parent.take(), node.previous.take(), node.next.take());
        let Some(parent) = parent else { return };
        *after(nodes, parent, previous) = next;
        *before(nodes, parent, next) = previous;
    }

    /// The HTML of what is in the tree.
    pub(super) fn write(&self, capacity: usize) -> String {
        let nodes = self.nodes.borrow();
        let mut html = String::with_capacity(capacity);
        let root = nodes[DOCUMENT].first.unwrap_or(DOCUMENT);
        let mut steps: Vec<_> = nodes[root].first.map(Step::Node).into_iter().collect();
        while let Some(step) = steps.pop() {
            let index = match step {
                Step::Node(index) => index,
                Step::End(name) => {
                    html.extend(["</", &**name, ">"]);
                    continue;
                }
            };
            let node = &nodes[index];
            steps.extend(node.next.map(Step::Node));
            match &node.content {
                Content::Text(text) => escape(text, &['&', '<', '>', '\u{a0}'], &mut html),
                Content::Element(name, attributes) if is_written(&nodes, node) => {
                    html.extend(["<", &**name]);
                    for attribute in attributes {
                        html.extend([" ", &*attribute.name.local, "=\""]);
                        escape(&attribute.value, &['&', '<', '>', '\u{a0}', '"'], &mut html);
                        html.push('"');
                    }
                    html.push('>');
                    if !is_void(name) {
                        steps.push(Step::End(name));
                    }
                    if !is_hidden(name) {
                        steps.extend(node.first.map(Step::Node));
                    }
                }
                Content::Element(..) => {}
            }
        }
        html
    }
}

/// What is to be written: a node with its content and what follows it, or an element's end.
enum Step<'a> {
    Node(usize),
    End(&'a LocalName),
}

/// The link to what follows a child, or to the first of all.
fn after(nodes: &mut [Node], parent: usize, child: Option<usize>) -> &mut Option<usize> {
    match child {
        Some(child) => &mut nodes[child].next,
        None => &mut nodes[parent].first,
    }
}

/// The link to what comes before a child, or to the last of all.
fn before(nodes: &mut [Node], parent: usize, child: Option<usize>) -> &mut Option<usize> {
    match child {
        Some(child) => &mut nodes[child].previous,
        None => &mut nodes[parent].last,
    }
}

/// Whether an element is written. Of those that are hidden, only a frame has attributes.
fn is_written(nodes: &[Node], node: &Node) -> bool {
    let Content::Element(name, attributes) = &node.content else { return true };
    let is_child_of = |parents: &[&str]| {
        let parent = node.parent.map(|parent| &nodes[parent].content);
        matches!(parent, Some(Content::Element(parent, _)) if parents.contains(&&**parent))
    };
    match &**name {
        "source" | "track" => is_child_of(&["audio", "picture", "video"]),
        _ => !is_hidden(name) || !attributes.is_empty(),
    }
}

/// Whether an element has no content and no end tag.
fn is_void(name: &LocalName) -> bool {
    matches!(&**name, "br" | "col" | "hr" | "img" | "source" | "track" | "wbr")
}

/// Writes text without characters that mean something else. html5ever's serialiser searches the rest of a text again after each
/// `&`, which takes a time that grows with the square of its length.
fn escape(text: &str, special: &[char], html: &mut String) {
    let mut rest = text;
    while let Some(index) = rest.find(special) {
        html.push_str(&rest[..index]);
        let special = rest[index..].chars().next().unwrap_or_default();
        html.push_str(match special {
            '&' => "&amp;",
            '<' => "&lt;",
            '>' => "&gt;",
            '"' => "&quot;",
            _ => "&nbsp;",
        });
        rest = &rest[index + special.len_utf8()..];
    }
    html.push_str(rest);
}

impl TreeSink for Tree {
    type Handle = Handle;
    type Output = Self;
    type ElemName<'a> = ExpandedName<'a>;

    fn finish(self) -> Self {
        self
    }

    fn parse_error(&self, _: Cow<'static, str>) {}

    fn get_document(&self) -> Handle {
        Handle { index: DOCUMENT, name: local_name!("") }
    }

    fn elem_name<'a>(&'a self, target: &'a Handle) -> ExpandedName<'a> {
        self.charge(1);
        ExpandedName { ns: &HTML, local: &target.name }
    }

    fn create_element(
        &self,
        name: QualName,
        attributes: Vec<Attribute>,
        _: ElementFlags,
    ) -> Handle {
        // A copy of an element writes its attributes again. So what is written is at most some times as long as what is read.
        let bytes: usize = attributes.iter().map(|attribute| attribute.value.len()).sum();
        self.charge(1 + attributes.len() + 4 * bytes);
        let name = name.local;
        Handle { index: self.add(Content::Element(name.clone(), attributes)), name }
    }

    fn create_comment(&self, _: StrTendril) -> Handle {
        unreachable!("comments do not reach the tree builder")
    }

    fn create_pi(&self, _: StrTendril, _: StrTendril) -> Handle {
        unreachable!("HTML has no processing instructions")
    }

    fn append(&self, parent: &Handle, child: NodeOrText<Handle>) {
        self.link(parent.index, child, None);
    }

    fn append_based_on_parent_node(
        &self,
        element: &Handle,
        previous: &Handle,
        child: NodeOrText<Handle>,
    ) {
        self.charge(self.max_operations / MAX_FOSTERED);
        let parent = self.nodes.borrow()[element.index].parent;
        match parent {
            Some(_) => self.append_before_sibling(element, child),
            None => self.append(previous, child),
        }
    }

    fn append_before_sibling(&self, sibling: &Handle, child: NodeOrText<Handle>) {
        let parent = self.nodes.borrow()[sibling.index].parent;
        self.link(parent.unwrap_or(DOCUMENT), child, Some(sibling.index));
    }

    fn append_doctype_to_document(&self, _: StrTendril, _: StrTendril, _: StrTendril) {}

    fn get_template_contents(&self, target: &Handle) -> Handle {
        target.clone()
    }

    fn same_node(&self, x: &Handle, y: &Handle) -> bool {
        self.charge(1);
        x.index == y.index
    }

    fn set_quirks_mode(&self, _: QuirksMode) {}

    fn add_attrs_if_missing(&self, _: &Handle, _: Vec<Attribute>) {}

    fn remove_from_parent(&self, target: &Handle) {
        self.charge(1);
        self.unlink(target.index);
    }

    fn reparent_children(&self, node: &Handle, new_parent: &Handle) {
        loop {
            let Some(first) = self.nodes.borrow()[node.index].first else { return };
            let child = Handle { index: first, name: local_name!("") };
            self.append(new_parent, NodeOrText::AppendNode(child));
        }
    }
}
