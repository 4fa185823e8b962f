//! A process that dies while it replaces a file, at every call: the old file is whole, or the new
//! one is.

use std::env;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use wiremark_json::Json;
use wiremark_persist::{Durability, Scratch, System, Write};

use crate::faulty::{Fault, Faulty};
use crate::{people, write_people};

const PATH: &str = "WIREMARK_TEST_PATH";
const CALL: &str = "WIREMARK_TEST_CALL";

#[test]
#[ignore = "the process that dies; the test below starts it"]
fn dies_at_a_call() {
    let path = PathBuf::from(env::var_os(PATH).unwrap());
    let at = env::var(CALL).unwrap().parse().unwrap();
    let disk = Faulty::new(at, Fault::Killed);
    let how = Write::Buffered(512);
    let codec = &mut Json::compact();
    write_people(&disk, &path, how, Durability::Atomic, codec, &people()[..8]).unwrap();
}

#[test]
fn a_writer_killed_at_any_call_leaves_the_old_file_or_the_new_one() {
    let folder = Scratch::new().unwrap();
    let path = folder.path().join("people.json");
    let how = Write::Buffered(512);
    let codec = &mut Json::compact();
    let counting = Faulty::new(u64::MAX, Fault::Gone);
    let people = people();
    write_people(&counting, &path, how, Durability::Atomic, codec, &people[..8]).unwrap();
    let new = std::fs::read(&path).unwrap();
    let (mut olds, mut news) = (0, 0);
    for at in 0..counting.calls() {
        let old = Write::WholeFresh;
        write_people(&System, &path, old, Durability::None, codec, &people[..1]).unwrap();
        let old = std::fs::read(&path).unwrap();
        let status = Command::new(env::current_exe().unwrap())
            .args(["--exact", "killed::dies_at_a_call", "--ignored"])
            .env(PATH, &path)
            .env(CALL, at.to_string())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()
            .unwrap();
        assert!(!status.success(), "the process was to die at call {at}");
        let now = std::fs::read(&path).unwrap();
        if now == old {
            olds += 1;
        } else if now == new {
            news += 1;
        } else {
            panic!("killed at call {at}: neither the old file nor the new one");
        }
    }
    // Only after the rename does the name stand for the new one: the folder's sync is left.
    assert_eq!((olds, news), (counting.calls() - 1, 1));
}
