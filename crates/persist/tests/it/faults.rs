//! Everything that can go wrong, at every call where it can: a clear error or a whole file.

use std::io;
use std::path::Path;

use wiremark_core::ErrorKind;
use wiremark_datasets::seeded::people::Person;
use wiremark_json::Json;
use wiremark_persist::{
    Durability, Read, ReadFrom, System, Write, framed, read, read_each,
};

use crate::faulty::{Fault, Faulty};
use crate::{people, scratch, write_people};

/// The faults after which an error has to come.
const FATAL: [Fault; 4] = [
    Fault::Fails(io::ErrorKind::StorageFull),
    Fault::Fails(io::ErrorKind::PermissionDenied),
    Fault::Fails(io::ErrorKind::NotFound),
    Fault::Gone,
];

fn ways() -> impl Iterator<Item = (Write, Durability)> {
    // A small buffer, so that it is flushed several times on the way.
    let buffers = [Write::Buffered(512), Write::BufferedRecords(512)];
    let all =
        [Write::Direct, Write::DirectRecords, Write::WholeFresh, Write::WholeReused];
    all.into_iter()
        .chain(buffers)
        .flat_map(|how| Durability::ALL.map(|durability| (how, durability)))
}

fn file_names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

#[test]
fn a_failure_at_any_call_of_a_write_is_told_and_atomic_keeps_the_old_file_or_has_the_new()
{
    let people = &people()[..8];
    let mut bad = Vec::new();
    for (how, durability) in ways() {
        let folder = scratch();
        let path = folder.path().join("people.json");
        let codec = &mut Json::compact();
        let counting = Faulty::new(u64::MAX, Fault::Gone);
        write_people(&counting, &path, how, durability, codec, people).unwrap();
        let new = std::fs::read(&path).unwrap();
        for fault in FATAL {
            for at in 0..counting.calls() {
                std::fs::write(&path, b"old").unwrap();
                let disk = Faulty::new(at, fault);
                let result = write_people(&disk, &path, how, durability, codec, people);
                let what = format!("{how:?} {durability:?} {fault:?} at call {at}");
                match result {
                    Ok(()) => bad.push(format!("{what}: no error")),
                    Err(error) => {
                        let text = error.to_string();
                        if error.kind() != ErrorKind::Io
                            || !text.starts_with("cannot ")
                            || !text.contains("people.json: ")
                        {
                            bad.push(format!("{what}: {text}"));
                        }
                    }
                }
                if durability == Durability::Atomic {
                    let now = std::fs::read(&path).unwrap();
                    if now != b"old" && now != new {
                        bad.push(format!("{what}: neither the old file nor the new"));
                    }
                    // A medium that is gone cannot be tidied up.
                    if fault != Fault::Gone && file_names(folder.path()).len() != 1 {
                        bad.push(format!("{what}: {:?}", file_names(folder.path())));
                    }
                }
                for name in file_names(folder.path()) {
                    std::fs::remove_file(folder.path().join(name)).unwrap();
                }
            }
        }
    }
    assert!(bad.is_empty(), "{}", bad.join("\n"));
}

#[test]
fn short_and_interrupted_calls_change_nothing() {
    let people = &people()[..8];
    let mut bad = Vec::new();
    for (how, durability) in ways() {
        let folder = scratch();
        let path = folder.path().join("people.json");
        let codec = &mut Json::compact();
        let counting = Faulty::new(u64::MAX, Fault::Gone);
        write_people(&counting, &path, how, durability, codec, people).unwrap();
        let whole = std::fs::read(&path).unwrap();
        for fault in [Fault::Short, Fault::Interrupted] {
            for at in 0..counting.calls() {
                let disk = Faulty::new(at, fault);
                write_people(&disk, &path, how, durability, codec, people).unwrap();
                if std::fs::read(&path).unwrap() != whole {
                    bad.push(format!("{how:?} {durability:?} {fault:?} at call {at}"));
                }
            }
        }
    }
    assert!(bad.is_empty(), "{}", bad.join("\n"));
}

