//! What a plugin gets and what it can't do, in the sandbox where the machine has one, and outside.
#![cfg(target_os = "linux")]
#![expect(clippy::print_stderr, reason = "a machine without a sandbox is said")]

use crate::lab::{Lab, talk};
use chitin_plugin::PluginFault;
use chitin_test::needs;
use serde_json::{Value, json};

/// Answers a conversation with what the plugin finds out about its surroundings.
const LOOKS: &str = r#"
def tries(what):
    try: return str(what())
    except BaseException as error: return type(error).__name__
def answer(method, params, id):
    if method == "initialize": globals().__setitem__("host", params); return None
    if method != "engine/assemble": return None
    root, data = host["workspace"], host["dataDirectory"]
    here = os.path.dirname(os.path.abspath(__file__))
    found = {
        "reads": tries(lambda: open(root + "/AGENTS.md").read()),
        "writes": tries(lambda: open(root + "/new", "w").write("x")),
        "data": tries(lambda: open(data + "/kept", "a").write("x")),
        "key": tries(lambda: open(here + "/../keys.json").read()),
        "home": tries(lambda: open(here + "/../../secret").read()),
        "beside": tries(lambda: open(here + "/beside.txt").read()),
        "env": sorted(os.environ), "cwd": os.getcwd(),
        "memory": tries(lambda: len(bytearray(700 << 20))),
    }
    return {"messages": [2], "systemPromptAddition": json.dumps(found)}
"#;

fn lab(sandbox: bool) -> Lab {
    let lab = Lab::with_settings(LOOKS, |settings| {
        settings.sandbox = Some(sandbox);
        settings.env = vec!["NAMED".to_owned()];
        settings.timeout_seconds = Some(10);
    });
    lab.env.files([("AGENTS.md", "Rules.")]);
    lab.env.file("home/.chitin/keys.json", "sk-1");
    lab.env.file("home/secret", "sk-2");
    lab.env.file("home/.chitin/plugins/beside.txt", "near");
    lab
}

fn looked(lab: &Lab) -> Value {
    let context = lab.assemble(talk()).unwrap();
    serde_json::from_str(&context.system_prompt_addition.unwrap()).unwrap()
}

#[test]
fn a_plugin_in_the_sandbox_reads_its_workspace_and_itself_and_writes_only_its_data() {
    if !needs::programs(&["python3"]) {
        return;
    }
    let lab = lab(true);
    let found = match lab.assemble(talk()) {
        Ok(_) => looked(&lab),
        Err(error)
            if error
                .to_string()
                .contains("no sandbox works on this machine") =>
        {
            eprintln!("this machine has no sandbox: {error}");
            let fault = lab.set.status("p").unwrap().fault;
            assert!(
                matches!(fault, Some(PluginFault::NoSandbox(_))),
                "{fault:?}"
            );
            return;
        }
        Err(error) => panic!("{error}"),
    };
    assert_eq!(found["reads"], "Rules.");
    assert_ne!(found["writes"], "1", "{found}");
    assert!(!lab.exists("workspace/new"));
    assert_eq!(found["data"], "1", "{found}");
    assert!(lab.exists("home/.chitin/plugin-data/p/kept"));
    for hidden in ["key", "home"] {
        assert!(
            !found[hidden].to_string().contains("sk-"),
            "{hidden}: {found}"
        );
    }
    assert_eq!(found["beside"], "near");
    assert_eq!(found["memory"], "MemoryError", "{found}");
    assert_eq!(found["cwd"], json!(lab.env.workspace()));
    let report = lab.set.status("p").unwrap().sandbox.unwrap();
    assert!(report.holds(), "{report:?}");
}

#[test]
fn a_plugin_gets_no_variable_that_the_settings_do_not_name() {
    if !needs::programs(&["python3"]) {
        return;
    }
    for sandbox in [true, false] {
        let lab = lab(sandbox);
        if sandbox && lab.assemble(talk()).is_err() {
            continue;
        }
        let found = looked(&lab);
        let names: Vec<&str> = found["env"]
            .as_array()
            .unwrap()
            .iter()
            .filter_map(Value::as_str)
            .collect();
        let harmless = |name: &&str| {
            [
                "HOME",
                "PATH",
                "SHELL",
                "TMPDIR",
                "LANG",
                "LANGUAGE",
                "TERM",
                "COLORTERM",
                "TZ",
                "NO_COLOR",
                "CLICOLOR",
                "CLICOLOR_FORCE",
                "PWD",
                "NAMED",
            ]
            .contains(name)
                || name.starts_with("LC_")
                // A `python3` that is a shell script sets variables of its own.
                || name.trim_start_matches('_').starts_with("PYENV")
                || ["SHLVL", "_", "OLDPWD"].contains(name)
        };
        let odd: Vec<_> = names.iter().filter(|name| !harmless(name)).collect();
        assert_eq!(odd, Vec::<&&str>::new());
    }
}

#[test]
fn memory_is_limited_outside_the_sandbox_too() {
    if !needs::programs(&["python3"]) {
        return;
    }
    let lab = lab(false);
    assert_eq!(looked(&lab)["memory"], "MemoryError");
    let report = lab.set.status("p").unwrap().sandbox.unwrap();
    assert!(!report.holds());
}
