//! The thread's CPU time, wall time, and preemptions.

use std::time;

/// A point in time on three clocks of the calling thread.
#[derive(Clone, Copy, Debug)]
pub struct Instant {
    usage: Usage,
    wall: time::Instant,
    cpu_ns: u64,
}

/// What passed between two [`Instant`]s, or the sum of several such spans.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Span {
    /// CPU time of the thread, user and system together.
    pub cpu_ns: u64,
    /// Time on the wall.
    pub wall_ns: u64,
    /// Times the kernel took the processor away from the thread (involuntary context switches).
    pub preemptions: u64,
    /// CPU time in user mode, by the kernel's ticks: coarser than `cpu_ns`.
    pub user_ns: u64,
    /// CPU time in the kernel, by the kernel's ticks.
    pub system_ns: u64,
}

impl Instant {
    /// Now. The CPU clock is read last, so that reading the others is not part of a span.
    #[inline]
    pub fn now() -> Self {
        Self { usage: usage(), wall: time::Instant::now(), cpu_ns: thread_cpu_ns() }
    }

    /// What passed since. The CPU clock is read first.
    #[inline]
    pub fn elapsed(&self) -> Span {
        let cpu_ns = thread_cpu_ns();
        let wall = self.wall.elapsed();
        let usage = usage();
        Span {
            cpu_ns: cpu_ns.saturating_sub(self.cpu_ns),
            wall_ns: u64::try_from(wall.as_nanos()).unwrap_or(u64::MAX),
            preemptions: usage.preemptions.saturating_sub(self.usage.preemptions),
            user_ns: usage.user_ns.saturating_sub(self.usage.user_ns),
            system_ns: usage.system_ns.saturating_sub(self.usage.system_ns),
        }
    }
}

impl std::ops::Add for Span {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            cpu_ns: self.cpu_ns + other.cpu_ns,
            wall_ns: self.wall_ns + other.wall_ns,
            preemptions: self.preemptions + other.preemptions,
            user_ns: self.user_ns + other.user_ns,
            system_ns: self.system_ns + other.system_ns,
        }
    }
}

/// CPU time that the calling thread has used so far, in nanoseconds.
#[inline]
pub fn thread_cpu_ns() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is a valid `timespec` for the kernel to fill, and lives over the call.
    let failed =
        unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut time) };
    debug_assert_eq!(failed, 0, "the clock has been there since Linux 2.6.12");
    time.tv_sec.cast_unsigned() * 1_000_000_000 + time.tv_nsec.cast_unsigned()
}

/// What the kernel has booked so far.
#[derive(Clone, Copy, Debug, Default)]
struct Usage {
    preemptions: u64,
    user_ns: u64,
    system_ns: u64,
}

/// What the calling thread has used so far (the process, where the system does not tell it by
/// thread).
fn usage() -> Usage {
    #[cfg(target_os = "linux")]
    const WHO: libc::c_int = libc::RUSAGE_THREAD;
    #[cfg(not(target_os = "linux"))]
    const WHO: libc::c_int = libc::RUSAGE_SELF;

    // SAFETY: an all-zero `rusage` is a valid value of that plain C struct.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: `usage` is valid for the kernel to fill, and lives over the call.
    let failed = unsafe { libc::getrusage(WHO, &raw mut usage) };
    if failed != 0 {
        return Usage::default();
    }
    let ns = |time: libc::timeval| {
        let (seconds, micros) =
            (time.tv_sec.cast_unsigned(), time.tv_usec.cast_unsigned());
        seconds * 1_000_000_000 + micros * 1000
    };
    Usage {
        preemptions: u64::try_from(usage.ru_nivcsw).unwrap_or(0),
        user_ns: ns(usage.ru_utime),
        system_ns: ns(usage.ru_stime),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_passes_on_the_cpu_clock_and_waiting_does_not() {
        let start = Instant::now();
        let mut hash = 1_u64;
        for step in 0..2_000_000_u64 {
            hash = std::hint::black_box(hash.rotate_left(5) ^ step);
        }
        let worked = start.elapsed();
        assert!(worked.cpu_ns > 0);
        // Another thread's work is not ours: joining it is waiting.
        let start = Instant::now();
        let other = std::thread::spawn(move || {
            let mut hash = hash;
            for step in 0..20_000_000_u64 {
                hash = std::hint::black_box(hash.rotate_left(5) ^ step);
            }
            thread_cpu_ns()
        });
        let its_cpu_ns = other.join().unwrap();
        let waited = start.elapsed();
        assert!(
            waited.cpu_ns < its_cpu_ns,
            "waiting for {its_cpu_ns} ns of another thread's work took {waited:?}"
        );
    }

    #[test]
    fn spans_add_up() {
        let span = |times: u64| Span {
            cpu_ns: times,
            wall_ns: 2 * times,
            preemptions: 3 * times,
            user_ns: 4 * times,
            system_ns: 5 * times,
        };
        assert_eq!(span(1) + span(10), span(11));
    }
}
