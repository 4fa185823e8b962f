//! Resident memory of this process, as Linux tells it.

use std::fs;

/// Runs `work` and tells by how many bytes the resident memory of the process rose at most
/// meanwhile. What the heap keeps for later is given back first, where it is glibc's: what is
/// resident already cannot rise. `None` where the system does not tell. The kernel counts pages per thread and adds
/// them up now and then, so that the figure is right to some dozens of pages.
///
/// ```
/// let (filled, rose) = wiremark_meter::memory::peak_rss(|| vec![1_u8; 64 << 20]);
/// assert!(rose.is_none_or(|bytes| bytes > 60 << 20));
/// # drop(filled);
/// ```
pub fn peak_rss<T>(work: impl FnOnce() -> T) -> (T, Option<u64>) {
    give_back();
    // Writing 5 sets the highest mark back to what is resident now.
    let is_reset = fs::write("/proc/self/clear_refs", "5").is_ok();
    let before = status("VmRSS");
    let made = work();
    let peak = status("VmHWM").filter(|_| is_reset);
    let rose = peak.zip(before).map(|(peak, before)| peak.saturating_sub(before));
    (made, rose)
}

fn give_back() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: it takes a number and moves nothing that is in use.
    unsafe {
        libc::malloc_trim(0);
    }
}

/// A field of `/proc/self/status` in bytes.
fn status(name: &str) -> Option<u64> {
    let text = fs::read_to_string("/proc/self/status").ok()?;
    let line =
        text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?;
    line.split_whitespace().next()?.parse::<u64>().ok()?.checked_mul(1024)
}
