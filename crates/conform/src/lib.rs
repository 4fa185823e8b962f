#![doc = include_str!("../README.md")]
//!
//! This room judges codecs and names none: what differs between them it reads from their
//! profiles. It never asserts a time.
#![forbid(unsafe_code)]

pub mod claims;
pub mod contract;
pub mod corpora;
pub mod datasets;
pub mod depth;
mod findings;
pub mod hostile;
mod random;
pub mod samples;
pub mod stream;
pub mod wire;

pub use crate::findings::Findings;

/// Makes a module of tests for each codec: `suite! { compact: Json::compact() }`.
///
/// Each check is a test of its own, so that a new codec's failures come one after the other:
/// claims, then kinds of errors, then limits. A test prints all it found, not the first.
///
/// ```
/// # mod wiremark_demo {
/// mod tests {
///     use wiremark_json::Json;
///     wiremark_conform::suite! { compact: Json::compact(), pretty: Json::pretty() }
/// }
/// # }
/// ```
#[macro_export]
macro_rules! suite {
    ($($name:ident: $codec:expr),+ $(,)?) => {
        $($crate::suite! { @module $name: $codec;
            contract: a_profile_is_filled_in
            contract: encoding_appends
            contract: samples_come_back
            contract: floats_come_back
            contract: a_failed_encode_leaves_out_as_it_was
            contract: a_prefix_is_refused
            contract: trailing_bytes_are_refused
            contract: a_codec_works_on_after_an_error
            contract: writers_and_readers_may_fail
            claims: what_is_claimed_holds_and_what_holds_is_claimed
            depth: the_boundary_is_exact
            depth: nothing_overflows_the_stack
            stream: streams_come_back
            stream: a_cut_stream_is_refused
            datasets: datasets_come_back
            hostile: hostile_bytes_are_refused
            hostile: what_is_written_can_be_read
        })+
    };
    (@module $name:ident: $codec:expr; $($room:ident: $check:ident)+) => {
        mod $name {
            #[allow(unused_imports, reason = "what the codec's expression names")]
            use super::*;

            $(
                #[test]
                fn $check() {
                    $crate::$room::$check(&$codec).assert_none();
                }
            )+
        }
    };
}
