//! Progress on standard error: a bar where a person watches, a line now and then elsewhere.

use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// How often a line is printed where there is no bar.
const LINE_EVERY: Duration = Duration::from_secs(15);

/// The progress of one phase.
pub(crate) struct Progress {
    bar: ProgressBar,
    what: &'static str,
    length: u64,
    done: u64,
    last_line: Instant,
    is_bar: bool,
}

impl Progress {
    pub(crate) fn new(what: &'static str, length: usize) -> Self {
        let length = length as u64;
        let bar =
            ProgressBar::with_draw_target(Some(length), ProgressDrawTarget::stderr());
        let is_bar = !bar.is_hidden();
        if let Ok(style) = ProgressStyle::with_template(
            "{prefix:>9} [{bar:24}] {pos}/{len} {elapsed} of about {duration}  {wide_msg}",
        ) {
            bar.set_style(style.progress_chars("=> "));
        }
        bar.set_prefix(what);
        if is_bar {
            bar.enable_steady_tick(Duration::from_millis(500));
        } else if length > 0 {
            crate::remark(&format!("{what}: {length} to do"));
        }
        Self { bar, what, length, done: 0, last_line: Instant::now(), is_bar }
    }

    /// What is being done now.
    pub(crate) fn now(&self, message: &str) {
        self.bar.set_message(message.to_owned());
    }

    /// One more is done.
    pub(crate) fn advance(&mut self) {
        self.advance_by(1);
    }

    /// Some more are done.
    pub(crate) fn advance_by(&mut self, count: usize) {
        self.done += count as u64;
        self.bar.inc(count as u64);
        if !self.is_bar
            && self.last_line.elapsed() >= LINE_EVERY
            && self.done < self.length
        {
            self.last_line = Instant::now();
            crate::remark(&format!(
                "{}: {} of {} done",
                self.what, self.done, self.length
            ));
        }
    }

    /// A remark that stays above the bar.
    pub(crate) fn remark(&self, text: &str) {
        if self.is_bar {
            self.bar.suspend(|| crate::remark(text));
        } else {
            crate::remark(text);
        }
    }

    pub(crate) fn finish(self) {
        self.bar.finish_and_clear();
    }
}
