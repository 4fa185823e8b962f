//! A server answers while it is wanted, and nothing of it stays, however the program ends.
#![expect(clippy::unwrap_used, reason = "a test stops where it cannot go on")]

use std::fs;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use wiremark_throwaway::{Fsync, Programs, Server};

/// PostgreSQL's programs; `None`, said so, where there are none.
fn programs() -> Option<Programs> {
    match Programs::find() {
        Ok(programs) => Some(programs),
        Err(error) => {
            assert_eq!(error.kind(), io::ErrorKind::NotFound);
            assert!(error.to_string().contains("apt-get install postgresql"), "{error}");
            // Not `eprintln!`, which the harness hides.
            let mut stderr = io::stderr();
            writeln!(stderr, "skipped: {error}").unwrap();
            None
        }
    }
}

/// Connects as the server's user, and gives the first message back: its letter and its code.
fn greet(folder: &Path) -> io::Result<(u8, u32)> {
    let mut socket = UnixStream::connect(folder.join(".s.PGSQL.5432"))?;
    let names = b"user\0wiremark\0database\0postgres\0\0";
    // Length and version 3.0 of the protocol, then names and values.
    socket.write_all(&(8 + u32::try_from(names.len()).unwrap()).to_be_bytes())?;
    socket.write_all(&0x0003_0000_u32.to_be_bytes())?;
    socket.write_all(names)?;
    let mut answer = [0; 9];
    socket.read_exact(&mut answer)?;
    let code = u32::from_be_bytes([answer[5], answer[6], answer[7], answer[8]]);
    Ok((answer[0], code))
}

/// `AuthenticationOk`.
const WELCOME: (u8, u32) = (b'R', 0);

/// The process that the server's own file names.
fn process(folder: &Path) -> PathBuf {
    let text = fs::read_to_string(folder.join("data/postmaster.pid")).unwrap();
    Path::new("/proc").join(text.lines().next().unwrap())
}

#[test]
fn a_server_answers_on_its_socket_alone_until_it_is_stopped() {
    let Some(programs) = programs() else { return };
    let server = Server::start().unwrap();
    let folder = server.folder().to_owned();
    assert_eq!(greet(&folder).unwrap(), WELCOME);
    assert_eq!(server.version(), programs.version());
    assert_eq!(fs::metadata(&folder).unwrap().permissions().mode() & 0o777, 0o700);
    let name = folder.to_str().unwrap().replace('/', "%2F");
    assert_eq!(server.url(), format!("postgresql://wiremark@{name}/postgres"));
    // The fifth and sixth lines: the folder of the socket, the addresses.
    let file = fs::read_to_string(folder.join("data/postmaster.pid")).unwrap();
    let lines: Vec<_> = file.lines().collect();
    assert_eq!((lines[4], lines[5]), (folder.to_str().unwrap(), ""), "{file}");
    let process = process(&folder);
    assert!(process.exists() || !Path::new("/proc/self").exists());
    server.stop().unwrap();
    assert!(!folder.exists() && !process.exists());
}

#[test]
fn two_servers_do_not_meet_and_each_goes_when_dropped() {
    let Some(programs) = programs() else { return };
    let servers = [Fsync::On, Fsync::Off]
        .map(|fsync| Server::start_with(&programs, fsync).unwrap());
    let fsync: Vec<_> = servers
        .iter()
        .map(|server| server.settings().iter().any(|setting| setting == "fsync=off"))
        .collect();
    assert_eq!(fsync, [false, true]);
    let folders = servers.each_ref().map(|server| server.folder().to_owned());
    assert_ne!(folders[0], folders[1]);
    for folder in &folders {
        assert_eq!(greet(folder).unwrap(), WELCOME);
    }
    drop(servers);
    for folder in &folders {
        assert!(!folder.exists());
    }
}

