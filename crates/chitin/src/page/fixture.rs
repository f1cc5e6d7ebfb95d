//! A page with one of everything: what tests look at, here and in a browser.

use super::{
    Cache, FileState, FileText, FileView, FragmentKind, FragmentView, ModelLine, Page, PieceSource,
    PieceView, Region, Request, RequestPart, Role, Size, View,
};

/// Text that would leave its place if it were not escaped.
pub(super) const HOSTILE: &str = "</script><script>document.title='broken'</script> <!-- <img src=x onerror=alert(1)> \
    {{data}} \u{2028}\u{2029} \u{202e}hidden turn\u{202c} & \"quotes\" 'too'";

const RULES_OURS: &str = "You act for the people of this workspace. Keep to its files, and say when you cannot.\n\
    \n## Safety\n\nAsk before anything that cannot be taken back.\n";

fn size(text: &str) -> Size {
    Size {
        units: text.encode_utf16().count(),
        bytes: text.len(),
        tokens: text.len().div_ceil(4),
        lines: text.lines().count(),
    }
}

fn sum(sizes: impl Iterator<Item = Size>) -> Size {
    sizes.fold(Size::default(), |sum, size| Size {
        units: sum.units + size.units,
        bytes: sum.bytes + size.bytes,
        tokens: sum.tokens + size.tokens,
        lines: sum.lines + size.lines,
    })
}

fn piece(text: &str, source: PieceSource) -> PieceView {
    PieceView {
        text: text.to_owned(),
        source,
        first_line: match source {
            PieceSource::File | PieceSource::Rewritten => Some(1),
            PieceSource::Ours | PieceSource::Given => None,
        },
    }
}

fn section(id: &str, cache: Cache, role: Role, pieces: Vec<PieceView>) -> FragmentView {
    let text: String = pieces.iter().map(|piece| piece.text.as_str()).collect();
    FragmentView {
        id: id.to_owned(),
        kind: FragmentKind::Section,
        title: id.to_owned(),
        path: None,
        role,
        cache,
        raw: size(&text),
        injected: size(&text),
        decision: "built in".to_owned(),
        reason: String::new(),
        pieces,
    }
}

/// The files of a small yard, one of them too long and one with text that wants to break out.
fn texts() -> Vec<FileText> {
    let mut manual = vec!["# Slipway manual\n".to_owned()];
    manual.extend((1..=72).map(|step| {
        format!("{step}. Check cradle bolt {step} and note the reading before anybody stands below the keel.")
    }));
    let manual = manual.join("\n") + "\n";
    let file = |name: &str, text: &str| FileText {
        path: format!("/home/ingrid/yard/{name}"),
        name: name.to_owned(),
        text: text.to_owned(),
    };
    vec![
        file(
            "AGENTS.md",
            include_str!("../../../../examples/harbor/AGENTS.md"),
        ),
        file(
            "SOUL.md",
            include_str!("../../../../examples/harbor/SOUL.md"),
        ),
        file("TOOLS.md", &manual),
        file(
            "USER.md",
            &format!(
                "{}\n{HOSTILE}\n",
                include_str!("../../../../examples/harbor/USER.md")
            ),
        ),
        file(
            "MEMORY.md",
            include_str!("../../../../examples/harbor/MEMORY.md"),
        ),
    ]
}

/// How the fixture's contracts differ: the limit of one file, and whether a boundary is drawn.
struct Rules {
    label: &'static str,
    limit: usize,
    boundary: bool,
    memory: bool,
}

