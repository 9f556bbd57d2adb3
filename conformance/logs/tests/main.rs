//! Every test of the reader that sees it from outside, in one test program: linking is done once.

mod alike;
mod bytes;
mod forms;
mod inputs;
mod mixed;
mod parts;
mod pieces;
mod random;
mod rules;
mod saved;
mod seen;
mod thinking;
