//! Running a case as somebody whom permission bits bind: as root they have no effect.

use anyhow::Result;

/// Runs `work` on a thread that has given up the right to pass over permissions. Linux keeps such rights per thread.
pub(crate) fn run<T: Send>(work: impl FnOnce() -> T + Send) -> Result<T> {
    std::thread::scope(|scope| {
        let thread = scope.spawn(|| {
            if rustix::process::geteuid().is_root() {
                give_up_overrides()?;
            }
            Ok(work())
        });
        thread
            .join()
            .map_err(|_| anyhow::anyhow!("the case's thread failed"))?
    })
}

#[cfg(target_os = "linux")]
fn give_up_overrides() -> Result<()> {
    use rustix::thread::{CapabilitySet, capabilities, set_capabilities};
    let mut sets = capabilities(None)?;
    let overrides = CapabilitySet::DAC_OVERRIDE | CapabilitySet::DAC_READ_SEARCH;
    sets.effective.remove(overrides);
    set_capabilities(None, sets)?;
    Ok(())
}

#[cfg(not(target_os = "linux"))]
fn give_up_overrides() -> Result<()> {
    anyhow::bail!("run the cases as an ordinary user")
}
