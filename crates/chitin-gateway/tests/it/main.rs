//! The gateway as its users see it.

mod reply;
mod silent;
mod text;
mod text_stream;
