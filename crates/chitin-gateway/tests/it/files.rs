//! Files that go with messages, out and in.
