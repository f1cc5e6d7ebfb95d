//! Signs under messages: Slack knows them by name, models write them as they look.

/// Common signs and their names.
const NAMES: [(&str, &str); 58] = [
    ("👍", "+1"),
    ("👎", "-1"),
    ("👀", "eyes"),
    ("✅", "white_check_mark"),
    ("❌", "x"),
    ("❤", "heart"),
    ("🎉", "tada"),
    ("🙏", "pray"),
    ("👏", "clap"),
    ("🔥", "fire"),
    ("🚀", "rocket"),
    ("💯", "100"),
    ("😀", "grinning"),
    ("😄", "smile"),
    ("😁", "grin"),
    ("😂", "joy"),
    ("🤣", "rolling_on_the_floor_laughing"),
    ("😊", "blush"),
    ("🙂", "slightly_smiling_face"),
    ("😉", "wink"),
    ("😍", "heart_eyes"),
    ("🤔", "thinking_face"),
    ("😅", "sweat_smile"),
    ("😢", "cry"),
    ("😭", "sob"),
    ("😮", "open_mouth"),
    ("😱", "scream"),
    ("😡", "rage"),
    ("🤯", "exploding_head"),
    ("🫡", "saluting_face"),
    ("👋", "wave"),
    ("💪", "muscle"),
    ("🤝", "handshake"),
    ("👌", "ok_hand"),
    ("🤷", "shrug"),
    ("🙌", "raised_hands"),
    ("✨", "sparkles"),
    ("⭐", "star"),
    ("💡", "bulb"),
    ("⚠", "warning"),
    ("❓", "question"),
    ("❗", "exclamation"),
    ("⏳", "hourglass_flowing_sand"),
    ("⌛", "hourglass"),
    ("⏰", "alarm_clock"),
    ("🔍", "mag"),
    ("📌", "pushpin"),
    ("📝", "memo"),
    ("🐛", "bug"),
    ("🔧", "wrench"),
    ("🛑", "octagonal_sign"),
    ("🚨", "rotating_light"),
    ("✔", "heavy_check_mark"),
    ("➕", "heavy_plus_sign"),
    ("💔", "broken_heart"),
    ("🤖", "robot_face"),
    ("🎯", "dart"),
    ("☕", "coffee"),
];

/// Returns Slack's name for a sign: `:eyes:`, `eyes` and 👀 are the same. Nothing when it has no name that we know.
pub(crate) fn name(emoji: &str) -> Option<String> {
    let plain = emoji.trim().trim_matches(':');
    let is_name = |byte: u8| {
        byte.is_ascii_lowercase()
            || byte.is_ascii_digit()
            || matches!(byte, b'_' | b'-' | b'+' | b':' | b'\'')
    };
    if (1..=100).contains(&plain.len()) && plain.bytes().all(is_name) {
        return Some(plain.to_owned());
    }
    // The sign may say how it is drawn, and the tone of a skin.
    let tone = plain.chars().find_map(|sign| {
        let tone = (sign as u32).checked_sub(0x1F3FB)?;
        (tone < 5).then_some(tone + 2)
    });
    let bare: String = plain
        .chars()
        .filter(|sign| *sign != '\u{fe0f}' && !('\u{1F3FB}'..='\u{1F3FF}').contains(sign))
        .collect();
    let (_, name) = NAMES.iter().find(|(sign, _)| *sign == bare)?;
    Some(match tone {
        Some(tone) => format!("{name}::skin-tone-{tone}"),
        None => (*name).to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::name;

    #[test]
    fn a_sign_has_one_name_however_it_is_written() {
        for written in [":eyes:", "eyes", "👀", " 👀 "] {
            assert_eq!(name(written).as_deref(), Some("eyes"));
        }
        assert_eq!(name("❤️").as_deref(), Some("heart"));
        assert_eq!(name("👍🏽").as_deref(), Some("+1::skin-tone-4"));
        for odd in ["", "::", "two words", "🦩", "a\nb"] {
            assert_eq!(name(odd), None, "{odd:?}");
        }
    }
}
