//! What must not be left behind when a command ends, also by an error or by Ctrl-C: folders,
//! processes, and what those have left.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// What is done when the command is interrupted, by a number of its own.
type Act = Box<dyn FnOnce() + Send>;

static ACTS: Mutex<(u64, BTreeMap<u64, Act>)> = Mutex::new((0, BTreeMap::new()));

static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// Goes no further if the command was interrupted: a process that was ended for that is no cell
/// that failed. The thread that cleans up ends the command meanwhile.
pub(crate) fn halt_if_interrupted() {
    while INTERRUPTED.load(Ordering::SeqCst) {
        std::thread::park();
    }
}

fn acts() -> MutexGuard<'static, (u64, BTreeMap<u64, Act>)> {
    ACTS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Listens for Ctrl-C and the request to end: what was registered is done, the newest first, and
/// the process ends with the code that shells give to an interrupted program.
pub(crate) fn install() {
    let listening = ctrlc::set_handler(|| {
        INTERRUPTED.store(true, Ordering::SeqCst);
        loop {
            // Not in the loop's head: there the lock would be held while the act is done.
            let Some((_, act)) = acts().1.pop_last() else { break };
            act();
        }
        std::process::exit(130)
    });
    // Without it files may stay behind after Ctrl-C; that is no reason to do nothing.
    if let Err(error) = listening {
        crate::remark(&format!("note: cannot listen for Ctrl-C: {error}"));
    }
}

/// Registers what is to be done if the command is interrupted, until the result is dropped.
pub(crate) fn on_interrupt(act: impl FnOnce() + Send + 'static) -> Registered {
    let mut acts = acts();
    acts.0 += 1;
    let number = acts.0;
    acts.1.insert(number, Box::new(act));
    Registered(number)
}

/// Something that is done if the command is interrupted meanwhile.
#[derive(Debug)]
pub(crate) struct Registered(u64);

impl Drop for Registered {
    fn drop(&mut self) {
        acts().1.remove(&self.0);
    }
}

/// Ends a process that would go on for a while, should the command be interrupted.
pub(crate) fn ends_with_us(child: &Child) -> Registered {
    let id = child.id().to_string();
    on_interrupt(move || {
        let _ = Command::new("kill").args(["-KILL", &id]).status();
    })
}

/// A folder that is removed with all that is in it, when dropped or when interrupted.
#[derive(Debug)]
pub(crate) struct Owned {
    path: PathBuf,
    _registered: Registered,
}

/// Takes a folder over.
pub(crate) fn own(path: PathBuf) -> Owned {
    let removed = path.clone();
    Owned { path, _registered: on_interrupt(move || remove(&removed)) }
}

impl Owned {
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Owned {
    fn drop(&mut self) {
        remove(&self.path);
    }
}

fn remove(path: &Path) {
    // A process that is ending may still put a file there.
    for _ in 0..100 {
        if fs::remove_dir_all(path).is_ok() || !path.exists() {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_that_is_owned_goes_with_its_owner() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("files");
        fs::create_dir(&path).unwrap();
        let owned = own(path.clone());
        fs::write(owned.path().join("x"), "x").unwrap();
        drop(owned);
        assert!(!path.exists());
    }
}
