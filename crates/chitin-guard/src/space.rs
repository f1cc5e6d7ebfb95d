//! How much room is left on the disk, and who has to stop when it gets little.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// How long a look holds, in milliseconds.
const LOOK_MS: i64 = 1_000;
const MIB: u64 = 1 << 20;
/// Recordings stop below this, unless the disk is small.
const RECORDINGS_FREE: u64 = 256 * MIB;
/// Of a small disk, this part.
const RECORDINGS_PART: u64 = 20;
/// Messages are refused below this, unless the disk is small.
const INTAKE_FREE: u64 = 64 * MIB;
/// Of a small disk, this part.
const INTAKE_PART: u64 = 80;
/// What stopped begins again when this part of the limit more is free, so that it does not stop at once again.
const MARGIN_PART: u64 = 8;

/// How much room a file system has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DiskSpace {
    /// Bytes that this process may still write.
    pub free: u64,
    /// Bytes of the whole file system.
    pub total: u64,
}

impl DiskSpace {
    /// Looks at the file system that a path is on; the path itself need not be there yet.
    pub fn of(path: &Path) -> Option<Self> {
        let found = path
            .ancestors()
            .find_map(|path| rustix::fs::statvfs(path).ok())?;
        Some(Self {
            free: found.f_bavail.saturating_mul(found.f_frsize),
            total: found.f_blocks.saturating_mul(found.f_frsize),
        })
    }
}

/// Below which room something stops. What is left out follows from the size of the disk.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SpaceLimits {
    /// Turns are recorded no longer, in bytes.
    pub recordings: Option<u64>,
    /// Messages are refused, in bytes.
    pub intake: Option<u64>,
}

impl SpaceLimits {
    /// Returns below which room turns are recorded no longer.
    pub fn for_recordings(self, disk: DiskSpace) -> u64 {
        let usual = RECORDINGS_FREE.min(disk.total / RECORDINGS_PART);
        self.recordings.unwrap_or(usual).max(self.for_intake(disk))
    }

    /// Returns below which room messages are refused.
    pub fn for_intake(self, disk: DiskSpace) -> u64 {
        self.intake
            .unwrap_or_else(|| INTAKE_FREE.min(disk.total / INTAKE_PART))
    }
}

/// Who has to stop.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum SpaceLevel {
    /// Nobody.
    #[default]
    Enough,
    /// Turns are not recorded.
    Low,
    /// Messages are refused too.
    Reserve,
}

/// What was found when somebody looked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SpaceFound {
    /// The disk; nothing if it cannot be looked at.
    pub disk: Option<DiskSpace>,
    /// Who has to stop.
    pub level: SpaceLevel,
    /// Below which room turns are recorded no longer.
    pub recordings: u64,
    /// Below which room messages are refused.
    pub intake: u64,
}

impl SpaceFound {
    /// Tells whether turns are recorded.
    pub fn has_room_for_recordings(&self) -> bool {
        self.level < SpaceLevel::Low
    }

    /// Tells whether messages are accepted.
    pub fn has_room_for_messages(&self) -> bool {
        self.level < SpaceLevel::Reserve
    }
}

/// Looks at a disk at most once a second, whoever asks however often, and tells when something stops or begins again.
pub struct SpaceWatch {
    path: Option<PathBuf>,
    limits: SpaceLimits,
    tell: Box<dyn Fn(SpaceFound) + Send + Sync>,
    last: Mutex<Option<(i64, SpaceFound)>>,
}

impl SpaceWatch {
    /// Watches the disk that a path is on. Each change of the level is told, beginning with one that is not [`SpaceLevel::Enough`].
    pub fn new(
        path: impl Into<PathBuf>,
        limits: SpaceLimits,
        tell: impl Fn(SpaceFound) + Send + Sync + 'static,
    ) -> Self {
        Self {
            path: Some(path.into()),
            limits,
            tell: Box::new(tell),
            last: Mutex::default(),
        }
    }

    /// Watches nothing: there is always room.
    pub fn off() -> Self {
        Self {
            path: None,
            limits: SpaceLimits::default(),
            tell: Box::new(|_| {}),
            last: Mutex::default(),
        }
    }

