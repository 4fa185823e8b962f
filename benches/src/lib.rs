//! The comparisons.
