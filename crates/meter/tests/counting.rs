//! The counting allocator against allocations whose sizes are known. A binary of its own, since
//! the allocator is a process's.

use wiremark_meter::alloc::{Allocated, Counting, measure};

#[global_allocator]
static ALLOCATOR: Counting = Counting::system();

// One test, since another test's thread would be counted too.
#[test]
fn calls_bytes_and_peak_are_exact() {
    let ((), nothing) = measure(|| ());
    assert_eq!(nothing, Allocated::default());

    let (kept, one) = measure(|| vec![0_u8; 1000]);
    assert_eq!(
        one,
        Allocated { calls: 1, bytes: 1000, peak_bytes: 1000, largest_bytes: 1000 }
    );

    // Two blocks, one after the other: the sum counts both, the peak only one.
    let ((), two) = measure(|| {
        drop(std::hint::black_box(Vec::<u8>::with_capacity(300)));
        drop(std::hint::black_box(Vec::<u8>::with_capacity(500)));
    });
    assert_eq!(
        two,
        Allocated { calls: 2, bytes: 800, peak_bytes: 500, largest_bytes: 500 }
    );

    // A block that grows: the second call asks for 1,000 and grows by 900.
    let ((), grown) = measure(|| {
        let mut vec = Vec::<u8>::with_capacity(100);
        vec.reserve_exact(1000);
        std::hint::black_box(&vec);
    });
    assert_eq!(
        grown,
        Allocated { calls: 2, bytes: 1000, peak_bytes: 1000, largest_bytes: 1000 }
    );

    // Memory freed by the work that was alive before it does not lower the peak below zero.
    let ((), freed) = measure(|| drop(kept));
    assert_eq!(freed, Allocated::default());
}