#[test]
fn a_failure_at_any_call_of_a_read_is_told_and_short_reads_change_nothing() {
    let people = &people()[..8];
    let folder = scratch();
    let path = folder.path().join("people.json");
    let codec = &mut Json::compact();
    let direct = Write::Direct;
    write_people(&System, &path, direct, Durability::None, codec, people).unwrap();
    let stream = folder.path().join("stream.json");
    let records = Write::DirectRecords;
    write_people(&System, &stream, records, Durability::None, codec, people).unwrap();
    let mut bad = Vec::new();
    let ways = [
        Some(Read::Direct),
        Some(Read::Buffered(64)),
        Some(Read::WholeFresh),
        Some(Read::WholeReused),
        // The stream.
        None,
    ];
    for how in ways {
        let attempt = |disk: &Faulty| -> wiremark_core::Result<Vec<Person>> {
            let codec = &mut Json::compact();
            if let Some(how) = how {
                let from = ReadFrom { disk, folder: &folder, name: "people.json" };
                return read(&from, how, &mut Vec::new(), codec);
            }
            let mut back = Vec::new();
            read_each(disk, &stream, codec, |person| {
                back.push(person);
                Ok(())
            })?;
            Ok(back)
        };
        let counting = Faulty::new(u64::MAX, Fault::Gone);
        assert!(attempt(&counting).unwrap() == people);
        for at in 0..counting.calls() {
            for fault in FATAL {
                match attempt(&Faulty::new(at, fault)) {
                    Err(error)
                        if error.kind() == ErrorKind::Io
                            && error.to_string().contains(".json: ") => {}
                    other => {
                        let other = other.map(|people| people.len());
                        bad.push(format!("{how:?} {fault:?} at call {at}: {other:?}"));
                    }
                }
            }
            for fault in [Fault::Short, Fault::Interrupted] {
                match attempt(&Faulty::new(at, fault)) {
                    Ok(back) if back == people => {}
                    other => {
                        let other = other.map(|people| people.len());
                        bad.push(format!("{how:?} {fault:?} at call {at}: {other:?}"));
                    }
                }
            }
        }
    }
    assert!(bad.is_empty(), "{}", bad.join("\n"));
}

#[test]
fn what_the_system_itself_refuses_is_told_with_the_path() {
    let people = &people()[..2];
    let folder = scratch();
    std::fs::create_dir(folder.path().join("a folder")).unwrap();
    let codec = &mut Json::compact();
    let buffered = Write::Buffered(8192);
    let rows = [
        ("/dev/full", Durability::None, "cannot write /dev/full: "),
        ("/dev/full/x", Durability::None, "cannot create /dev/full/x: "),
        ("a folder", Durability::None, "cannot create "),
        ("a folder", Durability::Atomic, "cannot replace "),
        ("not/there", Durability::None, "cannot create "),
        ("not/there", Durability::Atomic, "cannot create a temporary file beside "),
        ("..", Durability::Atomic, "cannot write "),
    ];
    for (name, durability, start) in rows {
        let path = folder.path().join(name);
        let result = write_people(&System, &path, buffered, durability, codec, people);
        let error = result.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Io, "{name}");
        let text = error.to_string();
        assert!(
            text.starts_with(start) && text.contains("os error") || name == "..",
            "{text}"
        );
    }
    assert_eq!(file_names(folder.path()), ["a folder"]);
    let from = ReadFrom { disk: &System, folder: &folder, name: "gone" };
    for how in [Read::Direct, Read::Buffered(64), Read::WholeFresh, Read::Map] {
        let result: Result<Vec<Person>, _> = read(&from, how, &mut Vec::new(), codec);
        let text = result.unwrap_err().to_string();
        assert!(text.starts_with("cannot open ") && text.contains("gone: "), "{text}");
    }
}