fn view(rules: &Rules, texts: &[FileText]) -> View {
    let mut fragments = vec![section(
        "Rules",
        Cache::Stable,
        Role::System,
        vec![
            piece(RULES_OURS, PieceSource::Ours),
            piece("\n# Project context\n", PieceSource::Ours),
        ],
    )];
    let mut files = Vec::new();
    for text in texts {
        if text.name == "MEMORY.md" && !rules.memory {
            files.push(left_out(text));
            continue;
        }
        files.push(add_file(rules, text, &mut fragments));
    }
    files.push(missing(&mut fragments));
    files.push(refused());
    let cached = sum(fragments.iter().map(|part| part.injected));
    let boundary = rules
        .boundary
        .then(|| fragments.iter().map(|part| part.injected.bytes).sum());
    if rules.boundary {
        let mut mark = section(
            "boundary",
            Cache::Stable,
            Role::System,
            vec![piece("\n<!-- boundary -->\n", PieceSource::Ours)],
        );
        mark.kind = FragmentKind::Boundary;
        fragments.push(mark);
    }
    fragments.push(section(
        "Skills",
        Cache::Session,
        Role::System,
        vec![
            piece("\n## Skills\n\n", PieceSource::Ours),
            piece(
                "tide-window: finds launch windows from the tide table, with the margin over the sill.\n\
                 quote-letter: drafts a quote for Ingrid to sign, from the page of prices.\n\
                 weather-report: reads the inshore forecast and says what it means for work on the slip.\n\
                 timber-order: checks stock and lead times, then drafts an order.\n\
                 steam-bending: times for oak, larch and ash by thickness.\n",
                PieceSource::Given,
            ),
        ],
    ));
    fragments.push(section(
        "Time",
        Cache::Dynamic,
        Role::BeforeUser,
        vec![piece(
            "It is Friday, 6 March, 06:40 at Varnes Inlet.\nFound in memory: larch takes five weeks; the sill is 1.9 m above chart datum; \
             the *Tern* goes in before Easter.\n",
            PieceSource::Given,
        )],
    ));
    fragments.push(section(
        "Reminder",
        Cache::Dynamic,
        Role::AfterUser,
        vec![
            piece("From USER.md: ", PieceSource::Ours),
            piece("people, in short", PieceSource::Rewritten),
        ],
    ));
    let size = sum(fragments.iter().map(|part| part.injected));
    View {
        label: rules.label.to_owned(),
        contract: rules.label.to_owned(),
        summary: format!("One file may have `{}` characters.", rules.limit),
        model: ModelLine {
            name: "a-model".to_owned(),
            window: Some(200_000),
            share_permille: Some((size.tokens * 1000 / 200_000) as u64),
            price_per_turn: Some(format!("$0.{:04}", size.tokens * 3 / 100)),
            price_cached: Some(format!("$0.{:04}", size.tokens * 6 / 1000)),
        },
        request: Request {
            size,
            complete: false,
            parts: vec![RequestPart {
                name: "History".to_owned(),
                note: "it could not be read".to_owned(),
                tokens: None,
            }],
        },
        tokens_basis: "estimated from characters".to_owned(),
        size,
        cached,
        boundary,
        fragments,
        files,
        warnings: vec![
            "`TOOLS.md` is cut. Shorten it, or move the manual to a page of its own.".to_owned(),
        ],
    }
}

