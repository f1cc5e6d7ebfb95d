//! How an account stands, and who we are there.

use crate::ids::Id;
use crate::wire::User;
use chitin_gateway::surface::Connection;
use std::sync::{Mutex, PoisonError};

/// How an account stands.
#[derive(Debug, Default)]
pub(crate) struct AccountState(Mutex<Stand>);

#[derive(Debug, Default, Clone)]
struct Stand {
    connection: Connection,
    me: Option<Me>,
}

/// Who we are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Me {
    pub(crate) id: Id,
    pub(crate) name: String,
}

impl From<&User> for Me {
    fn from(user: &User) -> Self {
        Self {
            id: user.id,
            name: user.tag().unwrap_or_else(|| user.username.clone()),
        }
    }
}

impl AccountState {
    pub(crate) fn connection(&self) -> Connection {
        self.look(|stand| stand.connection.clone())
    }

    pub(crate) fn me(&self) -> Option<Me> {
        self.look(|stand| stand.me.clone())
    }

    pub(crate) fn set(&self, connection: Connection) {
        self.look(|stand| stand.connection = connection);
    }

    pub(crate) fn know(&self, me: Me) {
        self.look(|stand| stand.me = Some(me));
    }

    fn look<T>(&self, looking: impl FnOnce(&mut Stand) -> T) -> T {
        looking(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
