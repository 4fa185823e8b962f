//! The order in which a new codec's faults come to light.
//!
//! | stage | what it asks | what it waits for |
//! | --- | --- | --- |
//! | [`first`] | are `encode_into` and `decode` written? | nothing |
//! | [`second`] | is the profile filled in, and does it hold? | the first |
//! | [`third`] | what does a call promise, and is the depth bounded? | the second, since these checks read the profile |
//! | [`fourth`] | what can end the whole process: 100,000 levels, hostile lengths | the bound on depth |
//!
//! A check whose turn has not come fails with one line: the test to mend first, and
//! the first fault that it finds.

use std::cell::RefCell;
use std::panic::{self, AssertUnwindSafe, PanicHookInfo};
use std::sync::Once;

use wiremark_core::Codec;

use crate::{Findings, claims, contract, depth};

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
    after(codec, 1, check)
}

/// Runs `check` if what the profile says holds.
pub fn third<C: Codec>(codec: &C, check: Check<C>) -> Findings {
    after(codec, 3, check)
}

/// Runs `check` if nesting is bounded: without a bound a deep value overflows the stack, and
/// the process ends before any test can say why.
pub fn fourth<C: Codec>(codec: &C, check: Check<C>) -> Findings {
    after(codec, 4, check)
}

/// Runs `check` after the first `count` of those that others wait for.
fn after<C: Codec>(codec: &C, count: usize, check: Check<C>) -> Findings {
    let earlier: [(&str, Check<C>); 4] = [
        ("both_functions_are_written", both_functions_are_written),
        ("a_profile_is_filled_in", contract::a_profile_is_filled_in),
        (
            "what_is_claimed_holds_and_what_holds_is_claimed",
            claims::what_is_claimed_holds_and_what_holds_is_claimed,
        ),
        ("the_boundary_is_exact", depth::the_boundary_is_exact),
    ];
    for (name, earlier) in earlier.into_iter().take(count) {
        let before = earlier(codec);
        if let Some(line) = before.lines().first() {
            let mut findings = Findings::new(codec.profile().id);
            findings.add(format!("not tried yet: the test `{name}` comes first: {line}"));
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
