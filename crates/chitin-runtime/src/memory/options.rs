//! What is remembered and how it is found: what `openclaw.json` says, and over it what `chitin.json5` says.

use crate::setup::Setup;
use chitin_config::agents;
use chitin_config::lay_over;
use chitin_contract::{
    BarRules, Fusion, MemoryRules, MemorySourceRules, PastConversations, PieceSizes, RankingSwitch,
};
use chitin_memory::chunk::ChunkOptions;
use chitin_protocol::settings::{
    CitationSetting, Fraction, MemorySettings, MemorySource, RecallPlace,
};
use serde_json::{Map, Value};

/// How many results are put into the prompt.
const RECALLED: u32 = 4;
/// How many tokens they take at most.
const RECALL_TOKENS: u32 = 1_200;
/// How well they must fit.
const RECALL_SCORE: f64 = 0.5;

/// What was said about memory.
#[derive(Debug, Clone)]
pub struct MemoryOptions {
    /// Whether there is a memory at all.
    pub enabled: bool,
    /// Whether past conversations are searched.
    pub sessions: bool,
    /// Whether memory files are.
    pub files: bool,
    /// Further files and directories.
    pub extra_paths: Vec<String>,
    /// How many results a search gives.
    pub results: usize,
    /// How well one must fit.
    pub min_score: f64,
    /// Whether results say where they stand.
    pub citations: CitationSetting,
    /// What is looked up for every message.
    pub recall: Option<RecallOptions>,
    /// Where vectors come from.
    pub embeddings: EmbeddingChoice,
    /// What `openclaw.json` says of the rest: sizes, weights, decay, diversity.
    pub search: Value,
}

/// What is looked up for every message.
#[derive(Debug, Clone, Copy)]
pub struct RecallOptions {
    pub results: usize,
    pub tokens: usize,
    pub min_score: f64,
    /// Where the results go.
    pub place: RecallPlace,
}

/// Where vectors come from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EmbeddingChoice {
    /// A table of words, if there is one.
    WordsIfThere,
    /// A table of words, which must be there.
    Words {
        /// The file, where one is named.
        file: Option<String>,
    },
    /// Nowhere.
    None,
    /// A provider, over the network. Only ever because somebody named it: notes leave the machine.
    Remote {
        provider: String,
        model: Option<String>,
        /// What `openclaw.json` says of the endpoint.
        remote: Value,
    },
}

impl MemoryOptions {
    /// Puts together what was said.
    pub fn read(setup: &Setup, own: &MemorySettings) -> Self {
        let contract = setup.contract();
        let rules = &contract.runtime.memory.sources;
        let bar = &contract.runtime.memory.ranking.bar;
        let search = said(setup, rules);
        let recall = own.recall.clone().unwrap_or_default();
        let recalls = recall.enabled.unwrap_or(contract.rendering.memory_results)
            && contract.rendering.memory_results;
        let named = sources(own, &search, rules);
        Self {
            enabled: own
                .enabled
                .or_else(|| search["enabled"].as_bool())
                .unwrap_or(true),
            sessions: named.contains(&MemorySource::Sessions),
            files: named.contains(&MemorySource::Memory),
            extra_paths: own
                .extra_paths
                .clone()
                .unwrap_or_else(|| texts(&search["extraPaths"])),
            results: usize_of(
                own.results
                    .or_else(|| whole(&search["query"]["maxResults"]))
                    .unwrap_or(BarRules::MAX_RESULTS),
            ),
            min_score: own
                .min_score
                .map(Fraction::get)
                .or_else(|| search["query"]["minScore"].as_f64())
                .unwrap_or(bar.min_score),
            citations: own
                .citations
                .or_else(|| {
                    let said = &setup.configuration.value()["memory"]["citations"];
                    serde_json::from_value(said.clone()).ok()
                })
                .unwrap_or(CitationSetting::Auto),
            recall: recalls.then(|| RecallOptions {
                results: usize_of(recall.results.unwrap_or(RECALLED)),
                tokens: usize_of(recall.tokens.unwrap_or(RECALL_TOKENS)),
                min_score: recall.min_score.map_or(RECALL_SCORE, Fraction::get),
                place: recall.place.unwrap_or_default(),
            }),
            embeddings: embeddings(own, &search),
            search,
        }
    }

