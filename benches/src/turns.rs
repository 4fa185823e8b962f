//! Takes turns with other timed processes, one sample each.
//!
//! A neighbour on the same physical core slows a thread to 0.5 to 0.6 of its speed, for a tenth
//! of a second to a few seconds: as long as a process measures, and neither CPU time nor the
//! count of preemptions shows it. So the processes of one table live side by side, and each
//! takes one sample when it is told to. A slow spell then meets a few samples of all of them,
//! which their lower quartiles leave out, or all samples of all, which their ratios do.

use std::env;
use std::io::{self, BufRead, Write};

use wiremark_record::protocol::{MY_TURN, TURNS};

/// The process's side of taking turns.
#[derive(Debug)]
pub struct Turns {
    /// Operations of the last call, 0 before the first.
    previous: u64,
    is_sampling: bool,
}

impl Turns {
    /// `None` if this process measures alone.
    pub fn from_environment() -> Option<Self> {
        env::var_os(TURNS).is_some().then(Self::new)
    }

    fn new() -> Self {
        Self { previous: 0, is_sampling: false }
    }

    /// Whether a call with `times` operations is a sample and not criterion's warm-up.
    ///
    /// The warm-up doubles the operations from call to call, beginning with 1; samples have a
    /// number of their own. Should the first of them look like another doubling, it is not
    /// waited for, which does no harm.
    fn is_sample(&mut self, times: u64) -> bool {
        let expected = (self.previous * 2).max(1);
        self.is_sampling |= times != expected;
        self.previous = times;
        self.is_sampling
    }

    /// Waits for this process's turn, if a call with `times` operations is a sample; tells
    /// whether it was.
    ///
    /// # Errors
    /// If nobody gives turns any more.
    pub fn wait(&mut self, times: u64) -> io::Result<bool> {
        if !self.is_sample(times) {
            return Ok(false);
        }
        let mut out = io::stdout().lock();
        writeln!(out, "{MY_TURN}")?;
        out.flush()?;
        let mut line = String::new();
        match io::stdin().lock().read_line(&mut line)? {
            0 => Err(io::Error::new(
                io::ErrorKind::UnexpectedEof,
                "whoever gave the turns has gone",
            )),
            _ => Ok(true),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn doubling_is_the_warm_up_and_the_rest_are_samples() {
        let rows: [(&[u64], usize); 4] = [
            (&[1, 2, 4, 8, 100, 100, 100], 4),
            (&[1, 1, 1], 1),
            (&[1, 2, 3, 3], 2),
            // The first sample looks like another doubling.
            (&[1, 2, 4, 8, 8, 8], 4),
        ];
        for (calls, first) in rows {
            let mut turns = Turns::new();
            let found = calls.iter().position(|&times| turns.is_sample(times));
            assert_eq!(found, Some(first), "{calls:?}");
        }
    }
}
