//! Which commands run, which are asked about, which are refused.

use chitin_protocol::settings::{ApprovalSetting, ExecSettings};
use chitin_tools::approval::{ApprovalRules, CommandDecision, Gate, Held, Question};
use chitin_tools::{Approval, ApprovalRequest, Approver};
use chitin_workspace::extensions::permissions;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use serde_json::json;
use std::collections::BTreeMap;
use std::sync::Mutex;

fn rules(approvals: Option<ApprovalSetting>, allow: &[&str], deny: &[&str]) -> ApprovalRules {
    let list = |list: &[&str]| Some(list.iter().map(|text| (*text).to_owned()).collect());
    let settings = ExecSettings {
        approvals,
        allow: list(allow),
        deny: list(deny),
        ..ExecSettings::default()
    };
    ApprovalRules::new(None, &settings, None)
}

fn verdict(rules: &ApprovalRules, command: &str) -> &'static str {
    word(&rules.decide(command, &BTreeMap::new(), Held::Firmly))
}

fn word(decision: &CommandDecision) -> &'static str {
    match decision {
        CommandDecision::Allow => "allow",
        CommandDecision::Ask(_) => "ask",
        CommandDecision::Deny(_) => "deny",
    }
}

#[test]
fn only_lines_whose_every_part_is_allowed_run() {
    let rules = rules(
        Some(ApprovalSetting::Ask),
        &["git status", "git log *", "ls *", "echo *", "cargo t*"],
        &[],
    );
    for command in [
        "git status",
        "  git   status  ",
        "git log",
        "git log --oneline -5",
        "git status && ls -la; echo 'a; b'",
        "ls | echo \"x $HOME\"",
        "git 'status'",
        "cargo test",
        "ls *.rs",
        "ls 2>&1 >/dev/null",
        "echo a # rm -rf /",
        "git status\nls",
        "git status &&\n ls",
        "ls;",
    ] {
        assert_eq!(verdict(&rules, command), "allow", "{command}");
    }
    for command in [
        "git status; rm -rf .",
        "git status && rm x",
        "git status | sh",
        "git status & rm x",
        "git status || rm x",
        "git status\nrm x",
        "git status $(rm x)",
        "git status `rm x`",
        "git status extra",
        "git status > file",
        "git status >> file",
        "ls < file",
        "ls <(rm x)",
        "ls 2>/dev/nullx",
        "ls >&file",
        "ls &> file",
        "echo ${x:-$(rm x)}",
        "echo \"$(rm x)\"",
        "echo \"`rm x`\"",
        "echo $((1+1))",
        "X=1 git status",
        "PATH=. git status",
        "./git status",
        "/tmp/git status",
        "g*t status",
        "$CMD status",
        "\"$CMD\" status",
        "~/git status",
        "git stat$us",
        "{ ls; }",
        "(ls)",
        "if ls; then ls; fi",
        "! ls",
        "ls() { rm x; }",
        "function ls { rm x; }",
        "echo 'unfinished",
        "echo \"unfinished",
        "echo \\",
        "ls;; ls",
        "; ls",
        "ls && ",
        "ls |",
        "&& ls",
        "cargo",
        "cargo  build",
        "ls\r\nrm x",
        "ls\u{a0}x; rm",
        "echo $'x'",
        "ls <<EOF\nrm x\nEOF",
        "time ls",
        "eval ls",
        "",
        "   ",
        "# ls",
        "ls |& echo",
    ] {
        assert_eq!(verdict(&rules, command), "ask", "{command:?}");
    }
    let strict = ApprovalRules {
        approvals: Some(ApprovalSetting::AllowList),
        ..rules
    };
    assert_eq!(verdict(&strict, "git status"), "allow");
    assert_eq!(verdict(&strict, "git status; rm x"), "deny");
}

#[test]
fn variables_for_a_command_keep_it_from_being_allowed() {
    let rules = rules(Some(ApprovalSetting::Ask), &["git *"], &[]);
    let with = |name: &str| {
        let environment = BTreeMap::from([(name.to_owned(), "x".to_owned())]);
        word(&rules.decide("git status", &environment, Held::Firmly))
    };
    assert_eq!(with("LC_ALL"), "allow");
    assert_eq!(with("GIT_SSH_COMMAND"), "ask");
    assert_eq!(with("LD_PRELOAD"), "ask");
}