#[test]
fn a_folder_that_may_not_be_written_to_refuses_and_keeps_its_file() {
    use std::os::unix::fs::PermissionsExt;
    let folder = scratch();
    let path = folder.path().join("people.json");
    std::fs::write(&path, b"old").unwrap();
    let set = |mode| {
        let mode = std::fs::Permissions::from_mode(mode);
        std::fs::set_permissions(folder.path(), mode).unwrap();
    };
    set(0o500);
    // The superuser may write all the same; there is nothing to be seen then.
    let is_superuser = std::fs::write(folder.path().join("probe"), b"").is_ok();
    let codec = &mut Json::compact();
    let whole = Write::WholeFresh;
    let result =
        write_people(&System, &path, whole, Durability::Atomic, codec, &people()[..1]);
    set(0o700);
    if is_superuser {
        result.unwrap();
    } else {
        let text = result.unwrap_err().to_string();
        assert!(text.starts_with("cannot create a temporary file beside "), "{text}");
        assert_eq!(std::fs::read(&path).unwrap(), b"old");
    }
}

#[test]
fn a_framed_file_is_read_whole_whatever_interrupts_it_and_failures_are_told() {
    let people = &people()[..4];
    let folder = scratch();
    let path = folder.path().join("people");
    framed::write_file(&System, &path, &mut Json::compact(), people).unwrap();
    let attempt = |disk: &Faulty| {
        let mut back: Vec<Person> = Vec::new();
        let codec = &mut Json::compact();
        let count = framed::read_file(disk, &path, codec, |person| back.push(person));
        count.map(|_| back)
    };
    let counting = Faulty::new(u64::MAX, Fault::Gone);
    assert!(attempt(&counting).unwrap() == people);
    for at in 0..counting.calls() {
        for fault in [Fault::Short, Fault::Interrupted] {
            assert!(
                attempt(&Faulty::new(at, fault)).unwrap() == people,
                "{fault:?} {at}"
            );
        }
        for fault in FATAL {
            let error = attempt(&Faulty::new(at, fault)).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Io, "{fault:?} at call {at}: {error}");
        }
    }
}

#[test]
fn a_replaced_file_keeps_its_mode_and_a_link_keeps_leading_to_it() {
    use std::os::unix::fs::PermissionsExt;
    let folder = scratch();
    let (path, link) = (folder.path().join("secret"), folder.path().join("link"));
    std::fs::write(&path, b"old").unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
    std::os::unix::fs::symlink(&path, &link).unwrap();
    let codec = &mut Json::compact();
    let whole = Write::WholeFresh;
    write_people(&System, &link, whole, Durability::Atomic, codec, &people()[..1])
        .unwrap();
    assert!(std::fs::symlink_metadata(&link).unwrap().is_symlink());
    let mode = std::fs::metadata(&path).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    assert_ne!(std::fs::read(&path).unwrap(), b"old");
}

#[test]
fn a_value_that_panics_leaves_no_temporary_file() {
    struct Panics;
    impl serde::Serialize for Panics {
        fn serialize<S: serde::Serializer>(&self, _: S) -> Result<S::Ok, S::Error> {
            panic!("the value's own")
        }
    }
    let folder = scratch();
    let path = folder.path().join("value");
    let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        framed::write_file(&System, &path, &mut Json::compact(), [Panics])
    }));
    assert!(caught.is_err());
    assert!(file_names(folder.path()).is_empty());
}

#[test]
fn a_name_that_leads_out_of_the_folder_is_not_mapped() {
    let folder = scratch();
    for name in ["../x", "/etc/hostname", "a/b", "."] {
        let error = ReadFrom { disk: &System, folder: &folder, name }.map().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unsupported, "{name}: {error}");
    }
}

#[test]
fn a_framed_file_is_written_whole_or_not_at_all_whatever_fails() {
    let people = &people()[..4];
    let folder = scratch();
    let path = folder.path().join("people");
    let codec = &mut Json::compact();
    let counting = Faulty::new(u64::MAX, Fault::Gone);
    framed::write_file(&counting, &path, codec, people).unwrap();
    for at in 0..counting.calls() {
        framed::write_file(&System, &path, codec, &people[..1]).unwrap();
        let failing = Faulty::new(at, Fault::Fails(io::ErrorKind::StorageFull));
        framed::write_file(&failing, &path, codec, people).unwrap_err();
        let mut back: Vec<Person> = Vec::new();
        let count = framed::read_file(&System, &path, codec, |person| back.push(person));
        assert!(matches!(count, Ok(1 | 4)), "call {at}: {count:?}");
        assert!(back == people[..back.len()]);
    }
}
