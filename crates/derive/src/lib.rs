//! `#[derive(Packed)]`: how the values of a type of fixed size are packed into bits.
//!
//! The code that is written here names everything by `::scrimp`, so that a program needs no other dependency. A struct is packed field
//! by field. An enum is packed as the number of its variant, in as few bits as tell all variants apart, followed by the fields of the
//! variant and as many zeros as it is shorter than the longest one.

mod field;

use field::Field;
use proc_macro2::{Literal, TokenStream};
use quote::quote;
use syn::{Attribute, Data, DeriveInput, Error, Fields, Ident, Member, Result, parse_macro_input, parse_quote};

/// Says how values of this type are packed into bits. The fields must be of types that are `Packed`
/// themselves; `#[packed(bits = 3)]` and `#[packed(max = 5)]` on a field of integers, or of arrays or options of them, say how large
/// they become.
#[proc_macro_derive(Packed, attributes(packed))]
pub fn packed(input: proc_macro::TokenStream) -> proc_macro::TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    implementation(input).unwrap_or_else(Error::into_compile_error).into()
}

/// The implementation of the trait.
fn implementation(input: DeriveInput) -> Result<TokenStream> {
    no_attribute(&input.attrs)?;
    let name = &input.ident;
    let (bits, pack, unpack) = match &input.data {
        Data::Struct(data) => of_struct(name, &data.fields)?,
        Data::Enum(data) if data.variants.is_empty() => {
            return Err(Error::new_spanned(name, "an enum without variants has no values to pack"));
        }
        Data::Enum(data) => {
            let mut variants = Vec::new();
            for variant in &data.variants {
                no_attribute(&variant.attrs)?;
                let fields = Field::all(&format!("{name}::{}", variant.ident), &variant.fields)?;
                variants.push((&variant.ident, fields));
            }
            of_enum(&variants)
        }
        Data::Union(data) => {
            let why = "a union cannot be packed, because nothing says which of its fields is meant: use an enum";
            return Err(Error::new_spanned(data.union_token, why));
        }
    };
    let mut generics = input.generics.clone();
    for parameter in generics.type_params_mut() {
        parameter.bounds.push(parse_quote!(::scrimp::Packed));
    }
    let (parameters, arguments, bounds) = generics.split_for_impl();
    Ok(quote! {
        #[automatically_derived]
        #[allow(clippy::identity_op, clippy::init_numbered_fields)]
        impl #parameters ::scrimp::Packed for #name #arguments #bounds {
            const BITS: u32 = #bits;

            #[inline]
            fn pack(&self, out: &mut ::scrimp::packed::Writer<'_>) {
                #pack
            }

            #[inline]
            fn unpack(from: &mut ::scrimp::packed::Reader<'_>) -> Self {
                #unpack
            }
        }
    })
}

/// The number of bits, the code that packs, and the code that unpacks.
type Code = (TokenStream, TokenStream, TokenStream);

fn of_struct(name: &Ident, fields: &Fields) -> Result<Code> {
    let fields = Field::all(&name.to_string(), fields)?;
    let (members, places) = patterns(&fields);
    let (bits, pack, unpack) = (sum(&fields), fields.iter().map(Field::pack), fields.iter().map(Field::unpack));
    Ok((
        bits,
        quote! { let Self { #(#members: #places),* } = self; #(#pack)* let _ = out; },
        quote! { let _ = &from; Self { #(#members: #unpack),* } },
    ))
}

fn of_enum(variants: &[(&Ident, Vec<Field>)]) -> Code {
    let tag = (variants.len() - 1).checked_ilog2().map_or(0, |log| log + 1);
    let lengths: Vec<TokenStream> = variants.iter().map(|(_, fields)| sum(fields)).collect();
    let rest = |length: &TokenStream| quote! { const { <Self as ::scrimp::Packed>::BITS - #tag - (#length) } };
    // The number is found first and written once: where no variant has fields, nothing depends on which one it is.
    let tags = variants.iter().enumerate().map(|(number, (name, _))| {
        let number = Literal::u64_unsuffixed(number as u64);
        quote! { Self::#name { .. } => #number }
    });
    let packs = variants.iter().zip(&lengths).map(|((name, fields), length)| {
        let ((members, places), rest) = (patterns(fields), rest(length));
        let pack = fields.iter().map(Field::pack);
        quote! { Self::#name { #(#members: #places),* } => { #(#pack)* out.skip(#rest); } }
    });
    let plain = variants.iter().all(|(_, fields)| fields.is_empty());
    let packs = if plain {
        TokenStream::new()
    } else {
        quote! { match self { #(#packs)* } }
    };
    let made = variants.iter().zip(&lengths).map(|((name, fields), length)| {
        let (members, unpack, rest) =
            (fields.iter().map(|field| &field.member), fields.iter().map(Field::unpack), rest(length));
        quote! { let made = Self::#name { #(#members: #unpack),* }; from.skip(#rest); made }
    });
    let made: Vec<TokenStream> = made.collect();
    let numbers = (1..made.len()).map(|number| Literal::u64_unsuffixed(number as u64));
    let (first, others) = (&made[0], &made[1..]);
    // Where variants are mere numbers, one for each lets the compiler see that nothing is to be done.
    let zero = plain.then(|| quote! { 0 => { #first } });
    (
        quote! { #tag + ::scrimp::packed::longest(&[#(#lengths),*]) },
        quote! { out.write(match self { #(#tags),* }, #tag); #packs },
        // A number that no variant has is noted, and read as the first one.
        quote! {
            match from.read(#tag) {
                #zero
                #(#numbers => { #others })*
                number => {
                    from.expect(number == 0);
                    #first
                }
            }
        },
    )
}

/// The names of fields, and the variables that they are bound to.
fn patterns<'a>(fields: &'a [Field]) -> (Vec<&'a Member>, Vec<&'a Ident>) {
    fields.iter().map(|field| (&field.member, &field.place)).unzip()
}

fn sum(fields: &[Field]) -> TokenStream {
    let bits = fields.iter().map(Field::bits);
    quote! { 0 #(+ #bits)* }
}

/// Attributes are for fields.
fn no_attribute(attributes: &[Attribute]) -> Result<()> {
    match attributes.iter().find(|attribute| attribute.path().is_ident("packed")) {
        Some(attribute) => Err(Error::new_spanned(attribute, "`#[packed(…)]` belongs to a field that holds integers")),
        None => Ok(()),
    }
}