    /// Returns how it stands at a time, in milliseconds since 1970.
    pub fn look(&self, now_ms: i64) -> SpaceFound {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((at, found)) = *last
            && (at..at + LOOK_MS).contains(&now_ms)
        {
            return found;
        }
        let before = last.map_or(SpaceLevel::Enough, |(_, found)| found.level);
        let disk = self.path.as_deref().and_then(DiskSpace::of);
        let found = self.judged(disk, before);
        *last = Some((now_ms, found));
        drop(last);
        if found.level != before {
            (self.tell)(found);
        }
        found
    }

    fn judged(&self, disk: Option<DiskSpace>, before: SpaceLevel) -> SpaceFound {
        let Some(space) = disk else {
            return SpaceFound {
                disk,
                level: SpaceLevel::Enough,
                recordings: 0,
                intake: 0,
            };
        };
        let recordings = self.limits.for_recordings(space);
        let intake = self.limits.for_intake(space);
        let is_below = |limit: u64, level: SpaceLevel| {
            let margin = if before >= level {
                limit / MARGIN_PART
            } else {
                0
            };
            space.free < limit.saturating_add(margin)
        };
        let level = if is_below(intake, SpaceLevel::Reserve) {
            SpaceLevel::Reserve
        } else if is_below(recordings, SpaceLevel::Low) {
            SpaceLevel::Low
        } else {
            SpaceLevel::Enough
        };
        SpaceFound {
            disk,
            level,
            recordings,
            intake,
        }
    }
}

impl std::fmt::Debug for SpaceWatch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SpaceWatch")
            .field("path", &self.path)
            .field("limits", &self.limits)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn disk(free: u64, total: u64) -> DiskSpace {
        DiskSpace { free, total }
    }

    #[test]
    fn recordings_stop_first_and_each_begins_again_with_something_to_spare() {
        let limits = SpaceLimits {
            recordings: Some(800),
            intake: Some(80),
        };
        let watch = SpaceWatch::new("/", limits, |_| {});
        let mut before = SpaceLevel::Enough;
        for (free, expected) in [
            (800, SpaceLevel::Enough),
            (799, SpaceLevel::Low),
            (899, SpaceLevel::Low),
            (80, SpaceLevel::Low),
            (79, SpaceLevel::Reserve),
            (89, SpaceLevel::Reserve),
            (90, SpaceLevel::Low),
            (900, SpaceLevel::Enough),
        ] {
            before = watch.judged(Some(disk(free, 10_000)), before).level;
            assert_eq!(before, expected, "{free}");
        }
    }

    #[test]
    fn a_small_disk_has_small_limits_and_messages_are_never_refused_before_recordings_stop() {
        let usual = SpaceLimits::default();
        let large = DiskSpace {
            free: 0,
            total: 1 << 40,
        };
        assert_eq!(usual.for_recordings(large), 256 * MIB);
        assert_eq!(usual.for_intake(large), 64 * MIB);
        let small = DiskSpace {
            free: 0,
            total: 8_000,
        };
        assert_eq!(usual.for_recordings(small), 400);
        assert_eq!(usual.for_intake(small), 100);
        let odd = SpaceLimits {
            recordings: Some(1),
            intake: Some(1_000),
        };
        assert_eq!(odd.for_recordings(small), 1_000);
    }

    #[test]
    fn a_disk_is_looked_at_at_intervals_and_one_that_is_not_there_is_that_above_it() {
        let watch = SpaceWatch::new("/nobody/made/this", SpaceLimits::default(), |_| {});
        let found = watch.look(0);
        assert!(found.disk.is_some());
        *watch.last.lock().unwrap() = Some((
            0,
            SpaceFound {
                disk: None,
                ..found
            },
        ));
        assert_eq!(watch.look(LOOK_MS - 1).disk, None, "it was not looked at");
        assert!(watch.look(LOOK_MS).disk.is_some());
        assert_eq!(SpaceWatch::off().look(0).level, SpaceLevel::Enough);
    }
}
