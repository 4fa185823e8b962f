//! What machine this is, as far as the system tells; each answer is optional, since a container
//! or another system may not.

use std::fs;
use std::path::Path;

/// The processor's own name.
pub fn cpu() -> Option<String> {
    let text = fs::read_to_string("/proc/cpuinfo").ok()?;
    field(&text, &["model name", "Model", "Hardware", "cpu model"])
}

/// Logical processors this process may use.
pub fn cores() -> u32 {
    std::thread::available_parallelism()
        .map_or(1, |count| u32::try_from(count.get()).unwrap_or(u32::MAX))
}

/// Memory of the machine in bytes.
pub fn memory_bytes() -> Option<u64> {
    let text = fs::read_to_string("/proc/meminfo").ok()?;
    let kib = field(&text, &["MemTotal"])?;
    kib.split_whitespace().next()?.parse::<u64>().ok()?.checked_mul(1024)
}

/// The operating system and its kernel's release: `Linux 6.1.0`.
pub fn kernel() -> String {
    let read = |path| fs::read_to_string(path).ok().map(|text| text.trim().to_owned());
    match (read("/proc/sys/kernel/ostype"), read("/proc/sys/kernel/osrelease")) {
        (Some(name), Some(release)) => format!("{name} {release}"),
        _ => std::env::consts::OS.to_owned(),
    }
}

/// Runnable processes, averaged over the last minute.
pub fn load() -> Option<f64> {
    let text = fs::read_to_string("/proc/loadavg").ok()?;
    text.split_whitespace().next()?.parse().ok()
}

/// What the frequency governor of the first processor is set to, where there is one.
pub fn governor() -> Option<String> {
    let path = "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor";
    fs::read_to_string(path).ok().map(|text| text.trim().to_owned())
}

/// The kind of file system that a path lies in: `ext4`, `tmpfs`.
pub fn file_system(path: &Path) -> Option<String> {
    let path = fs::canonicalize(path).ok()?;
    file_system_in(&fs::read_to_string("/proc/self/mounts").ok()?, &path)
}

/// The kind of the innermost mount that holds `path`; of several on one place the last.
fn file_system_in(mounts: &str, path: &Path) -> Option<String> {
    mounts
        .lines()
        .filter_map(|line| {
            let mut fields = line.split(' ').skip(1);
            // White space is written as octal.
            let place = fields.next()?.replace("\\040", " ").replace("\\011", "\t");
            let kind = fields.next()?;
            path.starts_with(&place).then(|| (place.len(), kind.to_owned()))
        })
        .max_by_key(|(length, _)| *length)
        .map(|(_, kind)| kind)
}

/// The value of the first of `names` that stands in a file of `name : value` lines.
fn field(text: &str, names: &[&str]) -> Option<String> {
    names.iter().find_map(|name| {
        text.lines().find_map(|line| {
            let (key, value) = line.split_once(':')?;
            (key.trim() == *name).then(|| value.trim().to_owned())
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_found_by_name_in_the_order_asked_for() {
        let text =
            "processor\t: 0\nmodel name\t: Example CPU @ 3.00GHz\nHardware : board\n";
        assert_eq!(
            field(text, &["model name", "Hardware"]).as_deref(),
            Some("Example CPU @ 3.00GHz")
        );
        assert_eq!(field(text, &["Model", "Hardware"]).as_deref(), Some("board"));
        assert_eq!(field(text, &["model"]), None);
    }

    #[test]
    fn the_innermost_mount_is_that_of_a_path() {
        let mounts = "/dev/vda / ext4 rw 0 0\ntmpfs /dev/shm tmpfs rw 0 0\n\
                      disk /a\\040b xfs rw 0 0\nover /a\\040b btrfs rw 0 0\n";
        for (path, kind) in [
            ("/a/x", "ext4"),
            ("/dev/shm/x", "tmpfs"),
            ("/dev/shmx", "ext4"),
            ("/a b/c", "btrfs"),
        ] {
            let found = file_system_in(mounts, Path::new(path));
            assert_eq!(found.as_deref(), Some(kind), "{path}");
        }
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn linux_answers_all_but_the_governor() {
        assert!(cores() >= 1);
        assert!(memory_bytes().is_some_and(|bytes| bytes > 1 << 20));
        assert!(kernel().starts_with("Linux "));
        assert!(load().is_some());
    }
}
