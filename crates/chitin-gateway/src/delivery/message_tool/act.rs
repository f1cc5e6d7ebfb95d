//! The deeds themselves.

use super::arguments::{MessageToolRequest, filled};
use super::result::{OTHERS_WORDS, told};
use super::{Scene, files, schema};
use crate::surface::{Address, OutgoingMessage, Surface, SurfaceAction, SurfaceOutcome};
use chitin_text::TextChunk;
use chitin_tools::CallContext;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;

/// How long a surface may take for something that is no message.
const LONGEST: Duration = Duration::from_mins(1);
/// How many places a broadcast goes to.
const MOST_TARGETS: usize = 50;
/// Does what a call asks for.
pub(super) async fn run(
    scene: &Scene,
    channel: Option<&str>,
    ask: MessageToolRequest,
    context: &CallContext<'_>,
) -> Result<Value, String> {
    let target = ask.target.as_deref();
    match ask.action.as_str() {
        schema::BROADCAST => broadcast(scene, channel, &ask, context).await,
        schema::SEND
        | schema::REPLY
        | schema::THREAD_REPLY
        | schema::UPLOAD
        | schema::SEND_ATTACHMENT => {
            let (surface, place) = scene.reached(channel, target, &ask, context).await?;
            if ask.action == schema::THREAD_REPLY {
                filled(place.thread_id.as_deref(), "threadId", &ask.action)?;
            }
            send(scene, &surface, &place, &ask, context, 0).await
        }
        schema::THREAD_CREATE => {
            let (surface, place) = scene.reached(channel, target, &ask, context).await?;
            let name = ask.thread_name.as_deref().or(ask.message.as_deref());
            let name = filled(name, "threadName", &ask.action)?;
            let action = SurfaceAction::ThreadCreate {
                name: name.chars().take(100).collect(),
                message_id: ask.message_id.clone(),
                auto_archive_min: ask.auto_archive_min,
            };
            let mut told = act(&surface, &place, &action, &ask).await?;
            if let (Some(text), Some(SurfaceOutcome::Thread { address })) = (&ask.message, &told.1)
                && ask.thread_name.is_some()
                && !text.trim().is_empty()
            {
                let first = send(scene, &surface, address, &ask, context, 0).await?;
                told.0["messageId"] = first["messageId"].clone();
            }
            Ok(told.0)
        }
        schema::READ => {
            let (surface, place) = scene.reached(channel, target, &ask, context).await?;
            let action = SurfaceAction::Read {
                limit: ask.limit(),
                before: ask.before.clone(),
            };
            let acted = act(&surface, &place, &action, &ask).await?;
            Ok(told(&place, &ask, acted, context))
        }
        schema::DOWNLOAD => {
            let (surface, place) = scene.reached(channel, target, &ask, context).await?;
            let action = SurfaceAction::Download {
                message_id: ask.about(scene.began(&place))?.to_owned(),
                file: ask.file.clone(),
            };
            let (mut told, done) = act(&surface, &place, &action, &ask).await?;
            if let Some(SurfaceOutcome::File { file }) = done {
                let kept = files::keep(&file, &ask, context).await?;
                told["path"] = json!(kept);
                told["mime"] = json!(file.mime);
                told["bytes"] = json!(file.bytes.len());
                told["note"] = json!(OTHERS_WORDS);
            }
            Ok(told)
        }
        _ => {
            let (surface, place) = scene.reached(channel, target, &ask, context).await?;
            let action = other(scene, &surface, &ask, &place)?;
            let acted = act(&surface, &place, &action, &ask).await?;
            Ok(told(&place, &ask, acted, context))
        }
    }
}

/// Makes the action of a call that is neither sending nor reading.
fn other(
    scene: &Scene,
    surface: &Arc<dyn Surface>,
    ask: &MessageToolRequest,
    place: &Address,
) -> Result<SurfaceAction, String> {
    Ok(match ask.action.as_str() {
        schema::EDIT => {
            let message_id = ask.about(None)?.to_owned();
            let mut pieces = scene.inner.cut(&**surface, place, ask.text()?.trim());
            let (Some(piece), true) = (pieces.pop(), pieces.is_empty()) else {
                return Err("This is too long for one message.".to_owned());
            };
            SurfaceAction::Edit {
                message_id,
                text: piece.body,
            }
        }
        schema::REACT => SurfaceAction::React {
            message_id: ask.about(scene.began(place))?.to_owned(),
            emoji: filled(ask.emoji.as_deref(), "emoji", &ask.action)?.to_owned(),
            remove: ask.remove,
        },
        name => {
            let fields = ask.fields();
            for needed in schema::needs(name) {
                let field = fields.get(*needed);
                let blank = match field {
                    None | Some(Value::Null) => true,
                    Some(Value::String(text)) => text.trim().is_empty(),
                    Some(_) => false,
                };
                if blank {
                    return Err(format!("`{name}` needs `{needed}`."));
                }
            }
            SurfaceAction::Other {
                name: name.to_owned(),
                fields,
            }
        }
    })
}

