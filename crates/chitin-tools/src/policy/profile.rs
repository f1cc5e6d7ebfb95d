//! Profiles and groups of the catalogue (R61, R62).

use super::list::ToolPolicy;
use crate::compat::{BUNDLED_MCP, OWN_GROUP};
use chitin_contract::{FullProfile, OwnGroup, ToolProfile, ToolRules, ToolSection};

/// Returns the policy that a profile stands for; `None` is no restriction, as for a profile that nobody knows.
pub fn profile_policy(rules: &ToolRules, profile: &str) -> Option<ToolPolicy> {
    let profile = ToolProfile::by_name(profile)?;
    let mut allow: Vec<String> = rules
        .catalogue
        .iter()
        .filter(|tool| tool.profiles.contains(&profile))
        .map(|tool| tool.id.to_owned())
        .collect();
    match profile {
        ToolProfile::Minimal => {}
        ToolProfile::Coding | ToolProfile::Messaging => allow.push(BUNDLED_MCP.to_owned()),
        ToolProfile::Full => match rules.full_profile {
            FullProfile::NoPolicy => return None,
            FullProfile::AllowAll => allow.push("*".to_owned()),
        },
    }
    Some(ToolPolicy {
        allow: Some(allow),
        deny: None,
    })
}

/// Returns every group with its tools: that of the runtime's own tools, then one per section.
pub fn groups(rules: &ToolRules) -> Vec<(String, Vec<&'static str>)> {
    let sections = ToolSection::ALL
        .into_iter()
        .map(|section| format!("group:{}", section.as_str()));
    std::iter::once(OWN_GROUP.to_owned())
        .chain(sections)
        .filter_map(|name| {
            let tools = group(rules, &name)?;
            Some((name, tools))
        })
        .collect()
}

/// Returns the tools of a group; `None` when there is no such group.
pub(super) fn group(rules: &ToolRules, name: &str) -> Option<Vec<&'static str>> {
    let tools = |wanted: &dyn Fn(ToolSection, OwnGroup) -> bool| {
        rules
            .catalogue
            .iter()
            .filter(|tool| wanted(tool.section, tool.own_group))
            .map(|tool| tool.id)
            .collect::<Vec<_>>()
    };
    if name == OWN_GROUP {
        return Some(tools(&|_, group| group == OwnGroup::Held));
    }
    let name = name.strip_prefix("group:")?;
    let tools = tools(&|section, _| section.as_str() == name);
    (!tools.is_empty()).then_some(tools)
}
