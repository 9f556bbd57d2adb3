//! Follows requests from one to the next, and finds lost prompt caches.
//!
//! ```
//! use serde_json::json;
//! use threadspec::oracle::Api;
//! use threadspec_apis::follow::{Conversations, segments};
//!
//! let (asked, said) = (json!({"role": "user", "content": "Hi"}), json!({"role": "assistant", "content": "Yes?"}));
//! let mut conversations = Conversations::default();
//! for (number, messages) in [json!([asked]), json!([asked, said, asked])].into_iter().enumerate() {
//!     let pieces = segments(Api::Anthropic, &json!({"messages": messages}));
//!     let lineage = conversations.push(number, "claude-sonnet-5", &pieces);
//!     assert_eq!((lineage.parent, lineage.loss), (number.checked_sub(1), None));
//! }
//! ```

mod cache;
mod json;
mod pieces;
mod segments;

pub use cache::{Conversations, Lineage, Loss, LossKind, REACH, hash};
pub use json::hash_of_json;
pub use pieces::{Segments, StoredPiece};
pub use segments::{Divergence, Location, Owner, difference, new_segments, segments};
