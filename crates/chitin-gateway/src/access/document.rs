//! Who waits to be let in and who was: what the file says, and every change of it.

use super::allowlist::{bare_id, same};
use super::code;
use super::error::TrustError;
use super::pairing::{Asker, Asking, Paired, PendingPairing};
use crate::surface::Address;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What the file is called in itself.
const VERSION: u32 = 1;
/// How long a code lives, in milliseconds.
pub const CODE_LIVES_MS: i64 = 60 * 60 * 1000;
/// How long somebody who asks again is told nothing, in milliseconds.
pub const TOLD_EVERY_MS: i64 = 10 * 60 * 1000;
/// How many may wait on one account of a network.
pub const MOST_PENDING: usize = 3;
/// How many may wait altogether.
const MOST_PENDING_ANYWHERE: usize = 300;
/// How many may be let in.
pub const MOST_PAIRED: usize = 10_000;
/// How many wrong codes there may be before all that are open go.
pub const MOST_WRONG: u32 = 10;
/// How many codes that were given out are remembered, so that none is given out again.
const MOST_SPENT: usize = 1_024;
/// How often a code is drawn that was not given out before.
const DRAWS: usize = 64;

/// What the file says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Document {
    version: u32,
    #[serde(default)]
    pub(super) pending: Vec<PendingPairing>,
    #[serde(default)]
    pub(super) paired: Vec<Paired>,
    /// Wrong codes since the last right one, by network.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    wrong: BTreeMap<String, u32>,
    /// Traces of codes that were given out.
    #[serde(default)]
    spent: Vec<String>,
}

impl Default for Document {
    fn default() -> Self {
        Self {
            version: VERSION,
            pending: Vec::new(),
            paired: Vec::new(),
            wrong: BTreeMap::new(),
            spent: Vec::new(),
        }
    }
}

impl Document {
    /// Reads the bytes of the file.
    pub(super) fn read(bytes: &[u8]) -> Result<Self, String> {
        let read: Self = serde_json::from_slice(bytes).map_err(|error| error.to_string())?;
        if read.version != VERSION {
            return Err(format!("it is of version {}, not {VERSION}", read.version));
        }
        Ok(read)
    }

    /// Returns the bytes of the file.
    pub(super) fn write(&self) -> Vec<u8> {
        let mut bytes = serde_json::to_vec_pretty(self).unwrap_or_default();
        bytes.push(b'\n');
        bytes
    }

    /// Lets go of codes whose time is over.
    pub(super) fn expire(&mut self, now: i64) {
        self.pending.retain(|pending| pending.is_open(now));
    }

    /// Finds somebody who was let in.
    pub(super) fn find(&self, channel: &str, account: &str, sender_id: &str) -> Option<&Paired> {
        self.paired.iter().find(|paired| {
            paired.sender_id.eq_ignore_ascii_case(sender_id)
                && paired.channel == channel
                && paired.account == account
        })
    }

    /// Notes that somebody asks, and says what they are told.
    pub(super) fn ask(&mut self, asker: Asker, now: i64) -> Result<Asking, TrustError> {
        self.expire(now);
        let here = |pending: &PendingPairing| {
            pending.channel == asker.channel && pending.account == asker.account
        };
        let mut known = self.pending.iter_mut();
        let known = known.find(|one| here(one) && same(&one.sender_id, &asker.sender_id));
        if let Some(known) = known {
            // A clock that was set back must not silence anybody for long.
            if (0..TOLD_EVERY_MS).contains(&(now - known.told_at)) {
                return Ok(Asking::Quiet);
            }
            known.told_at = now;
            return Ok(Asking::Tell(known.code.clone()));
        }
        let waiting = self.pending.iter().filter(|one| here(one)).count();
        if waiting >= MOST_PENDING || self.pending.len() >= MOST_PENDING_ANYWHERE {
            return Ok(Asking::Full);
        }
        let code = self.new_code()?;
        self.pending.push(PendingPairing {
            channel: asker.channel,
            account: asker.account,
            sender_id: asker.sender_id,
            sender_name: asker.sender_name,
            code: code.clone(),
            asked_at: now,
            expires_at: now + CODE_LIVES_MS,
            told_at: now,
            place: asker.place,
        });
        Ok(Asking::Tell(code))
    }