#[test]
fn what_is_denied_wins_over_everything() {
    let rules = rules(
        Some(ApprovalSetting::Full),
        &["*"],
        &["rm *", "git push *", "curl *"],
    );
    for command in [
        "rm x",
        "/bin/rm -rf /",
        "ls; rm x",
        "ls | rm",
        "env rm x",
        "sudo nice rm x",
        "find . -exec rm {} +",
        "xargs rm",
        "git push origin main",
        "$(rm x)",
        "(cd /; rm x)",
        "r\\m x",
        "'rm' x",
    ] {
        assert_eq!(verdict(&rules, command), "deny", "{command}");
    }
    for command in [
        "sh -c 'rm x'",
        "$X x",
        "git $X",
        "for i in 1; do true; done",
        "python3 x.py",
    ] {
        assert_eq!(verdict(&rules, command), "ask", "{command}");
    }
    for command in ["ls", "git pull", "echo rm x", "echo $X", "rmdir x"] {
        assert_eq!(verdict(&rules, command), "allow", "{command}");
    }
}

#[test]
fn options_and_runners_do_not_hide_what_is_denied() {
    let rules = rules(
        Some(ApprovalSetting::Full),
        &[],
        &["git push *", "docker rm *", "kubectl delete *"],
    );
    for command in [
        "git -C . push",
        "git -C /tmp/x push origin",
        "git -c a=b push",
        "git --no-pager push",
        "git --git-dir=.git push",
        "git --git-dir .git --work-tree . push",
        "/usr/bin/git -C . push",
        "sudo git push",
        "sudo -u root git -C . push",
        "env X=1 git push",
        "env -i X=1 git -c a=b push",
        "nice -n 5 git push",
        "timeout 5 git -C . push",
        "timeout -k 1 5s git push",
        "xargs git push",
        "xargs -n 1 git -C . push",
        "find . -exec git -C {} push ;",
        "X=1 git push",
        "X=1 Y=2 git -C . push",
        "(X=1 git push)",
        "docker --context prod rm x",
        "kubectl -n prod delete pod x",
        "ls && git -C . push",
    ] {
        assert_eq!(verdict(&rules, command), "deny", "{command}");
    }
    for command in [
        "trap 'git push' EXIT",
        "alias ls='git push'",
        "eval git push",
        "source ./x.sh",
        ". ./x.sh",
        "hash -p ./evil ls",
        "export PATH=.",
        "export GIT_SSH_COMMAND=x",
        "sed 1e x",
        "sed -n '1e git push' x",
        "sed -e p -e 'e git push' x",
        "sed 's/a/b/e' x",
        "sed -f script x",
        "sed \"$X\" x",
        "tar cf /dev/null --checkpoint=1 --checkpoint-action=exec=./x .",
        "tar cf x.tar --checkpoint-a=exec=./x .",
        "tar -xIcat x.tar",
        "tar xIf cat x.tar",
        "tar xf x --to-command ./x",
        "find . -execdir sh x ;",
        "awk 'BEGIN { system(\"git push\") }'",
        "gawk -f x",
        "git -c alias.p=push p",
        "git -c core.fsmonitor=./x status",
        "git --exec-path=. status",
        "git p",
        "git config alias.p push",
        "git rebase -x ./x HEAD~1",
        "git submodule foreach ./x",
        "git fetch --upload-pack ./x",
        "git ls-remote ext::./x",
        "timeout 5 sh -c x",
        "sudo -u root bash x",
        "env X=1 awk x",
        "rsync -e ./x a b",
        "sort --compress-program=./x a",
        "make --eval=x",
    ] {
        assert_eq!(verdict(&rules, command), "ask", "{command}");
    }
    for command in [
        "git -C . status",
        "git --no-pager log -p",
        "git commit -m 'do not git push'",
        "sed -n 10p x",
        "sed -i 's/a/b/g' x",
        "sed -e '1,5d' -e '/word/p' x",
        "sed 's|/usr|/opt|' x",
        "tar czf x.tgz src",
        "tar -xzf x.tgz -C out",
        "find . -name '*.rs' -newer x",
        "export EDITOR=true",
        "timeout 5 ls",
        "env X=1 cargo test",
        "sudo apt-get install perl",
        "docker --context prod ps",
        "make all",
    ] {
        assert_eq!(verdict(&rules, command), "allow", "{command}");
    }
}

#[test]
fn a_pattern_that_leaves_the_rest_open_does_not_allow_hidden_programs() {
    let rules = rules(
        Some(ApprovalSetting::Ask),
        &["find *", "sed *", "tar *", "git *", "git p", "alias ll"],
        &[],
    );
    for command in [
        "find . -name x",
        "sed -n 1p x",
        "tar xf x",
        "git -C . log",
        // Named to the letter.
        "git p",
        "alias ll",
    ] {
        assert_eq!(verdict(&rules, command), "allow", "{command}");
    }
    for command in [
        "find . -exec rm {} +",
        "sed 1e x",
        "tar xf x --to-command=./x",
        "git -c core.pager=./x log",
        "git q",
    ] {
        assert_eq!(verdict(&rules, command), "ask", "{command}");
    }
}

