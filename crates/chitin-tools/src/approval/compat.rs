//! Words of `openclaw.json`, section `tools.exec`.

use chitin_protocol::settings::ApprovalSetting;
use serde_json::Value;

/// Returns what the two settings of OpenClaw come to; nothing when neither is there.
pub(super) fn approvals(exec: &Value) -> Option<ApprovalSetting> {
    let security = exec.get("security").and_then(Value::as_str);
    let ask = exec.get("ask").and_then(Value::as_str);
    match (security, ask) {
        (Some("deny"), _) => Some(ApprovalSetting::Deny),
        (_, Some("always")) => Some(ApprovalSetting::AlwaysAsk),
        (Some("full"), _) => Some(ApprovalSetting::Full),
        (Some("allowlist"), Some("off")) => Some(ApprovalSetting::AllowList),
        // A word that is not known must not open anything.
        (Some(_), _) | (None, Some("on-miss")) => Some(ApprovalSetting::Ask),
        (None, Some(_) | None) => None,
    }
}
