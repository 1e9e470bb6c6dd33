use syn::{Arm, Block, FieldsNamed, ItemImpl, ItemMod, ItemTrait, visit_mut::VisitMut};
use syn::{
    Attribute, File, ImplItem, Item, Meta, Stmt, TraitItem, punctuated::Punctuated, token::Comma,
    visit_mut,
};

/// Takes out everything that only a test build compiles.
pub(crate) fn without_tests(file: &mut File) {
    Strip.visit_file_mut(file);
}

struct Strip;

impl VisitMut for Strip {
    fn visit_file_mut(&mut self, file: &mut File) {
        file.items.retain(|item| !is_test(item_attributes(item)));
        visit_mut::visit_file_mut(self, file);
    }

    fn visit_item_mod_mut(&mut self, module: &mut ItemMod) {
        if let Some((_, items)) = &mut module.content {
            items.retain(|item| !is_test(item_attributes(item)));
        }
        visit_mut::visit_item_mod_mut(self, module);
    }

    fn visit_item_impl_mut(&mut self, block: &mut ItemImpl) {
        block.items.retain(|item| {
            !is_test(match item {
                ImplItem::Const(item) => &item.attrs,
                ImplItem::Fn(item) => &item.attrs,
                ImplItem::Type(item) => &item.attrs,
                ImplItem::Macro(item) => &item.attrs,
                _ => &[],
            })
        });
        visit_mut::visit_item_impl_mut(self, block);
    }

    fn visit_item_trait_mut(&mut self, definition: &mut ItemTrait) {
        definition.items.retain(|item| {
            !is_test(match item {
                TraitItem::Const(item) => &item.attrs,
                TraitItem::Fn(item) => &item.attrs,
                TraitItem::Type(item) => &item.attrs,
                TraitItem::Macro(item) => &item.attrs,
                _ => &[],
            })
        });
        visit_mut::visit_item_trait_mut(self, definition);
    }

    fn visit_fields_named_mut(&mut self, fields: &mut FieldsNamed) {
        let kept = std::mem::take(&mut fields.named);
        fields.named = kept.into_iter().filter(|field| !is_test(&field.attrs)).collect();
        visit_mut::visit_fields_named_mut(self, fields);
    }

    fn visit_block_mut(&mut self, block: &mut Block) {
        block.stmts.retain(|statement| {
            !is_test(match statement {
                Stmt::Local(local) => &local.attrs,
                Stmt::Item(item) => item_attributes(item),
                Stmt::Macro(call) => &call.attrs,
                Stmt::Expr(syn::Expr::Block(block), _) => &block.attrs,
                Stmt::Expr(syn::Expr::If(branch), _) => &branch.attrs,
                Stmt::Expr(syn::Expr::Call(call), _) => &call.attrs,
                Stmt::Expr(syn::Expr::MethodCall(call), _) => &call.attrs,
                Stmt::Expr(..) => &[],
            })
        });
        visit_mut::visit_block_mut(self, block);
    }

    fn visit_expr_match_mut(&mut self, choice: &mut syn::ExprMatch) {
        choice.arms.retain(|Arm { attrs, .. }| !is_test(attrs));
        visit_mut::visit_expr_match_mut(self, choice);
    }
}

fn is_test(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        attribute.path().is_ident("test")
            || attribute.path().is_ident("cfg")
                && attribute.parse_args::<Meta>().is_ok_and(|condition| needs_test(&condition))
    })
}

/// Whether a `cfg` condition holds in test builds alone.
fn needs_test(condition: &Meta) -> bool {
    let Meta::List(list) = condition else {
        return condition.path().is_ident("test") || condition.path().is_ident("doctest");
    };
    let Ok(parts) = list.parse_args_with(Punctuated::<Meta, Comma>::parse_terminated) else {
        return false;
    };
    if list.path.is_ident("all") {
        parts.iter().any(needs_test)
    } else if list.path.is_ident("any") {
        !parts.is_empty() && parts.iter().all(needs_test)
    } else {
        false
    }
}

fn item_attributes(item: &Item) -> &[Attribute] {
    match item {
        Item::Const(item) => &item.attrs,
        Item::Enum(item) => &item.attrs,
        Item::ExternCrate(item) => &item.attrs,
        Item::Fn(item) => &item.attrs,
        Item::ForeignMod(item) => &item.attrs,
        Item::Impl(item) => &item.attrs,
        Item::Macro(item) => &item.attrs,
        Item::Mod(item) => &item.attrs,
        Item::Static(item) => &item.attrs,
        Item::Struct(item) => &item.attrs,
        Item::Trait(item) => &item.attrs,
        Item::TraitAlias(item) => &item.attrs,
        Item::Type(item) => &item.attrs,
        Item::Union(item) => &item.attrs,
        Item::Use(item) => &item.attrs,
        _ => &[],
    }
}
