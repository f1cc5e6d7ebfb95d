//! The system call filter: no sockets, and none of the calls that lead around the other walls.

use super::super::policy::Policy;
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, TargetArch,
};
use std::collections::BTreeMap;

type Rules = BTreeMap<i64, Vec<SeccompRule>>;

/// Calls that no ordinary work needs.
const REFUSED: [i64; 43] = [
    // Rings make calls, sockets among them, that no filter sees.
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    // Looking into other processes.
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_process_madvise,
    libc::SYS_kcmp,
    libc::SYS_pidfd_getfd,
    libc::SYS_perf_event_open,
    libc::SYS_bpf,
    libc::SYS_userfaultfd,
    // Keys of the user's session.
    libc::SYS_keyctl,
    libc::SYS_add_key,
    libc::SYS_request_key,
    // Other views of the files.
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_open_tree,
    libc::SYS_move_mount,
    libc::SYS_fsopen,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fspick,
    libc::SYS_mount_setattr,
    libc::SYS_setns,
    libc::SYS_open_by_handle_at,
    libc::SYS_quotactl,
    libc::SYS_acct,
    libc::SYS_fanotify_init,
    // The machine itself.
    libc::SYS_reboot,
    libc::SYS_kexec_load,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_swapon,
    libc::SYS_swapoff,
    libc::SYS_sethostname,
    libc::SYS_setdomainname,
    libc::SYS_settimeofday,
    libc::SYS_clock_settime,
    libc::SYS_syslog,
];

/// The part of a socket's type that is not flags.
const SOCKET_TYPES: libc::c_int = 0xf;

/// Calls that only some machines have.
#[cfg(target_arch = "x86_64")]
const REFUSED_HERE: [i64; 7] = [
    // Three of the second numbers stand alone: `ptrace`, `process_vm_readv`, `process_vm_writev`.
    521,
    539,
    540,
    libc::SYS_iopl,
    libc::SYS_ioperm,
    libc::SYS_modify_ldt,
    libc::SYS_kexec_file_load,
];
#[cfg(not(target_arch = "x86_64"))]
const REFUSED_HERE: [i64; 0] = [];

/// The second numbers of all calls on x86-64 (x32). A kernel that has them would let them through otherwise.
#[cfg(target_arch = "x86_64")]
const SECOND_NUMBERS: Option<i64> = Some(0x4000_0000);
#[cfg(not(target_arch = "x86_64"))]
const SECOND_NUMBERS: Option<i64> = None;

/// Puts the filter in force for good.
pub(super) fn apply(policy: &Policy) -> Result<(), String> {
    let said = |error: &dyn std::fmt::Display| format!("system call filter: {error}");
    let arch: TargetArch = std::env::consts::ARCH
        .try_into()
        .map_err(|error: seccompiler::BackendError| said(&error))?;
    let rules = rules(policy).map_err(|error| said(&error))?;
    // The arguments of `clone3` can't be looked at: it is said not to exist, and programs use `clone`.
    let clone3 = doubled(BTreeMap::from([(libc::SYS_clone3, Vec::new())]));
    for (rules, errno) in [(rules, libc::EPERM), (clone3, libc::ENOSYS)] {
        let program: BpfProgram = SeccompFilter::new(
            rules,
            SeccompAction::Allow,
            SeccompAction::Errno(errno.unsigned_abs()),
            arch,
        )
        .and_then(TryInto::try_into)
        .map_err(|error| said(&error))?;
        seccompiler::apply_filter(&program).map_err(|error| said(&error))?;
    }
    Ok(())
}

fn rules(policy: &Policy) -> Result<Rules, seccompiler::BackendError> {
    let mut rules: Rules = REFUSED
        .iter()
        .chain(&REFUSED_HERE)
        .map(|call| (*call, Vec::new()))
        .collect();
    rules.insert(libc::SYS_socket, sockets(policy)?);
    // Both ends of a pair are in the same hands, so this one stays open; but not for datagrams, which an end of a pair can send to
    // any other socket of the machine, by its path or its abstract name.
    rules.insert(libc::SYS_socketpair, pairs()?);
    let new_user = libc::CLONE_NEWUSER.unsigned_abs().into();
    let makes_user = || {
        SeccompRule::new(vec![SeccompCondition::new(
            0,
            SeccompCmpArgLen::Dword,
            SeccompCmpOp::MaskedEq(new_user),
            new_user,
        )?])
    };
    rules.insert(libc::SYS_clone, vec![makes_user()?]);
    rules.insert(libc::SYS_unshare, vec![makes_user()?]);
    // Limits of other processes: a low one ends them.
    rules.insert(
        libc::SYS_prlimit64,
        vec![SeccompRule::new(vec![SeccompCondition::new(
            0,
            SeccompCmpArgLen::Dword,
            SeccompCmpOp::Ne,
            0,
        )?])?],
    );
    // Typing into somebody's terminal.
    rules.insert(
        libc::SYS_ioctl,
        vec![SeccompRule::new(vec![SeccompCondition::new(
            1,
            SeccompCmpArgLen::Dword,
            SeccompCmpOp::Eq,
            libc::TIOCSTI,
        )?])?],
    );
    Ok(doubled(rules))
}

/// Returns when a socket is refused: always, or unless it is of an open family.
fn sockets(policy: &Policy) -> Result<Vec<SeccompRule>, seccompiler::BackendError> {
    let mut open = Vec::new();
    if policy.network {
        // Names are looked up by way of AF_NETLINK.
        open.extend([libc::AF_INET, libc::AF_INET6, libc::AF_NETLINK]);
    }
    if policy.unix_sockets {
        open.push(libc::AF_UNIX);
    }
    if open.is_empty() {
        return Ok(Vec::new());
    }
    let none_of_them = open.into_iter().map(is_not).collect::<Result<_, _>>()?;
    Ok(vec![SeccompRule::new(none_of_them)?])
}

/// Returns when a pair is refused: unless it is a stream, or one that keeps messages apart.
fn pairs() -> Result<Vec<SeccompRule>, seccompiler::BackendError> {
    let mut refused = vec![SeccompRule::new(vec![is_not(libc::AF_UNIX)?])?];
    let open = [libc::SOCK_STREAM, libc::SOCK_SEQPACKET];
    // The rest of the number is flags.
    for kind in (0..=SOCKET_TYPES).filter(|kind| !open.contains(kind)) {
        refused.push(SeccompRule::new(vec![SeccompCondition::new(
            1,
            SeccompCmpArgLen::Dword,
            SeccompCmpOp::MaskedEq(SOCKET_TYPES.unsigned_abs().into()),
            kind.unsigned_abs().into(),
        )?])?);
    }
    Ok(refused)
}

fn is_not(family: libc::c_int) -> Result<SeccompCondition, seccompiler::BackendError> {
    SeccompCondition::new(
        0,
        SeccompCmpArgLen::Dword,
        SeccompCmpOp::Ne,
        family.unsigned_abs().into(),
    )
}

fn doubled(mut rules: Rules) -> Rules {
    if let Some(second) = SECOND_NUMBERS {
        let twins: Vec<_> = rules
            .iter()
            .map(|(call, rule)| (call | second, rule.clone()))
            .collect();
        rules.extend(twins);
    }
    rules
}
