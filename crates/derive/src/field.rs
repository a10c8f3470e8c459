//! A field, and the code that packs it.

use proc_macro2::{Span, TokenStream};
use quote::{format_ident, quote_spanned};
use syn::spanned::Spanned;
use syn::{Attribute, Error, Expr, Fields, Ident, Member, Result, Type};

/// A field of a struct or a variant.
pub struct Field<'a> {
    pub member: Member,
    /// The variable that it is bound to where a value is packed.
    pub place: Ident,
    /// What errors call it: `State.count`.
    name: String,
    kind: &'a Type,
    /// How large its integers become, as an expression.
    limit: Option<TokenStream>,
}

impl Field<'_> {
    /// The fields of what is called `owner`.
    pub fn all<'a>(owner: &str, fields: &'a Fields) -> Result<Vec<Field<'a>>> {
        let all = fields.members().zip(fields).enumerate();
        all.map(|(number, (member, field))| {
            let name = match &member {
                Member::Named(name) => format!("{owner}.{name}"),
                Member::Unnamed(index) => format!("{owner}.{}", index.index),
            };
            let limit = limit(&field.attrs, &field.ty)?;
            Ok(Field { member, place: format_ident!("field_{number}"), name, kind: &field.ty, limit })
        })
        .collect()
    }

    /// How many bits it takes.
    pub fn bits(&self) -> TokenStream {
        let kind = self.kind;
        match &self.limit {
            None => quote_spanned! { kind.span() => <#kind as ::scrimp::Packed>::BITS },
            Some(limit) => quote_spanned! { kind.span() => ::scrimp::packed::narrow_bits::<#kind>(#limit) },
        }
    }

    /// Packs what the variable of the field refers to.
    pub fn pack(&self) -> TokenStream {
        let Field { place, name, kind, limit, .. } = self;
        // The types are where errors are shown; the variables are those of the code around.
        let out = Ident::new("out", Span::call_site());
        match limit {
            None => quote_spanned! { kind.span() => <#kind as ::scrimp::Packed>::pack(#place, #out); },
            Some(limit) => quote_spanned! { kind.span() =>
                <#kind as ::scrimp::packed::Narrow>::pack_narrow(
                    #place, const { &::scrimp::packed::Narrowed { field: #name, limit: #limit } }, #out,
                );
            },
        }
    }

    /// Unpacks the field.
    pub fn unpack(&self) -> TokenStream {
        let Field { kind, limit, .. } = self;
        let from = Ident::new("from", Span::call_site());
        match limit {
            None => quote_spanned! { kind.span() => <#kind as ::scrimp::Packed>::unpack(#from) },
            Some(limit) => quote_spanned! { kind.span() =>
                <#kind as ::scrimp::packed::Narrow>::unpack_narrow(const { #limit }, #from)
            },
        }
    }
}

/// What `#[packed(bits = …)]` or `#[packed(max = …)]` says about a field of this type.
fn limit(attributes: &[Attribute], kind: &Type) -> Result<Option<TokenStream>> {
    let mut found = None;
    for attribute in attributes.iter().filter(|attribute| attribute.path().is_ident("packed")) {
        attribute.parse_nested_meta(|meta| {
            let of = if meta.path.is_ident("bits") {
                "of_bits"
            } else if meta.path.is_ident("max") {
                "of_max"
            } else {
                return Err(meta.error("expected `bits = …` or `max = …`"));
            };
            let value: Expr = meta.value()?.parse()?;
            if found.is_some() {
                return Err(meta.error("a field has one limit: either `bits` or `max`"));
            }
            let of = Ident::new(of, value.span());
            found = Some(quote_spanned! { value.span() => ::scrimp::packed::Limit::#of::<#kind>(#value) });
            Ok(())
        })?;
        if found.is_none() {
            return Err(Error::new_spanned(attribute, "expected `bits = …` or `max = …`"));
        }
    }
    Ok(found)
}
