//! The programs that know codecs: binaries of ours, one for each crate, and peers in other
//! languages. Both speak the protocol of `wiremark_record`.

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use wiremark_datasets::{Dataset, DatasetVisitor};
use wiremark_peers::{self as peers, Peers, Program};
use wiremark_record::CellId;
use wiremark_record::protocol::{DATABASE, REQUEST, Request, VALUES};

use crate::plan::{self, to_json};
use crate::problem::{Context, Problem};
use crate::workspace::Workspace;

/// A program that lists, checks and measures cells.
#[derive(Debug, Clone)]
pub(crate) enum Worker {
    /// A binary of ours.
    Ours(PathBuf),
    /// A program in another language, and the folder of the values that it reads.
    Peer { program: Box<Program>, values: PathBuf },
}

impl From<PathBuf> for Worker {
    fn from(path: PathBuf) -> Self {
        Self::Ours(path)
    }
}

impl fmt::Display for Worker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ours(path) => path.display().fmt(f),
            Self::Peer { program, .. } => {
                write!(f, "the peer of {}", program.version.program)
            }
        }
    }
}

impl Worker {
    /// The worker with a verb, and what it is asked in its environment.
    pub(crate) fn command(
        &self,
        verb: &str,
        request: &Request,
    ) -> Result<Command, Problem> {
        let mut command = match self {
            Self::Ours(path) => {
                let mut command = Command::new(path);
                command.arg(verb);
                command
            }
            Self::Peer { program, values } => {
                let mut command = program.command(verb);
                command.env(VALUES, values);
                command
            }
        };
        command.env(REQUEST, to_json(request)?);
        match &request.database {
            Some(url) => command.env(DATABASE, url),
            None => command.env_remove(DATABASE),
        };
        Ok(command)
    }

    /// The worker as a process that measures one cell.
    pub(crate) fn measuring(
        &self,
        id: &CellId,
        request: &Request,
    ) -> Result<Command, Problem> {
        match self {
            Self::Ours(_) => {
                let mut command = self.command("--bench", request)?;
                command.args(["--exact", &id.to_string()]);
                command.args(["--discard-baseline", "--quiet"]);
                Ok(command)
            }
            Self::Peer { .. } => {
                let mut command = self.command("measure", request)?;
                command.arg(to_json(id)?);
                Ok(command)
            }
        }
    }

    /// Whether a cell of this codec is the worker's: a peer may know codecs that another shows.
    pub(crate) fn has(&self, codec: &str) -> bool {
        match self {
            Self::Ours(_) => true,
            Self::Peer { program, .. } => program.has(codec),
        }
    }

    /// Changes when the program does.
    pub(crate) fn hash(&self) -> Result<String, Problem> {
        let bytes = match self {
            Self::Ours(path) => fs::read(path),
            Self::Peer { program, .. } => program.bytes(),
        };
        bytes.map(|bytes| plan::hash(&bytes)).context(|| format!("cannot read {self}"))
    }
}

/// Finds the peers of this machine, and builds what has to be built.
pub(crate) fn find_peers(workspace: &Workspace) -> Peers {
    let sources = workspace.root.join("crates/peers");
    peers::find(&sources, &workspace.wiremark().join("peers"))
}

/// The programs of peers as workers, with the values of a request in `folder`.
pub(crate) fn peers_as_workers(
    programs: Vec<Program>,
    request: &Request,
    folder: &Path,
) -> Result<Vec<Worker>, Problem> {
    struct Write<'a> {
        folder: &'a Path,
        written: std::io::Result<()>,
    }

    impl DatasetVisitor for Write<'_> {
        fn visit<D: Dataset>(&mut self, dataset: &D) {
            if self.written.is_ok() {
                self.written = peers::values::write(self.folder, dataset);
            }
        }
    }

    let context = || format!("cannot write values for peers to {}", folder.display());
    fs::create_dir_all(folder).context(context)?;
    let mut write = Write { folder, written: Ok(()) };
    for id in &request.datasets {
        // In the dynamic form, which all of them can take.
        wiremark_datasets::visit(id, true, &mut write);
    }
    for file in &request.files {
        write.visit(&plan::try_to_read(file)?);
    }
    write.written.context(context)?;
    let values = std::path::absolute(folder).context(context)?;
    let peer =
        |program| Worker::Peer { program: Box::new(program), values: values.clone() };
    Ok(programs.into_iter().map(peer).collect())
}
