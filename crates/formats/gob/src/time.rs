//! [`Time`]: Go's `time.Time`.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::de::{Deserialize, Deserializer};
use serde::ser::{Serialize, Serializer};

use crate::special::{Bytes, BytesVisitor};

pub(crate) const TIME_TOKEN: &str = "$wiremark_gob::Time";

/// From 1 January of year 1 to 1 January 1970, in seconds.
const UNIX_FROM_YEAR_1: i64 = 62_135_596_800;

/// Go's `time.Time`: a moment to the nanosecond, and the offset at which it was noted.
///
/// Names of zones and the monotonic clock do not travel. [`SystemTime`] goes both ways; with
/// the features `jiff` and `chrono` so do `jiff::Timestamp` and `chrono::DateTime<Utc>`.
///
/// ```
/// use std::time::{Duration, SystemTime};
/// use wiremark_gob::{Time, from_slice, to_vec};
///
/// let time = Time::from(SystemTime::UNIX_EPOCH + Duration::new(1_426_345_766, 535_897_932));
/// let bytes = to_vec(&time)?;
/// assert_eq!(from_slice::<Time>(&bytes)?, time);
/// assert_eq!(SystemTime::try_from(time).unwrap(), SystemTime::UNIX_EPOCH
///     + Duration::new(1_426_345_766, 535_897_932));
/// # Ok::<(), wiremark_gob::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Time {
    unix_seconds: i64,
    nanoseconds: u32,
    offset_seconds: Option<i32>,
}

impl Time {
    /// Go's zero time: 1 January of year 1, 00:00 UTC. A field that holds it is left out.
    pub const ZERO: Self =
        Self { unix_seconds: -UNIX_FROM_YEAR_1, nanoseconds: 0, offset_seconds: None };

    /// The moment so many seconds after 1970-01-01 00:00 UTC, and nanoseconds after that.
    /// None unless there are fewer than 1,000,000,000 nanoseconds.
    pub const fn new(unix_seconds: i64, nanoseconds: u32) -> Option<Self> {
        if nanoseconds < 1_000_000_000 {
            Some(Self { unix_seconds, nanoseconds, offset_seconds: None })
        } else {
            None
        }
    }

    /// The same moment as noted in a zone so many seconds east of UTC.
    ///
    /// None for what Go's form cannot hold: more than 32,767 minutes, and the minute before
    /// UTC, whose number stands for UTC itself.
    #[must_use]
    pub fn with_offset(self, seconds: i32) -> Option<Self> {
        let minutes = i16::try_from(seconds / 60).ok()?;
        (minutes != -1).then_some(Self { offset_seconds: Some(seconds), ..self })
    }

    /// Seconds since 1970-01-01 00:00 UTC, rounded down.
    pub const fn unix_seconds(&self) -> i64 {
        self.unix_seconds
    }

    /// Nanoseconds after that, below 1,000,000,000.
    pub const fn nanoseconds(&self) -> u32 {
        self.nanoseconds
    }

    /// Seconds east of UTC; none for UTC itself.
    pub const fn offset_seconds(&self) -> Option<i32> {
        self.offset_seconds
    }

    /// The payload that Go's `GobEncode` makes: 15 bytes, or 16 where the offset has seconds.
    ///
    /// ```text
    /// version  seconds since year 1 (8)  nanoseconds (4)  minutes of offset (2)  [seconds]
    /// ```
    pub(crate) fn payload(&self) -> ([u8; 16], usize) {
        let mut payload = [0; 16];
        let offset = self.offset_seconds;
        let minutes = offset.map_or(-1, |offset| i16::try_from(offset / 60).unwrap_or(0));
        let seconds = offset.map_or(0, |offset| i8::try_from(offset % 60).unwrap_or(0));
        payload[0] = if seconds == 0 { 1 } else { 2 };
        let since = self.unix_seconds.wrapping_add(UNIX_FROM_YEAR_1);
        payload[1..9].copy_from_slice(&since.to_be_bytes());
        payload[9..13].copy_from_slice(&self.nanoseconds.to_be_bytes());
        payload[13..15].copy_from_slice(&minutes.to_be_bytes());
        payload[15] = seconds.cast_unsigned();
        (payload, if seconds == 0 { 15 } else { 16 })
    }