/// Not a test of its own: the program of the next one, which is ended in the middle.
#[test]
#[ignore = "run by `nothing_stays_however_the_program_ends`"]
fn a_program_that_waits_with_a_server() {
    let programs = Programs::find().unwrap();
    let server = Server::start_with(&programs, Fsync::Off).unwrap();
    println!("\nfolder {}", server.folder().display());
    let mut answer = String::new();
    io::stdin().read_line(&mut answer).unwrap();
    panic!("as told: {answer}, with {server:?}");
}

const WAITING: [&str; 4] =
    ["--ignored", "--exact", "a_program_that_waits_with_a_server", "--nocapture"];

fn program() -> (Child, PathBuf) {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(WAITING)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.as_mut().unwrap()).lines();
    let folder = lines
        .find_map(|line| Some(PathBuf::from(line.unwrap().strip_prefix("folder ")?)));
    (child, folder.unwrap())
}

/// Looks again and again for up to half a minute.
fn comes_true(mut what: impl FnMut() -> bool) -> bool {
    (0..1500).any(|_| {
        let is_true = what();
        if !is_true {
            sleep(Duration::from_millis(20));
        }
        is_true
    })
}

#[test]
fn nothing_stays_however_the_program_ends() {
    if programs().is_none() {
        return;
    }
    for end in ["KILL", "INT", "TERM", "HUP", "panic"] {
        let (mut child, folder) = program();
        let process = process(&folder);
        assert_eq!(greet(&folder).unwrap(), WELCOME, "{end}");
        if end == "panic" {
            child.stdin.take().unwrap().write_all(b"panic\n").unwrap();
        } else {
            let kill = format!("kill -{end} {}", child.id());
            assert!(Command::new("sh").args(["-c", &kill]).status().unwrap().success());
        }
        assert!(!child.wait().unwrap().success(), "{end}");
        assert!(
            comes_true(|| !folder.exists() && !process.exists()),
            "{end}: {folder:?}"
        );
    }
}

/// A folder which the user that the server runs as may use.
fn open_folder() -> tempfile::TempDir {
    let folder = tempfile::Builder::new().prefix("wiremark-").tempdir().unwrap();
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o777)).unwrap();
    folder
}

fn is_empty(folder: &Path) -> bool {
    fs::read_dir(folder).unwrap().next().is_none()
}

#[test]
fn nothing_stays_of_a_program_that_is_killed_while_the_server_is_made() {
    if programs().is_none() {
        return;
    }
    let folder = open_folder();
    for wait in ["", "data/base", "data/postmaster.pid"] {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(WAITING)
            .env("TMPDIR", folder.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let reached = || {
            let mut entries = fs::read_dir(folder.path()).unwrap();
            entries.any(|entry| entry.unwrap().path().join(wait).exists())
        };
        assert!(comes_true(reached), "{wait}");
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(comes_true(|| is_empty(folder.path())), "{wait}");
    }
}

#[test]
fn what_the_programs_say_when_they_fail_is_told() {
    let fails = "#!/bin/sh\necho it fails for a reason >&2\nexit 1\n";
    let version =
        "#!/bin/sh\n[ \"$1\" != --version ] || exec echo 'postgres (PostgreSQL) 99.1'\n";
    let works = "#!/bin/sh\nexit 0\n";
    let says = format!("{version}echo it fails for a reason\n");
    for (initdb, postgres, wanted) in [
        (fails, version, "initdb failed"),
        (works, &*says, "the server ended before it was ready"),
    ] {
        let folder = open_folder();
        for (name, text) in [("initdb", initdb), ("postgres", postgres)] {
            let path = folder.path().join(name);
            fs::write(&path, text).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        }
        let programs = Programs::in_folder(folder.path()).unwrap();
        assert_eq!(programs.version(), "99.1");
        let error = Server::start_with(&programs, Fsync::On).unwrap_err().to_string();
        assert!(error.contains(wanted), "{error}");
        assert!(error.ends_with("\n  it fails for a reason"), "{error}");
    }
}

#[test]
fn a_folder_without_the_programs_is_an_error() {
    let error = Programs::in_folder(open_folder().path()).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::NotFound);
}