fn add_file(rules: &Rules, text: &FileText, fragments: &mut Vec<FragmentView>) -> FileView {
    let whole = text.text.as_str();
    let heading = format!("\n## {}\n\n", text.name);
    let mut pieces = vec![piece(&heading, PieceSource::Ours)];
    let mut regions = Vec::new();
    let region = |kept: bool, range: std::ops::Range<usize>| Region {
        kept,
        start_line: whole[..range.start].matches('\n').count() + 1,
        end_line: whole[..range.end]
            .trim_end_matches('\n')
            .matches('\n')
            .count()
            + 1,
        text: whole[range].to_owned(),
        why: if kept { "" } else { "per-file limit" }.to_owned(),
    };
    let cut = whole.len() > rules.limit;
    if cut {
        let head = rules.limit * 3 / 4;
        let tail = whole.len() - rules.limit / 4;
        regions.extend([
            region(true, 0..head),
            region(false, head..tail),
            region(true, tail..whole.len()),
        ]);
        pieces.push(piece(&whole[..head], PieceSource::File));
        pieces.push(piece("\n[… cut here …]\n", PieceSource::Ours));
        pieces.push(PieceView {
            first_line: Some(regions[2].start_line),
            ..piece(&whole[tail..], PieceSource::File)
        });
    } else {
        regions.push(region(true, 0..whole.len()));
        pieces.push(piece(whole, PieceSource::File));
    }
    let injected: String = pieces.iter().map(|piece| piece.text.as_str()).collect();
    let reason = if cut {
        format!(
            "Longer than the `{}` characters that one file may have.",
            rules.limit
        )
    } else {
        String::new()
    };
    let fragment = fragments.len();
    fragments.push(FragmentView {
        id: format!("file:{}", text.name),
        kind: FragmentKind::File,
        title: text.name.clone(),
        path: Some(text.path.clone()),
        role: Role::System,
        cache: Cache::Stable,
        raw: size(whole),
        injected: size(&injected),
        decision: if cut { "cut" } else { "whole" }.to_owned(),
        reason: reason.clone(),
        pieces,
    });
    FileView {
        name: text.name.clone(),
        path: text.path.clone(),
        state: if cut {
            FileState::Cut
        } else {
            FileState::Whole
        },
        raw: size(whole),
        injected: size(&injected),
        reason,
        fragment: Some(fragment),
        regions,
    }
}

fn left_out(text: &FileText) -> FileView {
    FileView {
        name: text.name.clone(),
        path: text.path.clone(),
        state: FileState::LeftOut,
        raw: size(&text.text),
        injected: Size::default(),
        reason: "Shared sessions do not get it.".to_owned(),
        fragment: None,
        regions: Vec::new(),
    }
}

fn missing(fragments: &mut Vec<FragmentView>) -> FileView {
    let reason = "There is no such file.".to_owned();
    let fragment = fragments.len();
    let mut part = section(
        "IDENTITY.md",
        Cache::Stable,
        Role::System,
        vec![piece("\n## IDENTITY.md\n\n[missing]\n", PieceSource::Ours)],
    );
    part.kind = FragmentKind::File;
    part.path = Some("/home/ingrid/yard/IDENTITY.md".to_owned());
    part.raw = Size::default();
    part.decision = "missing".to_owned();
    part.reason.clone_from(&reason);
    let injected = part.injected;
    fragments.push(part);
    FileView {
        name: "IDENTITY.md".to_owned(),
        path: "/home/ingrid/yard/IDENTITY.md".to_owned(),
        state: FileState::Missing,
        raw: Size::default(),
        injected,
        reason,
        fragment: Some(fragment),
        regions: Vec::new(),
    }
}

fn refused() -> FileView {
    FileView {
        name: "HEARTBEAT.md".to_owned(),
        path: "/home/ingrid/yard/HEARTBEAT.md".to_owned(),
        state: FileState::Refused,
        raw: Size::default(),
        injected: Size::default(),
        reason: "It is a link that leads outside the workspace.".to_owned(),
        fragment: None,
        regions: Vec::new(),
    }
}

/// Returns the page.
pub(super) fn page() -> Page {
    let texts = texts();
    let views = [
        Rules {
            label: "canonical",
            limit: 3_000,
            boundary: true,
            memory: true,
        },
        Rules {
            label: "roomy",
            limit: 100_000,
            boundary: true,
            memory: false,
        },
        Rules {
            label: "plain",
            limit: 1_200,
            boundary: false,
            memory: true,
        },
    ];
    Page {
        title: "yard".to_owned(),
        directory: "/home/ingrid/yard".to_owned(),
        session: Some("agent:main:main".to_owned()),
        turn: "first turn".to_owned(),
        generator: "chitin 0.1.0".to_owned(),
        views: views.iter().map(|rules| view(rules, &texts)).collect(),
        texts,
    }
}