    /// The reverse of [`payload`](Self::payload). Go does not look at the nanoseconds; here
    /// more than 999,999,999 are refused.
    pub(crate) fn from_payload(payload: &[u8]) -> Option<Self> {
        let (version, rest) = payload.split_first()?;
        let (since, rest) = rest.split_first_chunk::<8>()?;
        let (nanoseconds, rest) = rest.split_first_chunk::<4>()?;
        let (minutes, rest) = rest.split_first_chunk::<2>()?;
        let seconds = match (version, rest) {
            (1, []) => 0,
            (2, &[seconds]) => seconds.cast_signed(),
            _ => return None,
        };
        let minutes = i16::from_be_bytes(*minutes);
        let offset = i32::from(minutes) * 60 + i32::from(seconds);
        let since = i64::from_be_bytes(*since);
        let time = Self::new(
            since.wrapping_sub(UNIX_FROM_YEAR_1),
            u32::from_be_bytes(*nanoseconds),
        )?;
        Some(Self { offset_seconds: (minutes != -1).then_some(offset), ..time })
    }
}

impl Default for Time {
    /// [`Time::ZERO`], which is not 1970.
    fn default() -> Self {
        Self::ZERO
    }
}

impl Serialize for Time {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (payload, used) = self.payload();
        serializer.serialize_newtype_struct(TIME_TOKEN, &Bytes(&payload[..used]))
    }
}

impl<'de> Deserialize<'de> for Time {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_newtype_struct(
            TIME_TOKEN,
            BytesVisitor { of: Self::from_payload, expecting: "a time" },
        )
    }
}

impl From<SystemTime> for Time {
    /// The moment in UTC.
    fn from(time: SystemTime) -> Self {
        let (seconds, nanoseconds) = match time.duration_since(UNIX_EPOCH) {
            Ok(since) => (i64::try_from(since.as_secs()), since.subsec_nanos()),
            Err(before) => {
                // Rounded down, so that the nanoseconds count forwards.
                let before = before.duration();
                let up = u64::from(before.subsec_nanos() > 0);
                let seconds = i64::try_from(before.as_secs().saturating_add(up));
                let nanoseconds = (1_000_000_000 - before.subsec_nanos()) % 1_000_000_000;
                (seconds.map(|seconds| -seconds), nanoseconds)
            }
        };
        let unix_seconds = seconds.unwrap_or(i64::MAX - UNIX_FROM_YEAR_1);
        Self { unix_seconds, nanoseconds, offset_seconds: None }
    }
}

/// A moment beyond what the other type holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeRangeError;

impl std::fmt::Display for TimeRangeError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("the time is beyond what the type holds")
    }
}

impl std::error::Error for TimeRangeError {}

impl TryFrom<Time> for SystemTime {
    type Error = TimeRangeError;

    fn try_from(time: Time) -> Result<Self, TimeRangeError> {
        let seconds = Duration::from_secs(time.unix_seconds.unsigned_abs());
        let whole = if time.unix_seconds < 0 {
            UNIX_EPOCH.checked_sub(seconds)
        } else {
            UNIX_EPOCH.checked_add(seconds)
        };
        whole
            .and_then(|whole| {
                whole.checked_add(Duration::from_nanos(time.nanoseconds.into()))
            })
            .ok_or(TimeRangeError)
    }
}

#[cfg(feature = "jiff")]
impl From<jiff::Timestamp> for Time {
    /// The moment in UTC.
    fn from(time: jiff::Timestamp) -> Self {
        // The nanoseconds of jiff have the sign of the seconds.
        let nanoseconds = i64::from(time.subsec_nanosecond());
        Self {
            unix_seconds: time.as_second() + nanoseconds.div_euclid(1_000_000_000),
            nanoseconds: u32::try_from(nanoseconds.rem_euclid(1_000_000_000))
                .unwrap_or(0),
            offset_seconds: None,
        }
    }
}

#[cfg(feature = "jiff")]
impl TryFrom<Time> for jiff::Timestamp {
    type Error = TimeRangeError;

