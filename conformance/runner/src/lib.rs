//! Starts testees, puts cases to them, and says who is to blame for what comes back.
//!
//! | module | what it is |
//! |---|---|
//! | [`files`] | reading files, and writing them as a whole or not at all |
//! | [`folder`] | reading a corpus from a folder |
//! | [`serve`] | the loop that serves the protocol |
//! | [`testee`] | what is being tested: a process, or an implementation in this process |
//! | [`run`] | puts cases to a testee, in which order, again and again, and finds who is to blame |

pub mod files;
pub mod folder;
pub mod run;
pub mod serve;
pub mod testee;
