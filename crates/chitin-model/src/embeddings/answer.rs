//! The vectors in an answer, checked.

use super::EmbeddingApi;
use serde::Deserialize;

/// No model has longer vectors.
const MOST_NUMBERS: usize = 1 << 14;

/// As OpenAI answers.
#[derive(Deserialize)]
struct Openai {
    data: Vec<Item>,
}

#[derive(Deserialize)]
struct Item {
    index: Option<usize>,
    embedding: Vec<f32>,
}

/// As Ollama answers.
#[derive(Deserialize)]
struct Ollama {
    embeddings: Vec<Vec<f32>>,
}

/// Reads the vectors of an answer, in the order of the texts, each of length 1. Says what is wrong with it otherwise.
pub(super) fn read(
    api: EmbeddingApi,
    body: &[u8],
    texts: usize,
    dimensions: Option<usize>,
) -> Result<Vec<Vec<f32>>, String> {
    let mut vectors = match api {
        EmbeddingApi::Openai => {
            let answer: Openai = parse(body)?;
            in_order(answer.data, texts)?
        }
        EmbeddingApi::Ollama => parse::<Ollama>(body)?.embeddings,
    };
    if vectors.len() != texts {
        return Err(format!("{} vectors for {texts} texts", vectors.len()));
    }
    let expected = dimensions.or_else(|| vectors.first().map(Vec::len));
    for vector in &mut vectors {
        if vector.is_empty() || vector.len() > MOST_NUMBERS || Some(vector.len()) != expected {
            return Err(format!(
                "a vector of {} numbers where {} are expected",
                vector.len(),
                expected.unwrap_or_default()
            ));
        }
        normalise(vector)?;
    }
    Ok(vectors)
}

fn parse<'b, T: Deserialize<'b>>(body: &'b [u8]) -> Result<T, String> {
    serde_json::from_slice(body).map_err(|error| error.to_string())
}

/// Puts vectors where their numbers say; servers that give none give them in order.
fn in_order(items: Vec<Item>, texts: usize) -> Result<Vec<Vec<f32>>, String> {
    if items.len() != texts {
        return Err(format!("{} vectors for {texts} texts", items.len()));
    }
    let mut places = vec![None; texts];
    for (at, item) in items.into_iter().enumerate() {
        let index = item.index.unwrap_or(at);
        match places.get_mut(index) {
            Some(place @ None) => *place = Some(item.embedding),
            Some(Some(_)) => return Err(format!("two vectors for text {index}")),
            None => return Err(format!("a vector for text {index}, and there are {texts}")),
        }
    }
    Ok(places.into_iter().flatten().collect())
}

/// Makes a vector's length 1. Zeros stay zeros.
fn normalise(vector: &mut [f32]) -> Result<(), String> {
    let square: f64 = vector.iter().map(|n| f64::from(*n).powi(2)).sum();
    if !square.is_finite() {
        return Err("a vector with a number that is none".to_owned());
    }
    if square > 0.0 {
        let length = square.sqrt();
        for number in vector {
            #[expect(
                clippy::cast_possible_truncation,
                reason = "it is between -1 and 1, and kept in single precision"
            )]
            let shorter = (f64::from(*number) / length) as f32;
            *number = shorter;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn openai(body: &str, texts: usize) -> Result<Vec<Vec<f32>>, String> {
        read(EmbeddingApi::Openai, body.as_bytes(), texts, None)
    }

    #[test]
    fn vectors_are_put_in_the_order_of_the_texts_and_made_as_long_as_one() {
        let body = r#"{"data":[{"index":1,"embedding":[0,2]},{"index":0,"embedding":[3,4]}]}"#;
        assert_eq!(openai(body, 2).unwrap(), [[0.6, 0.8], [0.0, 1.0]]);
        let unnumbered = r#"{"data":[{"embedding":[1,0]},{"embedding":[0,0]}],"usage":null}"#;
        assert_eq!(openai(unnumbered, 2).unwrap(), [[1.0, 0.0], [0.0, 0.0]]);
    }

    #[test]
    fn answers_that_do_not_fit_the_texts_are_refused_with_a_reason() {
        for (body, reason) in [
            (
                r#"{"data":[{"index":0,"embedding":[1]}]}"#,
                "1 vectors for 2 texts",
            ),
            (
                r#"{"data":[{"index":0,"embedding":[1]},{"index":0,"embedding":[1]}]}"#,
                "two vectors for text 0",
            ),
            (
                r#"{"data":[{"index":0,"embedding":[1]},{"index":7,"embedding":[1]}]}"#,
                "text 7",
            ),
            (
                r#"{"data":[{"index":0,"embedding":[1,2]},{"index":1,"embedding":[1]}]}"#,
                "1 numbers where 2",
            ),
            (
                r#"{"data":[{"index":0,"embedding":[]},{"index":1,"embedding":[]}]}"#,
                "0 numbers",
            ),
            (
                r#"{"data":[{"index":0,"embedding":[1e300]},{"index":1,"embedding":[1]}]}"#,
                "out of range",
            ),
            (
                r#"{"data":[{"index":0,"embedding":[NaN]}]}"#,
                "expected value",
            ),
            (r#"{"data":[{"index":0,"embedding":[null]}]}"#, "null"),
            (r#"{"data":[{"index":0,"embedding":[1"#, "EOF"),
            ("{}", "data"),
        ] {
            let said = openai(body, 2).unwrap_err();
            assert!(said.contains(reason), "{body}: {said}");
        }
    }

    proptest! {
        #[test]
        fn no_answer_makes_it_panic(body in "(\\PC|[\\[\\]{}:,0-9]|\"data\"|\"embedding\"|\"embeddings\"|\"index\"){0,40}", texts in 0_usize..3) {
            for api in [EmbeddingApi::Openai, EmbeddingApi::Ollama] {
                if let Ok(vectors) = read(api, body.as_bytes(), texts, None) {
                    prop_assert_eq!(vectors.len(), texts);
                }
            }
        }
    }
}