    fn try_from(time: Time) -> Result<Self, TimeRangeError> {
        let nanoseconds = i32::try_from(time.nanoseconds).map_err(|_| TimeRangeError)?;
        Self::new(time.unix_seconds, nanoseconds).map_err(|_| TimeRangeError)
    }
}

#[cfg(feature = "chrono")]
impl From<chrono::DateTime<chrono::Utc>> for Time {
    /// The moment in UTC. A leap second, which Go does not know, is the second after it.
    fn from(time: chrono::DateTime<chrono::Utc>) -> Self {
        let nanoseconds = time.timestamp_subsec_nanos();
        Self {
            unix_seconds: time.timestamp() + i64::from(nanoseconds / 1_000_000_000),
            nanoseconds: nanoseconds % 1_000_000_000,
            offset_seconds: None,
        }
    }
}

#[cfg(feature = "chrono")]
impl TryFrom<Time> for chrono::DateTime<chrono::Utc> {
    type Error = TimeRangeError;

    fn try_from(time: Time) -> Result<Self, TimeRangeError> {
        Self::from_timestamp(time.unix_seconds, time.nanoseconds).ok_or(TimeRangeError)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_go_both_ways_on_both_sides_of_1970() {
        let table = [
            (UNIX_EPOCH, 0, 0),
            (UNIX_EPOCH + Duration::from_millis(1_500), 1, 500_000_000),
            (UNIX_EPOCH - Duration::from_millis(1_500), -2, 500_000_000),
            (UNIX_EPOCH - Duration::from_secs(3), -3, 0),
        ];
        for (system, seconds, nanoseconds) in table {
            let time = Time::from(system);
            assert_eq!((time.unix_seconds(), time.nanoseconds()), (seconds, nanoseconds));
            assert_eq!(SystemTime::try_from(time), Ok(system));
            let (payload, used) = time.payload();
            assert_eq!(Time::from_payload(&payload[..used]), Some(time));
        }
    }

    #[test]
    fn an_offset_keeps_its_seconds_and_may_not_be_minus_one_minute() {
        let time = Time::new(-2_209_017_943, 0).unwrap();
        // `time/zone_with_seconds` of the vectors.
        let (payload, used) = time.with_offset(29_143).unwrap().payload();
        assert_eq!(
            payload[..used],
            *b"\x02\x00\x00\x00\x0d\xf3\xe7\x06\xa9\0\0\0\0\x01\xe5\x2b"
        );
        for (seconds, can) in
            [(0, true), (-59, true), (-60, false), (-119, false), (-120, true)]
        {
            let noted = time.with_offset(seconds);
            assert_eq!(noted.is_some(), can, "{seconds}");
            if let Some(noted) = noted {
                let (payload, used) = noted.payload();
                assert_eq!(
                    Time::from_payload(&payload[..used]),
                    Some(noted),
                    "{seconds}"
                );
            }
        }
    }

    #[cfg(feature = "jiff")]
    #[test]
    fn moments_of_jiff_go_both_ways() {
        for (seconds, nanoseconds) in
            [(0, 0), (1, 500_000_000), (-2, 500_000_000), (-3, 0)]
        {
            let time = Time::new(seconds, nanoseconds).unwrap();
            let jiff = jiff::Timestamp::try_from(time).unwrap();
            assert_eq!(Time::from(jiff), time);
        }
        assert_eq!(
            jiff::Timestamp::try_from(Time::ZERO).unwrap().as_second(),
            -62_135_596_800
        );
        let far = Time::new(i64::MAX, 0).unwrap();
        assert_eq!(jiff::Timestamp::try_from(far), Err(TimeRangeError));
    }

    #[cfg(feature = "chrono")]
    #[test]
    fn moments_of_chrono_go_both_ways() {
        for (seconds, nanoseconds) in
            [(0, 0), (1, 500_000_000), (-2, 500_000_000), (-3, 0)]
        {
            let time = Time::new(seconds, nanoseconds).unwrap();
            let chrono = chrono::DateTime::<chrono::Utc>::try_from(time).unwrap();
            assert_eq!(Time::from(chrono), time);
        }
        let far = Time::new(i64::MAX, 0).unwrap();
        assert_eq!(chrono::DateTime::<chrono::Utc>::try_from(far), Err(TimeRangeError));
    }
}
