//! The counted calls are those that strace sees, where it is installed.

use std::env;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use wiremark_datasets::seeded::people::Person;
use wiremark_gob::Gob;
use wiremark_json::Json;
use wiremark_persist::{
    Counted, Disk, Durability, Read, ReadFrom, Scratch, System, Write, read,
};

use crate::{people, write_people};

const FOLDER: &str = "WIREMARK_TEST_FOLDER";

/// Writes and reads the files `w0`, `w1` … in all ways; returns the counted calls of each.
fn work<D: Disk + Clone>(folder: &Scratch, disk: &D) {
    let people = people();
    let codec = &mut Json::compact();
    for (nth, how) in Write::ALL.into_iter().enumerate() {
        let path = folder.path().join(format!("w{nth}"));
        let durability = Durability::ALL[nth % 3];
        write_people(disk, &path, how, durability, codec, &people).unwrap();
    }
    for how in [Read::Direct, Read::Buffered(8192), Read::WholeFresh, Read::WholeReused] {
        let from = ReadFrom { disk, folder, name: "w0" };
        let _: Vec<Person> = read(&from, how, &mut Vec::new(), codec).unwrap();
    }
    // A codec that asks for all that there is, where the one above asks for a byte.
    let path = folder.path().join("gob");
    let codec = &mut Gob::new();
    write_people(disk, &path, Write::WholeFresh, Durability::None, codec, &people)
        .unwrap();
    for how in [Read::Direct, Read::Buffered(8192)] {
        let from = ReadFrom { disk, folder, name: "gob" };
        let _: Vec<Person> = read(&from, how, &mut Vec::new(), codec).unwrap();
    }
}

#[test]
#[ignore = "the process that strace watches; the test below starts it"]
fn works_under_strace() {
    let folder = PathBuf::from(env::var_os(FOLDER).unwrap());
    work(&Scratch::new_in(&folder).unwrap(), &System);
}

#[test]
fn the_counted_calls_are_those_that_strace_sees() {
    let is_there = Command::new("strace").arg("-V").stdout(Stdio::null()).status();
    if !is_there.is_ok_and(|status| status.success()) {
        eprintln!("skipped: strace is not installed (apt-get install strace)");
        return;
    }
    let folder = Scratch::new().unwrap();
    let counted = Counted::new(System);
    work(&Scratch::new_in(folder.path()).unwrap(), &counted);
    let counted = counted.calls();

    let log = folder.path().join("log");
    // With -y each file descriptor stands with its path, which tells our files from others.
    let status = Command::new("strace")
        .args(["-f", "-y", "-s", "0", "-o"])
        .arg(&log)
        .args(["-e", "trace=write,read,fsync,fdatasync,openat,rename"])
        .arg(env::current_exe().unwrap())
        .args(["--exact", "strace::works_under_strace", "--ignored"])
        .env(FOLDER, folder.path())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .unwrap();
    if !status.success() {
        // A container may forbid tracing.
        eprintln!("skipped: strace cannot trace here");
        return;
    }
    let log = std::fs::read_to_string(&log).unwrap();
    let ours = folder.path().to_str().unwrap();
    let count = |name: &str, other: &str| {
        let is_it = |line: &&str| {
            let call = line.split_once(' ').map_or("", |(_, call)| call.trim_start());
            (call.starts_with(&format!("{name}("))
                || (!other.is_empty() && call.starts_with(&format!("{other}("))))
                && line.contains(ours)
        };
        log.lines().filter(is_it).count() as u64
    };
    let found = [
        ("write", count("write", ""), counted.write),
        ("read", count("read", ""), counted.read),
        ("sync", count("fsync", "fdatasync"), counted.sync),
        ("rename", count("rename", ""), counted.rename),
    ];
    for (name, strace, ours) in found {
        assert_eq!(strace, ours, "{name}: strace and we");
    }
    // The last folder that is opened is opened to be removed.
    let opened = log
        .lines()
        .filter(|line| line.contains("openat(") && line.contains(ours))
        .filter(|line| !line.contains("O_NOFOLLOW"))
        .count() as u64;
    assert_eq!(opened, counted.open, "open: strace and we");
}
