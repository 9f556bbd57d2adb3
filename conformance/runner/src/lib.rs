//! Starts testees, puts cases to them, and says who is to blame for what comes back.
//!
//! | module | what it is |
//! |---|---|
//! | [`exit`] | what a command came to: the exit codes |
//! | [`files`] | reading files, and writing them as a whole or not at all |
//! | [`folder`] | reading a corpus from a folder |
//! | [`options`] | how a run is made, as run files and transcripts tell it |
//! | [`transcript`] | what was said in a run, from which it can be judged again |
//! | [`serve`] | the loop that serves the protocol |
//! | [`testee`] | what is being tested: a process, or an implementation in this process |
//! | [`run`] | puts cases to a testee, in which order, again and again, and finds who is to blame |

pub mod exit;
pub mod files;
pub mod folder;
pub mod options;
pub mod run;
pub mod serve;
pub mod testee;
pub mod transcript;
