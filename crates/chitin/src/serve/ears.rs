//! What a server hears besides its own socket: chat channels, and a directory of files. One process at a time does.

use chitin_gateway::Gateway;
use chitin_gateway::surface::directory::DirectorySurface;
use chitin_runtime::channels::{ChannelSet, ConnectedChannels};
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;

/// What a server hears besides its own socket.
pub(crate) struct Ears {
    gateway: Gateway,
    channels: ChannelSet,
    files: Option<DirectorySurface>,
    open: Option<Hearing>,
}

/// While they are open.
struct Hearing {
    channels: ConnectedChannels,
    files: Option<AbortOnDropHandle<()>>,
    end: CancellationToken,
}

impl Ears {
    /// Hears nothing yet.
    pub(crate) const fn new(
        gateway: Gateway,
        channels: ChannelSet,
        files: Option<DirectorySurface>,
    ) -> Self {
        Self {
            gateway,
            channels,
            files,
            open: None,
        }
    }

    /// Begins to hear.
    pub(crate) fn open(&mut self) {
        let end = CancellationToken::new();
        let files = self.files.clone().map(|files| {
            let (gateway, end) = (self.gateway.clone(), end.clone());
            let watching = async move { files.watch(&gateway, &end).await };
            AbortOnDropHandle::new(tokio::spawn(watching))
        });
        self.open = Some(Hearing {
            channels: self.channels.connect(&self.gateway),
            files,
            end,
        });
    }

    /// Takes nothing more in. Channels can still send.
    pub(crate) fn shut(&self) {
        if let Some(open) = &self.open {
            open.end.cancel();
            open.channels.end().cancel();
        }
    }

    /// Waits until nothing is connected any more.
    pub(crate) async fn closed(&mut self) {
        self.shut();
        if let Some(Hearing {
            channels, files, ..
        }) = self.open.take()
        {
            channels.ended().await;
            if let Some(files) = files {
                let _ = files.await;
            }
        }
    }
}
