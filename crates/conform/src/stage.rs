//! The order in which a new codec's faults come to light.
//!
//! | stage | what it asks | what it waits for |
//! | --- | --- | --- |
//! | [`first`] | are `encode_into` and `decode` written? | nothing |
//! | [`second`] | is the profile filled in, and does it hold? | the first |
//! | [`third`] | everything else | the second, since the other checks read the profile |
//!
//! A check whose turn has not come fails with one line that names the test to mend first.

use std::cell::RefCell;
use std::panic::{self, AssertUnwindSafe, PanicHookInfo};
use std::sync::Once;

use wiremark_core::Codec;

use crate::{Findings, claims, contract};

/// A check of the kit.
pub type Check<C> = fn(&C) -> Findings;

/// What `todo!` begins its message with.
const TODO: &str = "not yet implemented";

/// Runs `check` at once.
pub fn first<C: Codec>(codec: &C, check: Check<C>) -> Findings {
    check(codec)
}

/// Runs `check` if both functions are written.
pub fn second<C: Codec>(codec: &C, check: Check<C>) -> Findings {
    after(
        codec,
        &[("both_functions_are_written", both_functions_are_written::<C>)],
        check,
    )
}

/// Runs `check` if what the profile says holds.
pub fn third<C: Codec>(codec: &C, check: Check<C>) -> Findings {
    let earlier: [(_, Check<C>); 3] = [
        ("both_functions_are_written", both_functions_are_written),
        ("a_profile_is_filled_in", contract::a_profile_is_filled_in),
        (
            "what_is_claimed_holds_and_what_holds_is_claimed",
            claims::what_is_claimed_holds_and_what_holds_is_claimed,
        ),
    ];
    after(codec, &earlier, check)
}

fn after<C: Codec>(codec: &C, earlier: &[(&str, Check<C>)], check: Check<C>) -> Findings {
    for (name, earlier) in earlier {
        if !earlier(codec).is_empty() {
            let mut findings = Findings::new(codec.profile().id);
            findings.add(format!("not tried yet: the test `{name}` comes first"));
            return findings;
        }
    }
    check(codec)
}

/// Neither `encode_into` nor `decode` is a `todo!` any more.
pub fn both_functions_are_written<C: Codec>(codec: &C) -> Findings {
    let mut findings = Findings::new(codec.profile().id);
    let encode = todo_in(|| {
        let _ = codec.clone().encode_into(&true, &mut Vec::new());
    });
    let decode = todo_in(|| {
        let _ = codec.clone().decode::<bool>(&[1]);
    });
    for (name, todo) in [("encode_into", encode), ("decode", decode)] {
        if let Some(Todo { place, message }) = todo {
            findings
                .add(format!("`{name}` is still to be written, in {place}: {message}"));
        }
    }
    findings
}

/// A `todo!` that was met.
struct Todo {
    /// File and line.
    place: String,
    message: String,
}

thread_local! {
    /// Where a panic of this thread goes while it is listened to.
    static HEARD: RefCell<Option<Todo>> = const { RefCell::new(None) };
    static LISTENS: RefCell<bool> = const { RefCell::new(false) };
}

/// The `todo!` that `act` runs into. Other panics are other checks' business, and they are not
/// printed here: each check would print them again.
fn todo_in(act: impl FnOnce()) -> Option<Todo> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if LISTENS.with_borrow(|listens| *listens) {
                HEARD.set(Some(heard(info)));
            } else {
                before(info);
            }
        }));
    });
    LISTENS.set(true);
    let result = panic::catch_unwind(AssertUnwindSafe(act));
    LISTENS.set(false);
    let todo = HEARD.take().filter(|_| result.is_err())?;
    let message = todo.message.strip_prefix(TODO)?;
    let message = message.trim_start_matches(": ").to_owned();
    Some(Todo { message, ..todo })
}

fn heard(info: &PanicHookInfo<'_>) -> Todo {
    let place = info.location().map_or_else(
        || "an unknown place".to_owned(),
        |at| format!("{}:{}", at.file(), at.line()),
    );
    Todo { place, message: info.payload_as_str().unwrap_or_default().to_owned() }
}
