//! Slack's words for what went wrong, said clearly, with what to do about it.

/// Returns what a word of Slack's means, and what to do about it (without a full stop).
pub(crate) fn advice(code: &str, needed: Option<&str>) -> (String, Option<String>) {
    let (what, hint) = match code {
        "invalid_auth" | "not_authed" => (
            "the token is not one of Slack's",
            "Copy it again from the app's pages, without blanks",
        ),
        "token_revoked" => (
            "the token was taken back",
            "Install the app again and use the new token",
        ),
        "token_expired" => ("the token is too old", "Make a new one on the app's pages"),
        "account_inactive" | "app_uninstalled" => (
            "the app or its user is no longer in the workspace",
            "Install the app again",
        ),
        "not_allowed_token_type" => (
            "this kind of token may not do that",
            "A bot token begins with `xoxb-`, an app token for Socket Mode with `xapp-`",
        ),
        "missing_scope" => {
            let scope = needed.unwrap_or("another scope");
            return (
                format!("the token lacks `{scope}`"),
                Some(format!(
                    "Add `{scope}` to the app's scopes and install it again"
                )),
            );
        }
        "not_in_channel" => (
            "the app is not in that channel",
            "Invite it there with `/invite`",
        ),
        "channel_not_found" => (
            "there is no such channel, or the app cannot see it",
            "Use the channel's id, and invite the app if the channel is private",
        ),
        "is_archived" => ("the channel is archived", ""),
        "msg_too_long" => ("the message is too long", ""),
        "no_text" => ("the message is empty", ""),
        "message_not_found" => (
            "there is no such message",
            "A message is named by its time, such as `1700000000.000100`",
        ),
        "cant_update_message" | "cant_delete_message" => ("the message is not ours", ""),
        "edit_window_closed" => ("messages may be changed for a while only", ""),
        "thread_not_found" => ("there is no such thread", ""),
        "user_not_found" | "users_not_found" => (
            "there is no such person",
            "Use the person's id, such as `U012AB3CD`",
        ),
        "cannot_dm_bot" => ("programs cannot be written to", ""),
        "invalid_name" | "no_reaction" => (
            "there is no such reaction",
            "Reactions go by name, such as `eyes`",
        ),
        "too_many_emoji" | "too_many_reactions" => ("the message has too many reactions", ""),
        "restricted_action"
        | "restricted_action_read_only_channel"
        | "restricted_action_thread_only_channel" => {
            ("the workspace does not allow that there", "")
        }
        "no_permission"
        | "ekm_access_denied"
        | "team_access_not_granted"
        | "org_login_required" => (
            "the workspace does not allow that",
            "Ask who looks after the workspace",
        ),
        "file_not_found" | "file_deleted" => ("there is no such file", ""),
        "already_pinned" => ("it is pinned already", ""),
        "not_pinned" | "no_pin" => ("it is not pinned", ""),
        "internal_error" | "fatal_error" | "service_unavailable" | "request_timeout" => {
            ("Slack has trouble of its own", "")
        }
        _ => ("for a reason of its own", ""),
    };
    let hint = (!hint.is_empty()).then(|| hint.to_owned());
    (what.to_owned(), hint)
}
