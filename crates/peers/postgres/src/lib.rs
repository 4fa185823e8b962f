#![doc = include_str!("../README.md")]
//!
//! This room finds, starts and stops a server. It never connects to it, and never to another one.
#![cfg(unix)]
#![forbid(unsafe_code)]

mod programs;

pub use crate::programs::Programs;

use std::io::{self, BufRead, BufReader};
use std::os::unix::process::CommandExt;
use std::path::{self, Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::{env, fmt::Write};

/// Whether what is committed is on the medium before the server says so.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Fsync {
    /// It is, as with any server (`fsync=on`).
    #[default]
    On,
    /// It is not (`fsync=off`): writing is faster than it could be with data that are to stay.
    Off,
}

/// A server of one's own, stopped and removed when dropped.
#[derive(Debug)]
pub struct Server {
    supervisor: Child,
    folder: PathBuf,
    version: String,
    settings: Vec<String>,
}

impl Server {
    /// Starts one and waits until it takes connections: about two seconds.
    ///
    /// # Errors
    /// `NotFound` with what to install if PostgreSQL is not on this machine; what its programs
    /// say if they fail. Nothing is left behind then.
    pub fn start() -> io::Result<Self> {
        Self::start_with(&Programs::find()?, Fsync::On)
    }

    /// Starts one from these programs, and says whether it may forget what is committed.
    ///
    /// # Errors
    /// As for [`Server::start`].
    pub fn start_with(programs: &Programs, fsync: Fsync) -> io::Result<Self> {
        let mut settings = vec!["listen_addresses=''".to_owned()];
        // Shared memory in the folder goes with the folder, also if the server is killed.
        settings.push("dynamic_shared_memory_type=mmap".to_owned());
        if fsync == Fsync::Off {
            settings.push("fsync=off".to_owned());
        }
        let mut command = Command::new("/bin/sh");
        command
            .args(["-c", include_str!("supervise.sh"), "wiremark-postgres"])
            .arg(programs.folder())
            .arg(temporary())
            .args(settings.iter().flat_map(|setting| {
                // Quotes are the configuration file's; on the command line there are none.
                ["-c".to_owned(), setting.replace('\'', "")]
            }))
            // The user that it runs as may not be able to enter ours.
            .current_dir("/")
            .env("LC_ALL", "C")
            .process_group(0)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        for (name, _) in env::vars_os() {
            if name.to_string_lossy().starts_with("PG") {
                command.env_remove(name);
            }
        }
        if let Some(user) = programs::user()? {
            command.uid(user.uid).gid(user.gid);
        }
        let supervisor = command.spawn().map_err(|error| {
            let message = format!("cannot run the shell that supervises it: {error}");
            io::Error::new(error.kind(), message)
        })?;
        let mut server = Self {
            supervisor,
            folder: PathBuf::new(),
            version: programs.version().to_owned(),
            settings,
        };
        server.wait_until_ready()?;
        Ok(server)
    }

    fn wait_until_ready(&mut self) -> io::Result<()> {
        let mut lines = self
            .supervisor
            .stdout
            .take()
            .map(BufReader::new)
            .into_iter()
            .flat_map(BufRead::lines);
        while let Some(line) = lines.next() {
            let line = line?;
            if line == "ready" {
                return Ok(());
            } else if let Some(folder) = line.strip_prefix("folder ") {
                self.folder = folder.into();
            } else if let Some(what) = line.strip_prefix("failed ") {
                let mut message = format!("no PostgreSQL server of our own: {what}");
                for line in lines.map_while(Result::ok) {
                    let _ = write!(message, "\n  {line}");
                }
                return Err(io::Error::other(message));
            }
        }
        let status = self.supervisor.wait()?;
        Err(io::Error::other(format!("what supervises PostgreSQL ended early: {status}")))
    }

    /// Where to connect: a URL that libpq's programs and the crate `postgres` take.
    pub fn url(&self) -> String {
        let mut url = "postgresql://wiremark@".to_owned();
        for byte in self.folder.as_os_str().as_encoded_bytes() {
            if byte.is_ascii_alphanumeric() || b"-._".contains(byte) {
                url.push(char::from(*byte));
            } else {
                let _ = write!(url, "%{byte:02X}");
            }
        }
        url + "/postgres"
    }

    /// The folder that holds the socket and the data.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The server's version: `15.14`.
    pub fn version(&self) -> &str {
        &self.version
    }

    /// The settings that are not PostgreSQL's own, as its configuration file would have them.
    pub fn settings(&self) -> &[String] {
        &self.settings
    }

    /// Stops it and removes all of it, and says if that failed.
    ///
    /// # Errors
    /// With the folder's name if something is left behind.
    pub fn stop(mut self) -> io::Result<()> {
        self.end()
    }

    fn end(&mut self) -> io::Result<()> {
        drop(self.supervisor.stdin.take());
        let status = self.supervisor.wait()?;
        if status.success() {
            return Ok(());
        }
        let folder = self.folder.display();
        Err(io::Error::other(format!(
            "PostgreSQL's folder {folder} may be left behind: its supervisor ended with {status}"
        )))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // After `stop` this asks for what is known already.
        let _ = self.end();
    }
}

/// The folder for temporary files, if a socket's name in it is short enough for the system.
fn temporary() -> PathBuf {
    // `sockaddr_un` has room for 107 bytes (103 on macOS); 39 of these are
    // `/wiremark-postgres.XXXXXX/.s.PGSQL.5432`.
    match path::absolute(env::temp_dir()) {
        Ok(folder) if folder.as_os_str().len() <= 60 => folder,
        _ => PathBuf::from("/tmp"),
    }
}
