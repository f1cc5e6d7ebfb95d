//! What a server and its successor say to each other: lines of JSON on a pair of sockets, after the descriptors.

use chitin_gateway::handover::{FromPredecessor, JobEnd};
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, recvmsg, sendmsg,
};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::io::{self, ErrorKind, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream as Pair;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::UnixStream;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};

/// The longest line: the names of all sessions that have something to do.
const LONGEST: u64 = 64 << 20;
/// How many descriptors go over at most.
const DESCRIPTORS: usize = 2;

/// What the predecessor says.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum ToSuccessor {
    /// The job log is free. In these sessions turns of the predecessor still run.
    Take(Vec<String>),
    /// It serves from now on.
    Go,
    /// What becomes of those turns.
    Said(FromPredecessor),
    /// Somebody asked the predecessor to end, who does not know that it was replaced.
    End,
}

/// What the successor says.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum ToPredecessor {
    /// It could serve.
    Ready,
    /// It cannot, and ends.
    Failed(String),
    /// It has the job log, and has done nothing else.
    Taken,
    /// A job is over, for which somebody may wait with the predecessor.
    Ended(JobEnd),
}

/// One end.
pub(super) struct Link {
    pub(super) ear: Ear,
    pub(super) mouth: Mouth,
}

/// Hears what the other one says.
pub(super) struct Ear(BufReader<OwnedReadHalf>);

/// Says something to the other one.
pub(super) struct Mouth(OwnedWriteHalf);

impl Link {
    /// Makes one of a socket. Inside a runtime.
    pub(super) fn new(socket: Pair) -> io::Result<Self> {
        socket.set_nonblocking(true)?;
        let (reading, writing) = UnixStream::from_std(socket)?.into_split();
        Ok(Self {
            ear: Ear(BufReader::new(reading)),
            mouth: Mouth(writing),
        })
    }
}

impl Ear {
    /// Waits for what the other one says next; nothing comes when it is gone, or says what nobody understands.
    pub(super) async fn hear<T: DeserializeOwned>(&mut self) -> Option<T> {
        let mut line = Vec::new();
        let mut limited = (&mut self.0).take(LONGEST);
        limited.read_until(b'\n', &mut line).await.ok()?;
        serde_json::from_slice(line.strip_suffix(b"\n")?).ok()
    }
}

impl Mouth {
    /// Says something.
    pub(super) async fn say(&mut self, said: &impl Serialize) -> io::Result<()> {
        self.0.write_all(&line(said)?).await
    }
}

/// Makes the line that says something.
pub(super) fn line(said: &impl Serialize) -> io::Result<Vec<u8>> {
    let mut line = serde_json::to_vec(said)?;
    line.push(b'\n');
    Ok(line)
}

/// Hands descriptors over. Before anything else is said.
pub(super) fn send_descriptors(socket: &Pair, descriptors: &[BorrowedFd<'_>]) -> io::Result<()> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(DESCRIPTORS))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    if !control.push(SendAncillaryMessage::ScmRights(descriptors)) {
        return Err(ErrorKind::InvalidInput.into());
    }
    sendmsg(
        socket,
        &[IoSlice::new(b"\n")],
        &mut control,
        SendFlags::empty(),
    )?;
    Ok(())
}

/// Takes the descriptors that are handed over. Waits for them as long as the socket lets it.
pub(super) fn receive_descriptors(socket: &Pair) -> io::Result<Vec<OwnedFd>> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(DESCRIPTORS))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let mut byte = [0];
    recvmsg(
        socket,
        &mut [IoSliceMut::new(&mut byte)],
        &mut control,
        RecvFlags::CMSG_CLOEXEC,
    )?;
    let mut found = Vec::new();
    for message in control.drain() {
        if let RecvAncillaryMessage::ScmRights(descriptors) = message {
            found.extend(descriptors);
        }
    }
    Ok(found)
}
