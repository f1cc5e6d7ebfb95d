//! `models`.

use crate::config::shape::{Field, Shape};

/// A model of a provider; what it can do is not judged.
const MODEL: Shape = Shape::Open(&[&[
    ("id", Shape::Required(&Shape::SomeText)),
    ("name", Shape::Required(&Shape::SomeText)),
    ("reasoning", Shape::Flag),
]]);

const AUTH: Shape = Shape::OneOf(&["api-key", "aws-sdk", "oauth", "token"]);

const MODE: &[Field] = &[("mode", Shape::OneOf(&["merge", "replace"]))];

pub(super) const MODELS_4: Shape = Shape::Open(&[
    MODE,
    &[(
        "providers",
        Shape::Map(&Shape::Open(&[&[
            ("auth", AUTH),
            ("authHeader", Shape::Flag),
            ("baseUrl", Shape::Required(&Shape::SomeText)),
            ("models", Shape::List(&MODEL)),
        ]])),
    )],
]);

/// Providers that come with the program need neither an address nor models, so neither is asked for.
pub(super) const MODELS_9: Shape = Shape::Open(&[
    MODE,
    &[(
        "providers",
        Shape::Map(&Shape::Open(&[&[
            ("auth", AUTH),
            ("authHeader", Shape::Flag),
            ("baseUrl", Shape::Text),
            ("models", Shape::List(&MODEL)),
        ]])),
    )],
]);