    /// Returns the contract's rules with what `openclaw.json` changes in them.
    pub fn rules(&self, mut rules: MemoryRules) -> MemoryRules {
        let hybrid = &self.search["query"]["hybrid"];
        let share = |value: &Value| value.as_f64().filter(|share| (0.0..=1.0).contains(share));
        if let Fusion::WeightedSum { vector, text } = &mut rules.ranking.fusion {
            *vector = share(&hybrid["vectorWeight"]).unwrap_or(*vector);
            *text = share(&hybrid["textWeight"]).unwrap_or(*text);
        }
        let switch = |value: &Value, before| match value.as_bool() {
            Some(true) => RankingSwitch::On,
            Some(false) => RankingSwitch::Off,
            None => before,
        };
        let diversity = &mut rules.ranking.diversity;
        diversity.default = switch(&hybrid["mmr"]["enabled"], diversity.default);
        diversity.lambda = share(&hybrid["mmr"]["lambda"]).unwrap_or(diversity.lambda);
        let decay = &mut rules.ranking.decay;
        decay.default = switch(&hybrid["temporalDecay"]["enabled"], decay.default);
        decay.half_life_days = hybrid["temporalDecay"]["halfLifeDays"]
            .as_f64()
            .filter(|days| *days > 0.0)
            .unwrap_or(decay.half_life_days);
        rules
    }

    /// Returns how large pieces are.
    pub fn sizes(&self, rules: &MemoryRules) -> ChunkOptions {
        let chunking = &self.search["chunking"];
        let number = |name: &str| match rules.sources.sizes {
            PieceSizes::Configured => chunking[name]
                .as_u64()
                .and_then(|n| usize::try_from(n).ok()),
            PieceSizes::Fixed => None,
        };
        ChunkOptions::configured(number("tokens"), number("overlap"), &rules.chunks)
    }
}

/// Returns what `openclaw.json` says of the search: the agent's own words over those for all.
fn said(setup: &Setup, rules: &MemorySourceRules) -> Value {
    let config = setup.configuration.value();
    let first = |value: &Value, pointers: &[&str]| {
        let found = pointers.iter().find_map(|pointer| value.pointer(pointer));
        found.filter(|found| found.is_object()).cloned()
    };
    let mut search = first(config, rules.config).unwrap_or_else(|| Value::Object(Map::default()));
    let roster = agents::roster(config, setup.contract());
    let agent = roster.iter().find(|entry| entry.id == setup.agent);
    if let Some(agent) = agent.and_then(|entry| first(entry.settings, rules.agent_config)) {
        lay_over(&mut search, &agent);
    }
    search
}

fn sources(own: &MemorySettings, search: &Value, rules: &MemorySourceRules) -> Vec<MemorySource> {
    if let Some(sources) = &own.sources {
        return sources.clone();
    }
    let mut named = match search["sources"].as_array() {
        Some(sources) => sources
            .iter()
            .filter_map(|source| serde_json::from_value(source.clone()).ok())
            .collect(),
        None => match rules.conversations {
            PastConversations::Searched => vec![MemorySource::Memory, MemorySource::Sessions],
            PastConversations::OnRequest => vec![MemorySource::Memory],
        },
    };
    if rules.conversations == PastConversations::OnRequest
        && search["experimental"]["sessionMemory"] != true
    {
        named.retain(|source| *source != MemorySource::Sessions);
    }
    named
}

fn embeddings(own: &MemorySettings, search: &Value) -> EmbeddingChoice {
    let settings = own.embeddings.clone().unwrap_or_default();
    let ours = settings.provider.is_some();
    let theirs = search["provider"].as_str().map(str::to_owned);
    match settings.provider.or(theirs).as_deref() {
        None | Some("auto" | "local") => match settings.file {
            Some(file) => EmbeddingChoice::Words { file: Some(file) },
            None => EmbeddingChoice::WordsIfThere,
        },
        Some("words") => EmbeddingChoice::Words {
            file: settings.file,
        },
        Some("none") => EmbeddingChoice::None,
        Some(provider) => EmbeddingChoice::Remote {
            provider: provider.to_owned(),
            model: settings
                .model
                .or_else(|| search["model"].as_str().map(str::to_owned)),
            remote: if ours {
                Value::Null
            } else {
                search["remote"].clone()
            },
        },
    }
}

fn texts(value: &Value) -> Vec<String> {
    let texts = value.as_array().into_iter().flatten();
    texts
        .filter_map(Value::as_str)
        .map(str::trim)
        .filter(|text| !text.is_empty())
        .map(str::to_owned)
        .collect()
}

fn whole(value: &Value) -> Option<u32> {
    u32::try_from(value.as_u64()?)
        .ok()
        .filter(|count| *count > 0)
}

fn usize_of(count: u32) -> usize {
    usize::try_from(count).unwrap_or(usize::MAX)
}