#[test]
fn without_a_word_in_the_settings_the_sandbox_decides() {
    let rules = rules(None, &[], &[]);
    let decide = |held| word(&rules.decide("make; anything", &BTreeMap::new(), held));
    assert_eq!(decide(Held::Firmly), "allow");
    assert_eq!(decide(Held::Not), "ask");
}

#[test]
fn settings_of_openclaw_are_read_and_ours_win() {
    let mode = |exec: serde_json::Value, settings: &ExecSettings| {
        ApprovalRules::new(Some(&exec), settings, None).approvals
    };
    let silent = ExecSettings::default();
    for (exec, expected) in [
        (json!({}), None),
        (
            json!({"security": "deny", "ask": "off"}),
            Some(ApprovalSetting::Deny),
        ),
        (json!({"security": "allowlist"}), Some(ApprovalSetting::Ask)),
        (
            json!({"security": "allowlist", "ask": "off"}),
            Some(ApprovalSetting::AllowList),
        ),
        (
            json!({"security": "allowlist", "ask": "always"}),
            Some(ApprovalSetting::AlwaysAsk),
        ),
        (
            json!({"security": "full", "ask": "off"}),
            Some(ApprovalSetting::Full),
        ),
        (json!({"security": "full"}), Some(ApprovalSetting::Full)),
        (
            json!({"security": "full", "ask": "always"}),
            Some(ApprovalSetting::AlwaysAsk),
        ),
        (
            json!({"security": "something new"}),
            Some(ApprovalSetting::Ask),
        ),
        (json!({"ask": "on-miss"}), Some(ApprovalSetting::Ask)),
    ] {
        assert_eq!(mode(exec.clone(), &silent), expected, "{exec}");
    }
    let own = ExecSettings {
        approvals: Some(ApprovalSetting::Deny),
        ..ExecSettings::default()
    };
    assert_eq!(
        mode(json!({"security": "full"}), &own),
        Some(ApprovalSetting::Deny)
    );
}

#[test]
fn the_file_of_the_workspace_denies_too() {
    let permissions =
        permissions::parse("deny: drop table\ndeny-regex: rm\\s+-rf", "main").unwrap();
    let rules = ApprovalRules::new(None, &ExecSettings::default(), Some(permissions));
    assert_eq!(verdict(&rules, "psql -c 'DROP TABLE x'"), "deny");
    assert_eq!(verdict(&rules, "rm \t-rf x"), "deny");
    assert_eq!(verdict(&rules, "ls"), "allow");
    let environment = BTreeMap::from([("X".to_owned(), "rm -rf /".to_owned())]);
    assert_eq!(
        word(&rules.decide("sh -c \"$X\"", &environment, Held::Firmly)),
        "deny"
    );
}

/// Answers from a list and remembers what it was asked.
struct Answers(Mutex<Vec<Approval>>, Mutex<Vec<String>>);

impl Approver for Answers {
    fn ask<'a>(&'a self, request: ApprovalRequest<'a>) -> BoxFuture<'a, Approval> {
        let ApprovalRequest {
            tool, what, why, ..
        } = request;
        self.1.lock().unwrap().push(format!("{tool}|{what}|{why}"));
        let answer = self.0.lock().unwrap().remove(0);
        async move { answer }.boxed()
    }
}

#[tokio::test]
async fn somebody_is_asked_and_the_answer_counts() {
    let gate = Gate::new(rules(Some(ApprovalSetting::Ask), &["ls"], &[]));
    let answers = Answers(
        Mutex::new(vec![
            Approval::Denied(Some("not today".to_owned())),
            Approval::Once,
            Approval::Always,
            Approval::Nobody(None),
        ]),
        Mutex::default(),
    );
    let environment = BTreeMap::new();
    let question = |command| Question {
        tool: "exec",
        command,
        environment: &environment,
        workdir: None,
        held: Held::Firmly,
        at_stake: &|_| false,
    };
    let admit = async |command| gate.admit(question(command), &answers).await;
    assert!(admit("ls").await.is_ok());
    let denied = admit("make\n\u{1b}[2Jx \u{202e}").await.unwrap_err();
    assert!(
        denied.contains("the user denied it and said: not today."),
        "{denied}"
    );
    assert!(admit("make a").await.is_ok());
    assert!(admit("make a").await.is_ok());
    let nobody = admit("make b").await.unwrap_err();
    assert!(nobody.contains("`exec.allow`"), "{nobody}");
    let asked = answers.1.lock().unwrap().clone();
    assert_eq!(asked.len(), 4);
    assert!(
        asked[0].starts_with("exec|make\\n\\u{1b}[2Jx \\u{202e}|"),
        "{}",
        asked[0]
    );
}

