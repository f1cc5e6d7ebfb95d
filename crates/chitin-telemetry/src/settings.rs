//! Where spans go, by the variables that every program with OpenTelemetry knows.

use secrecy::SecretString;

/// The address of the collector; `/v1/traces` is put behind it.
const ENDPOINT: &str = "OTEL_EXPORTER_OTLP_ENDPOINT";
/// The address for spans alone, as it is.
const TRACES_ENDPOINT: &str = "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT";
/// Headers, as `name=value,name=value`.
const HEADERS: &str = "OTEL_EXPORTER_OTLP_HEADERS";
/// What the program is called there.
const SERVICE: &str = "OTEL_SERVICE_NAME";
/// Switches everything off.
const DISABLED: &str = "OTEL_SDK_DISABLED";
/// What it is called when nobody says.
const USUAL_SERVICE: &str = "chitin";
/// The most headers.
const MOST_HEADERS: usize = 32;

/// Where spans go.
#[derive(Debug, Clone)]
pub struct TelemetrySettings {
    /// The address that they are posted to.
    pub url: String,
    /// Headers, which are kept like keys.
    pub headers: Vec<(String, SecretString)>,
    /// What this program is called there.
    pub service: String,
}

/// Why spans go nowhere.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SettingError {
    /// The address is none.
    #[error("`{0}` must be an address that begins with `http://` or `https://`")]
    BadEndpoint(&'static str),
    /// The headers are not pairs.
    #[error("`{HEADERS}` must be `name=value`, with commas between them")]
    BadHeaders,
}

impl TelemetrySettings {
    /// Reads the variables; nothing when none names a collector.
    ///
    /// # Errors
    ///
    /// When a variable cannot be understood.
    pub fn read(lookup: impl Fn(&str) -> Option<String>) -> Result<Option<Self>, SettingError> {
        let filled = |name| lookup(name).filter(|text| !text.trim().is_empty());
        if filled(DISABLED).is_some_and(|text| text.trim().eq_ignore_ascii_case("true")) {
            return Ok(None);
        }
        let (url, named_by) = match (filled(TRACES_ENDPOINT), filled(ENDPOINT)) {
            (Some(url), _) => (url.trim().to_owned(), TRACES_ENDPOINT),
            (None, Some(base)) => {
                let base = base.trim().trim_end_matches('/');
                (format!("{base}/v1/traces"), ENDPOINT)
            }
            (None, None) => return Ok(None),
        };
        if !url.starts_with("http://") && !url.starts_with("https://") {
            return Err(SettingError::BadEndpoint(named_by));
        }
        Ok(Some(Self {
            url,
            headers: headers(&filled(HEADERS).unwrap_or_default())?,
            service: filled(SERVICE).unwrap_or_else(|| USUAL_SERVICE.to_owned()),
        }))
    }
}

fn headers(text: &str) -> Result<Vec<(String, SecretString)>, SettingError> {
    let pairs = text.split(',').filter(|pair| !pair.trim().is_empty());
    let pairs = pairs.take(MOST_HEADERS).map(|pair| {
        let (name, value) = pair.split_once('=').ok_or(SettingError::BadHeaders)?;
        let name = name.trim().to_lowercase();
        if name.is_empty() {
            return Err(SettingError::BadHeaders);
        }
        Ok((name, SecretString::from(value.trim())))
    });
    pairs.collect()
}