/// Does something that is no message.
async fn act(
    surface: &Arc<dyn Surface>,
    place: &Address,
    action: &SurfaceAction,
    ask: &MessageToolRequest,
) -> Result<(Value, Option<SurfaceOutcome>), String> {
    let mut told = json!({"ok": true, "action": ask.action, "to": place.to_string()});
    if ask.dry_run {
        told["dryRun"] = json!(true);
        return Ok((told, None));
    }
    let doing = tokio::time::timeout(LONGEST, surface.act(place, action)).await;
    let done = match doing {
        Ok(done) => done.map_err(|error| error.message)?,
        Err(_) => return Err("The surface did not answer in time.".to_owned()),
    };
    match &done {
        SurfaceOutcome::Thread { address } => {
            told["threadId"] = json!(address.thread_id.as_ref().unwrap_or(&address.peer.id));
            told["target"] = json!(address.to_string());
        }
        SurfaceOutcome::Done
        | SurfaceOutcome::Said { .. }
        | SurfaceOutcome::File { .. }
        | SurfaceOutcome::Other { .. } => {}
    }
    Ok((told, Some(done)))
}

/// Sends a text to several places; one that fails does not keep the others from theirs.
async fn broadcast(
    scene: &Scene,
    channel: Option<&str>,
    ask: &MessageToolRequest,
    context: &CallContext<'_>,
) -> Result<Value, String> {
    if ask.buffer.is_some() || !ask.paths().is_empty() {
        return Err(
            "`broadcast` takes no files. Send them to one place after the other.".to_owned(),
        );
    }
    if ask.targets.is_empty() || ask.targets.len() > MOST_TARGETS {
        return Err(format!(
            "`broadcast` needs `targets`, at most {MOST_TARGETS} of them."
        ));
    }
    let mut results = Vec::new();
    for (index, target) in ask.targets.iter().enumerate() {
        let sent = match scene.reached(channel, Some(target), ask, context).await {
            Ok((surface, place)) => send(scene, &surface, &place, ask, context, index).await,
            Err(error) => Err(error),
        };
        results.push(match sent {
            Ok(sent) => sent,
            Err(error) => json!({"ok": false, "to": target, "error": error}),
        });
    }
    let all = results.iter().all(|result| result["ok"] == true);
    Ok(json!({"ok": all, "action": ask.action, "results": results}))
}

/// Sends a text in pieces that the surface takes.
async fn send(
    scene: &Scene,
    surface: &Arc<dyn Surface>,
    place: &Address,
    ask: &MessageToolRequest,
    context: &CallContext<'_>,
    index: usize,
) -> Result<Value, String> {
    let files = files::load(surface.capabilities().files, ask, context).await?;
    let text = match (files.is_empty(), ask.action.as_str()) {
        (true, schema::UPLOAD | schema::SEND_ATTACHMENT) => {
            return Err(format!(
                "`{}` needs a file: `media` or `buffer`.",
                ask.action
            ));
        }
        (true, _) => ask.text()?.trim(),
        (false, _) => ask.words(),
    };
    let reply_to = match ask.action.as_str() {
        schema::REPLY => Some(ask.about(ask.reply_to.as_deref())?.to_owned()),
        _ => ask.reply_to.clone(),
    };
    let mut pieces = scene.inner.cut(&**surface, place, text);
    if pieces.is_empty() {
        // Files need no words.
        pieces.push(TextChunk {
            body: String::new(),
            plain: None,
        });
    }
    let mut told = json!({"ok": true, "action": ask.action, "to": place.to_string()});
    if ask.dry_run {
        told["dryRun"] = json!(true);
        told["pieces"] = json!(pieces.len());
        if !files.is_empty() {
            told["files"] = json!(files.len());
        }
        return Ok(told);
    }
    let turn = scene.job.as_ref().map_or("", |job| job.id.as_str());
    let mut ids = Vec::new();
    for (piece, cut) in pieces.into_iter().enumerate() {
        let message = OutgoingMessage {
            key: format!("{turn}:{}:{index}:{piece}", context.call_id),
            plain: cut.plain.unwrap_or_else(|| cut.body.clone()),
            text: cut.body,
            reply_to: reply_to.clone().filter(|_| piece == 0),
            silent: ask.silent,
            files: if piece == 0 {
                files.clone()
            } else {
                Vec::new()
            },
            ..OutgoingMessage::default()
        };
        let sent = scene.inner.send(&**surface, place, &message).await;
        let sent = sent.map_err(|error| match ids.len() {
            0 => error.message,
            sent => format!("{} {sent} of its pieces are out already.", error.message),
        })?;
        ids.push(sent.message_id);
    }
    if let Some(job) = scene.job.as_ref().filter(|_| !text.is_empty()) {
        scene.inner.note_said(job, place, text);
    }
    told["messageId"] = json!(ids.first());
    if ids.len() > 1 {
        told["messageIds"] = json!(ids);
    }
    if !files.is_empty() {
        let names: Vec<&str> = files.iter().map(|file| file.name.as_str()).collect();
        told["files"] = json!(names);
    }
    Ok(told)
}
