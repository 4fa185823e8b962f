//! A file as memory: the one place of this crate with `unsafe` code.
#![expect(
    unsafe_code,
    reason = "memory that the system fills is outside of what Rust knows"
)]

use std::fs::File;
use std::io;
use std::ops::Deref;
use std::ptr::NonNull;

use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};

/// The contents of a file, mapped into memory to be read.
///
/// The file must not be cut or changed while it is mapped: reading a page that is gone ends the
/// process (`SIGBUS`). Files in a [`Scratch`](crate::Scratch) folder are safe from others, and
/// nothing in this crate changes one in place but [`write`](crate::write()) without
/// [`Durability::Atomic`](crate::Durability::Atomic).
#[derive(Debug)]
pub struct Mapped {
    /// `None` for a file of no bytes, which cannot be mapped.
    memory: Option<NonNull<u8>>,
    length: usize,
}

// SAFETY: the memory is only read, and belongs to this value alone.
unsafe impl Send for Mapped {}
// SAFETY: as above; shared reading is fine.
unsafe impl Sync for Mapped {}

impl Mapped {
    /// Maps the whole file as it is now.
    ///
    /// # Safety
    /// Until the value is dropped nobody may cut the file or write to it: what is borrowed from
    /// it would change under the borrow, or end the process.
    ///
    /// # Errors
    /// What the system says.
    pub unsafe fn new(file: &File) -> io::Result<Self> {
        let length = usize::try_from(file.metadata()?.len())
            .map_err(|_| io::Error::from(io::ErrorKind::FileTooLarge))?;
        if length == 0 {
            return Ok(Self { memory: None, length });
        }
        // SAFETY: a new mapping at an address that the system chooses touches no other memory.
        let memory = unsafe {
            mmap(
                std::ptr::null_mut(),
                length,
                ProtFlags::READ,
                MapFlags::PRIVATE,
                file,
                0,
            )?
        };
        Ok(Self { memory: NonNull::new(memory.cast()), length })
    }
}

impl Deref for Mapped {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self.memory {
            None => &[],
            // SAFETY: `length` bytes from there were mapped for reading and stay so until `drop`;
            // that nobody writes to them is what `new` asks of its caller.
            Some(memory) => unsafe {
                std::slice::from_raw_parts(memory.as_ptr(), self.length)
            },
        }
    }
}

impl Drop for Mapped {
    fn drop(&mut self) {
        if let Some(memory) = self.memory {
            // SAFETY: this is what `new` mapped, once, and nothing borrows from it any more.
            let unmapped = unsafe { munmap(memory.as_ptr().cast(), self.length) };
            debug_assert!(unmapped.is_ok(), "{unmapped:?}");
        }
    }
}