#[tokio::test]
async fn always_asking_offers_no_answer_for_good() {
    struct Patterns(Mutex<Vec<Option<String>>>);
    impl Approver for Patterns {
        fn ask<'a>(&'a self, request: ApprovalRequest<'a>) -> BoxFuture<'a, Approval> {
            let pattern = request.pattern.map(str::to_owned);
            self.0.lock().unwrap().push(pattern);
            async { Approval::Always }.boxed()
        }
    }
    let environment = BTreeMap::new();
    let question = Question {
        tool: "exec",
        command: "make",
        environment: &environment,
        workdir: None,
        held: Held::Firmly,
        at_stake: &|_| false,
    };
    let patterns = Patterns(Mutex::default());
    for approvals in [ApprovalSetting::AlwaysAsk, ApprovalSetting::Ask] {
        let gate = Gate::new(rules(Some(approvals), &["ls"], &[]));
        assert!(gate.admit(question, &patterns).await.is_ok());
    }
    let patterns = patterns.0.lock().unwrap();
    assert!(
        patterns[0].is_none() && patterns[1].is_some(),
        "{patterns:?}"
    );
}

/// Says that it is remembered for good, and what.
struct Remembers(Mutex<Vec<String>>);

impl Approver for Remembers {
    fn ask<'a>(&'a self, request: ApprovalRequest<'a>) -> BoxFuture<'a, Approval> {
        let mut allowed = self.0.lock().unwrap();
        let answer = if allowed.iter().any(|pattern| (request.covered_by)(pattern)) {
            Approval::Once
        } else {
            allowed.extend(request.pattern.map(str::to_owned));
            Approval::Always
        };
        async move { answer }.boxed()
    }
}

#[tokio::test]
async fn an_answer_for_good_covers_a_kind_of_command_only_where_its_words_are_plain() {
    let gate = Gate::new(rules(Some(ApprovalSetting::Ask), &[], &[]));
    let allowed = Remembers(Mutex::default());
    let nothing = BTreeMap::new();
    let set = BTreeMap::from([("X".to_owned(), "1".to_owned())]);
    let plain = Question {
        tool: "exec",
        command: "npm run build",
        environment: &nothing,
        workdir: None,
        held: Held::Firmly,
        at_stake: &|_| false,
    };
    let of = |command| Question { command, ..plain };
    for (question, remembered) in [
        (of("npm run build"), vec!["npm run *"]),
        // The same kind: nothing more is remembered.
        (of("npm run test -- --watch"), vec![]),
        (of("npm run build && rm x"), vec!["=npm run build && rm x"]),
        (of("npm install x"), vec!["=npm install x"]),
        (
            Question {
                environment: &set,
                ..plain
            },
            vec!["=X=1 npm run build"],
        ),
        (
            Question {
                workdir: Some("sub"),
                ..plain
            },
            vec!["=npm run build  (in sub)"],
        ),
        // Without a sandbox only what was seen is allowed.
        (
            Question {
                held: Held::Not,
                ..plain
            },
            vec!["=npm run build"],
        ),
    ] {
        let before = allowed.0.lock().unwrap().len();
        let command = question.command;
        assert!(gate.admit(question, &allowed).await.is_ok(), "{command}");
        assert_eq!(allowed.0.lock().unwrap()[before..], remembered, "{command}");
    }
}

#[tokio::test]
async fn who_is_asked_by_rule_reads_what_the_command_does_as_well() {
    let gate = Gate::new(rules(Some(ApprovalSetting::Ask), &[], &[]));
    let answers = Answers(Mutex::new(vec![Approval::Once]), Mutex::default());
    let question = Question {
        tool: "exec",
        command: "rm -r logs",
        environment: &BTreeMap::new(),
        workdir: None,
        held: Held::Firmly,
        at_stake: &|_| false,
    };
    assert!(gate.admit(question, &answers).await.is_ok());
    let asked = answers.1.lock().unwrap().clone();
    assert!(
        asked[0].contains("`exec.allow`") && asked[0].contains("deletes directories"),
        "{asked:?}"
    );
}