    /// Lets somebody in by a code.
    pub(super) fn approve(
        &mut self,
        channel: Option<&str>,
        typed: &str,
        owner: bool,
        now: i64,
    ) -> Result<Paired, TrustError> {
        if self.paired.len() >= MOST_PAIRED {
            return Err(TrustError::Full { most: MOST_PAIRED });
        }
        let pending = self.take(channel, typed, now)?;
        let paired = Paired {
            channel: pending.channel,
            account: pending.account,
            sender_id: pending.sender_id,
            sender_name: pending.sender_name,
            owner,
            since: now,
            to_greet: Some(pending.place),
        };
        self.paired.retain(|known| {
            known.channel != paired.channel
                || known.account != paired.account
                || !same(&known.sender_id, &paired.sender_id)
        });
        self.paired.push(paired.clone());
        Ok(paired)
    }

    /// Takes out the request that a code belongs to. Wrong codes are counted, and after too many all open ones go.
    pub(super) fn take(
        &mut self,
        channel: Option<&str>,
        typed: &str,
        now: i64,
    ) -> Result<PendingPairing, TrustError> {
        self.expire(now);
        let code = code::typed(typed).ok_or(TrustError::NoCode)?;
        let meant =
            |pending: &PendingPairing| channel.is_none_or(|channel| pending.channel == channel);
        // All are compared, whichever is the right one.
        let mut found = None;
        for (index, pending) in self.pending.iter().enumerate() {
            if code::same(&pending.code, &code) && meant(pending) {
                found = Some(index);
            }
        }
        if let Some(index) = found {
            let pending = self.pending.remove(index);
            self.wrong.remove(&pending.channel);
            return Ok(pending);
        }
        let mut tried: Vec<String> = self
            .pending
            .iter()
            .filter(|one| meant(one))
            .map(|one| one.channel.clone())
            .collect();
        tried.sort();
        tried.dedup();
        let mut gone = false;
        for channel in tried {
            let wrong = self.wrong.entry(channel.clone()).or_default();
            *wrong += 1;
            if *wrong >= MOST_WRONG {
                self.wrong.remove(&channel);
                self.pending.retain(|one| one.channel != channel);
                gone = true;
            }
        }
        Err(if gone {
            TrustError::TooManyWrong { most: MOST_WRONG }
        } else {
            TrustError::UnknownCode
        })
    }

    /// Lets somebody in no more; on every account of the network. Returns how many entries that were.
    pub(super) fn revoke(&mut self, channel: &str, sender: &str) -> usize {
        let before = self.paired.len();
        let id = bare_id(sender, channel);
        self.paired
            .retain(|paired| paired.channel != channel || !same(&paired.sender_id, id));
        before - self.paired.len()
    }

    /// Takes those who are still to be told that they were let in.
    pub(super) fn take_greetings(&mut self) -> Vec<Address> {
        let paired = self.paired.iter_mut();
        paired.filter_map(|paired| paired.to_greet.take()).collect()
    }

    /// Makes a code that was not given out before.
    fn new_code(&mut self) -> Result<String, TrustError> {
        for _ in 0..DRAWS {
            let code = code::draw().ok_or(TrustError::NoRandomness)?;
            let trace = code::trace(&code);
            if self.spent.contains(&trace) {
                continue;
            }
            self.spent.push(trace);
            let over = self.spent.len().saturating_sub(MOST_SPENT);
            self.spent.drain(..over);
            return Ok(code);
        }
        Err(TrustError::NoRandomness)
    }
}
