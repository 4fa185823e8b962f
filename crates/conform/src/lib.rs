#![doc = include_str!("../README.md")]
//!
//! This room judges codecs and names none: what differs between them it reads from their
//! profiles. It never asserts a time.
#![forbid(unsafe_code)]

pub mod cbor;
pub mod claims;
pub mod contract;
pub mod corpora;
pub mod datasets;
pub mod depth;
mod findings;
pub mod hostile;
pub mod json;
mod random;
pub mod samples;
pub mod stage;
pub mod stream;
pub mod vectors;
pub mod wire;

pub use crate::findings::Findings;

/// Makes a module of tests for each codec: `suite! { compact: Json::compact() }`.
///
/// Each check is a test of its own, and waits for its [`stage`]: a new codec's faults come one
/// after the other, first the functions that are not written, then false claims, then the rest.
/// A test prints all it found, not the first.
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
            first stage: both_functions_are_written
            second contract: a_profile_is_filled_in
            second claims: what_is_claimed_holds_and_what_holds_is_claimed
            third contract: encoding_appends
            third contract: samples_come_back
            third contract: floats_come_back
            third contract: a_failed_encode_leaves_out_as_it_was
            third contract: a_prefix_is_refused
            third contract: trailing_bytes_are_refused
            third contract: a_codec_works_on_after_an_error
            third contract: writers_and_readers_may_fail
            third depth: the_boundary_is_exact
            third stream: streams_come_back
            third stream: a_cut_stream_is_refused
            third stream: streams_go_through_writers_and_readers
            third datasets: datasets_come_back
            fourth depth: nothing_overflows_the_stack
            fourth hostile: hostile_bytes_are_refused
            fourth hostile: what_is_written_can_be_read
        })+
    };
    (@module $name:ident: $codec:expr; $($stage:ident $room:ident: $check:ident)+) => {
        mod $name {
            #[allow(unused_imports, reason = "what the codec's expression names")]
            use super::*;

            $(
                #[test]
                fn $check() {
                    $crate::stage::$stage(&$codec, $crate::$room::$check).assert_none();
                }
            )+
        }
    };
}
