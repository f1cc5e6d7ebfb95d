//! Which model is meant by a name.

use super::table::{Entry, TABLE};
use super::{ModelFacts, ModelPrices};
use crate::tokens::TokenEncoding;
use chitin_protocol::config::{ModelSettings, Price, TokenizerSetting};
use std::collections::BTreeMap;

/// How long a name may be to be compared with others.
const LONGEST_NAME: usize = 128;

/// How many names are suggested.
const SUGGESTIONS: usize = 3;

/// Finds a model by `provider/name` or by its bare name; what configuration says about it is laid over the built-in list.
///
/// The longest entry that the name begins with holds. What follows must not be another version: `gpt-5` stands for
/// `gpt-5-2025-08-07` but not for `gpt-5.9`. None if neither the list nor the configuration knows the model.
pub fn find(name: &str, settings: &BTreeMap<String, ModelSettings>) -> Option<ModelFacts> {
    let wanted = Name::new(name);
    let entry = longest(TABLE.iter().map(|entry| (entry.id, entry)), &wanted);
    let own = longest(
        settings
            .iter()
            .map(|(id, settings)| (id.as_str(), settings)),
        &wanted,
    );
    match (entry, own) {
        (None, None) => None,
        (entry, own) => {
            let mut model = listed(name, entry.map(|(_, entry)| entry));
            if let Some((_, settings)) = own {
                overlay(&mut model, settings);
            }
            Some(model)
        }
    }
}

/// Returns the names of known models that are near a name, nearest first.
pub fn nearest(name: &str, settings: &BTreeMap<String, ModelSettings>) -> Vec<String> {
    let wanted = Name::new(name);
    if wanted.name.len() > LONGEST_NAME {
        return Vec::new();
    }
    let known = TABLE.iter().map(|entry| entry.id);
    let mut near: Vec<_> = known
        .chain(settings.keys().map(String::as_str))
        .filter_map(|id| {
            let candidate = Name::new(id).name;
            let distance = strsim::damerau_levenshtein(&wanted.name, &candidate);
            let most = candidate.len().max(wanted.name.len()) / 3;
            (!candidate.is_empty() && distance <= most).then_some((distance, id))
        })
        .collect();
    near.sort_by_key(|(distance, _)| *distance);
    near.truncate(SUGGESTIONS);
    near.into_iter().map(|(_, id)| id.to_owned()).collect()
}

/// Lists the entries of the built-in list; one that ends in a slash stands for everything of a provider.
pub fn known() -> impl Iterator<Item = &'static str> {
    TABLE.iter().map(|entry| entry.id)
}

/// A name, split and spelt in one way.
struct Name {
    provider: Option<String>,
    name: String,
}

impl Name {
    fn new(text: &str) -> Self {
        // Makers write `4-5`, resellers write `4.5`.
        let folded = text.trim().to_lowercase().replace('.', "-");
        match folded.rsplit_once('/') {
            None => Self {
                provider: None,
                name: folded,
            },
            // A reseller's name may stand before the maker's.
            Some((before, name)) => Self {
                provider: before.rsplit('/').next().map(str::to_owned),
                name: name.to_owned(),
            },
        }
    }

    /// Returns how much of the name an entry covers; none when it is not meant.
    fn covered_by(&self, id: &str) -> Option<usize> {
        let entry = Self::new(id);
        if let (Some(wanted), Some(offered)) = (&self.provider, &entry.provider)
            && wanted != offered
        {
            return None;
        }
        if entry.name.is_empty() {
            // Everything of a provider: only when the provider was named.
            return self.provider.as_ref().map(|_| 0);
        }
        let rest = self.name.strip_prefix(&entry.name)?;
        is_an_ending(rest).then_some(entry.name.len())
    }
}

/// Tells whether this can follow the name of a model without meaning another one.
///
/// That is so for nothing, for a tag, for a date and for a word, but not for the number of a version.
fn is_an_ending(rest: &str) -> bool {
    let Some(after_dash) = rest.strip_prefix('-') else {
        return !rest.starts_with(|c: char| c.is_ascii_alphanumeric());
    };
    let digits = after_dash.bytes().take_while(u8::is_ascii_digit).count();
    !(1..=2).contains(&digits)
}

fn longest<'a, T>(
    entries: impl Iterator<Item = (&'a str, T)>,
    wanted: &Name,
) -> Option<(&'a str, T)> {
    entries
        .filter_map(|(id, value)| Some((wanted.covered_by(id)?, id, value)))
        .max_by_key(|(covered, _, _)| *covered)
        .map(|(_, id, value)| (id, value))
}

fn listed(name: &str, entry: Option<&'static Entry>) -> ModelFacts {
    let id = match entry {
        Some(entry) if !name.contains('/') => match entry.id.split_once('/') {
            Some((provider, _)) => format!("{provider}/{}", name.trim()),
            None => name.trim().to_owned(),
        },
        Some(_) | None => name.trim().to_owned(),
    };
    ModelFacts {
        id,
        listed_as: entry.map(|entry| entry.id),
        context_window: entry.and_then(|entry| entry.context_window),
        max_output: entry.and_then(|entry| entry.max_output),
        prices: entry.map(|entry| entry.prices),
        long_prompt: entry.and_then(|entry| entry.long_prompt),
        encoding: entry.and_then(|entry| entry.encoding),
        per_thousand: entry.map_or(1000, |entry| entry.per_thousand),
    }
}

fn overlay(model: &mut ModelFacts, settings: &ModelSettings) {
    model.context_window = settings.context_window.or(model.context_window);
    model.max_output = settings.max_output.or(model.max_output);
    match settings.tokenizer {
        Some(TokenizerSetting::None) => model.encoding = None,
        Some(TokenizerSetting::O200kBase) => model.encoding = Some(TokenEncoding::O200kBase),
        None => {}
    }
    let said = [
        settings.input_price,
        settings.output_price,
        settings.cache_write_price,
        settings.cache_read_price,
    ];
    if said.iter().all(Option::is_none) {
        return;
    }
    // Prices that the user names are what they pay; the list's surcharge for long prompts belongs to other prices.
    model.long_prompt = None;
    let listed = model.prices;
    let input = settings.input_price.or(listed.map(|prices| prices.input));
    let output = settings.output_price.or(listed.map(|prices| prices.output));
    // A context is paid as input; a model whose answers nobody priced still has a price.
    model.prices = input.map(|input| {
        let output = output.unwrap_or(input);
        let cached = |said: Option<Price>, listed: Option<Price>| said.or(listed).unwrap_or(input);
        ModelPrices {
            input,
            output,
            cache_write: cached(
                settings.cache_write_price,
                listed.map(|prices| prices.cache_write),
            ),
            cache_read: cached(
                settings.cache_read_price,
                listed.map(|prices| prices.cache_read),
            ),
        }
    });
}
