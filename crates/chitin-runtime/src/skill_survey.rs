//! Which skills an agent has, and what stands in the way of each.

use crate::error::RuntimeError;
use crate::{Host, Setup};
use chitin_contract::Contract;
use chitin_workspace::skills::{
    AllowList, DiscoverOptions, Eligibility, Ineligible, Skill, SkillSet, discover,
};
use serde_json::Value;
use std::path::PathBuf;

/// All skills that were found for one workspace and one agent.
#[derive(Debug)]
pub struct SkillSurvey {
    /// The contract that they were found by.
    pub contract: &'static Contract,
    /// The workspace.
    pub workspace: PathBuf,
    /// What was found.
    pub set: SkillSet,
    config: Value,
    allowed: AllowList,
}

impl SkillSurvey {
    /// Finds the skills of an agent.
    pub fn new(host: &Host, setup: &Setup) -> Result<Self, RuntimeError> {
        let (contract, workspace) = (setup.contract(), setup.directory.clone());
        let config = setup.configuration.value().clone();
        let places = setup.claimed_skill_places(host)?;
        let own = setup.configuration.layers.settings(Some(&setup.agent));
        let set = discover(
            &places,
            &config,
            &contract.skills,
            &DiscoverOptions::of(&own),
        );
        let allowed = AllowList::for_agent(&config, setup.agent.as_str(), contract);
        Ok(Self {
            contract,
            workspace,
            set,
            config,
            allowed,
        })
    }

    /// Returns a judge that can tell what stands in a skill's way.
    pub fn eligibility<'a>(&'a self, host: &'a Host) -> Eligibility<'a> {
        Eligibility::new(&host.env, &self.config, &self.contract.skills)
    }

    /// Returns what stands in a skill's way; nothing when it is ready.
    pub fn reasons(&self, eligibility: &Eligibility<'_>, skill: &Skill) -> Vec<Ineligible> {
        let mut reasons = eligibility.judge(skill);
        if !self.allowed.allows(skill) {
            reasons.push(Ineligible::NotInAllowList);
        }
        reasons
    }
}
