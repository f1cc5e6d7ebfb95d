//! Numbers as Prometheus reads them: its text format, version 0.0.4.

use super::{CODES, Metrics, ROUTES, SECONDS, STATUSES, read};
use crate::api::accounts;
use crate::body::Body;
use crate::shared::Shared;
use bytes::Bytes;
use chitin_gateway::surface::Connection;
use hyper::Response;
use hyper::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderValue};
use std::fmt::Write as _;
use std::sync::PoisonError;
use std::sync::atomic::Ordering;

/// Answers with all numbers.
pub(crate) fn answer(shared: &Shared) -> Response<Body> {
    let mut response = Response::new(Body::whole(Bytes::from(text(shared))));
    let headers = response.headers_mut();
    let kind = HeaderValue::from_static("text/plain; version=0.0.4; charset=utf-8");
    headers.insert(CONTENT_TYPE, kind);
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

/// A page of numbers on its way.
#[derive(Default)]
struct Sheet(String);

impl Sheet {
    fn family(&mut self, name: &str, kind: &str, help: &str) {
        let _ = writeln!(self.0, "# HELP {name} {help}\n# TYPE {name} {kind}");
    }

    fn sample(&mut self, name: &str, labels: &[(&str, &str)], value: impl std::fmt::Display) {
        self.0 += name;
        for (at, (label, value)) in labels.iter().enumerate() {
            self.0 += if at == 0 { "{" } else { "," };
            let value = value.replace('\\', "\\\\").replace('"', "\\\"");
            let _ = write!(self.0, "{label}=\"{}\"", value.replace('\n', "\\n"));
        }
        if !labels.is_empty() {
            self.0 += "}";
        }
        let _ = writeln!(self.0, " {value}");
    }

    fn one(&mut self, name: &str, kind: &str, help: &str, value: impl std::fmt::Display) {
        self.family(name, kind, help);
        self.sample(name, &[], value);
    }
}

fn text(shared: &Shared) -> String {
    let metrics = &shared.metrics;
    let mut sheet = Sheet::default();
    sheet.family("chitin_build_info", "gauge", "What runs.");
    let contract = shared.gateway.parts().contract.name;
    let build = [
        ("version", env!("CARGO_PKG_VERSION")),
        ("contract", contract),
    ];
    sheet.sample("chitin_build_info", &build, 1);
    let uptime = shared.began.elapsed().as_secs_f64();
    sheet.one(
        "chitin_uptime_seconds",
        "gauge",
        "How long it has run.",
        uptime,
    );
    standing(shared, &mut sheet);
    jobs(metrics, &mut sheet);
    failures(shared, &mut sheet);
    turns(metrics, &mut sheet);
    let name = "chitin_deliveries_total";
    sheet.family(name, "counter", "Messages that went out, or did not.");
    let deliveries = metrics
        .deliveries
        .lock()
        .unwrap_or_else(PoisonError::into_inner);
    for ((channel, outcome), count) in &*deliveries {
        sheet.sample(name, &[("channel", channel), ("outcome", outcome)], count);
    }
    drop(deliveries);
    let name = "chitin_http_requests_total";
    sheet.family(name, "counter", "Requests, by endpoint and status.");
    for (at, counter) in metrics.requests.iter().enumerate() {
        let (route, code) = (at / (CODES.len() + 1), at % (CODES.len() + 1));
        let count = read(counter);
        if count > 0 {
            let code = CODES
                .get(code)
                .map_or_else(|| "other".to_owned(), u16::to_string);
            sheet.sample(name, &[("route", ROUTES[route]), ("code", &code)], count);
        }
    }
    networks(shared, &mut sheet);
    job_log(shared, &mut sheet);
    disk(shared, &mut sheet);
    if let Some(bytes) = shared.attached.memory.and_then(|memory| memory()) {
        let help = "Memory that the process has.";
        sheet.one("process_resident_memory_bytes", "gauge", help, bytes);
    }
    sheet.0
}

/// What is so right now.
fn standing(shared: &Shared, sheet: &mut Sheet) {
    let busy = shared.gateway.busy();
    let running = busy
        .iter()
        .filter(|session| session.job_id.is_some())
        .count();
    let waiting: usize = busy.iter().map(|session| session.waiting).sum();
    let connections = shared.connections.load(Ordering::Relaxed);
    let figures = shared.gateway.figures();
    for (name, help, value) in [
        (
            "chitin_sessions_busy",
            "Sessions that have something to do.",
            busy.len(),
        ),
        ("chitin_jobs_running", "Jobs whose turns run.", running),
        ("chitin_jobs_waiting", "Jobs that wait.", waiting),
        ("chitin_jobs_open", "Jobs that are open.", figures.open),
        (
            "chitin_jobs_delayed",
            "Jobs that wait for the end of an outage.",
            figures.delayed,
        ),
        (
            "chitin_connections",
            "Connections that are open.",
            connections,
        ),
        (
            "chitin_streams",
            "Streams, sockets and waiting requests that are open.",
            shared.open_streams(),
        ),
    ] {
        sheet.one(name, "gauge", help, value);
    }
}

fn failures(shared: &Shared, sheet: &mut Sheet) {
    let figures = shared.gateway.figures();
    let name = "chitin_failures_total";
    let help = "Attempts that failed by the machine's or the model's fault.";
    sheet.family(name, "counter", help);
    sheet.sample(name, &[("fault", "machine")], figures.machine_failures);
    sheet.sample(name, &[("fault", "model")], figures.model_failures);
}

fn jobs(metrics: &Metrics, sheet: &mut Sheet) {
    for (name, help, counter) in [
        (
            "chitin_jobs_accepted_total",
            "Jobs that were taken in.",
            &metrics.accepted,
        ),
        (
            "chitin_jobs_dropped_total",
            "Jobs that were let go.",
            &metrics.dropped,
        ),
        (
            "chitin_jobs_spawned_total",
            "Runs that sessions began.",
            &metrics.spawned,
        ),
        (
            "chitin_happenings_missed_total",
            "What these numbers missed.",
            &metrics.missed,
        ),
    ] {
        sheet.one(name, "counter", help, read(counter));
    }
    let name = "chitin_jobs_finished_total";
    sheet.family(name, "counter", "Jobs that are over, by how they ended.");
    for ((_, status), counter) in STATUSES.iter().zip(&metrics.finished) {
        sheet.sample(name, &[("status", status)], read(counter));
    }
}

fn turns(metrics: &Metrics, sheet: &mut Sheet) {
    let name = "chitin_turn_seconds";
    sheet.family(name, "histogram", "How long turns took.");
    let mut sum = 0;
    for (counter, bound) in metrics.turns.iter().zip(SECONDS) {
        sum += read(counter);
        let bound = bound.to_string();
        sheet.sample("chitin_turn_seconds_bucket", &[("le", &bound)], sum);
    }
    sum += read(&metrics.turns[SECONDS.len()]);
    sheet.sample("chitin_turn_seconds_bucket", &[("le", "+Inf")], sum);
    let ms = read(&metrics.turn_ms);
    let seconds = format!("{}.{:03}", ms / 1000, ms % 1000);
    sheet.sample("chitin_turn_seconds_sum", &[], seconds);
    sheet.sample("chitin_turn_seconds_count", &[], sum);
    let name = "chitin_tokens_total";
    sheet.family(name, "counter", "Tokens that models took and gave.");
    sheet.sample(name, &[("direction", "input")], read(&metrics.input_tokens));
    sheet.sample(
        name,
        &[("direction", "output")],
        read(&metrics.output_tokens),
    );
}

fn networks(shared: &Shared, sheet: &mut Sheet) {
    let name = "chitin_channel_connected";
    sheet.family(name, "gauge", "Whether an account is connected.");
    for account in accounts(shared) {
        let connected = u8::from(account.connection == Connection::Connected);
        let labels = [
            ("channel", account.channel.as_str()),
            ("account", &account.account_id),
        ];
        sheet.sample(name, &labels, connected);
    }
    let count = shared.gateway.trust().turned_away_count();
    let help = "Messages of people who are not known.";
    sheet.one("chitin_messages_turned_away_total", "counter", help, count);
}

fn disk(shared: &Shared, sheet: &mut Sheet) {
    let found = shared.gateway.space();
    if let Some(disk) = found.disk {
        let help = "Bytes that are free on the disk of Chitin's home.";
        sheet.one("chitin_disk_free_bytes", "gauge", help, disk.free);
    }
    for (name, help, value) in [
        (
            "chitin_disk_records",
            "Whether the disk has room for recordings of turns.",
            found.has_room_for_recordings(),
        ),
        (
            "chitin_disk_accepts",
            "Whether the disk has room for new messages.",
            found.has_room_for_messages(),
        ),
    ] {
        sheet.one(name, "gauge", help, u8::from(value));
    }
}

fn job_log(shared: &Shared, sheet: &mut Sheet) {
    let log = &shared.gateway.parts().ledger;
    let health = log.health();
    for (name, help, value) in [
        (
            "chitin_job_log_writable",
            "Whether the job log can be written.",
            u64::from(health.failing.is_none()),
        ),
        (
            "chitin_job_log_damaged",
            "Whether the job log was damaged on start.",
            u64::from(health.damage.is_some()),
        ),
        (
            "chitin_job_log_open_bytes",
            "Size of the open jobs in the job log.",
            log.open_bytes(),
        ),
    ] {
        sheet.one(name, "gauge", help, value);
    }
    for (name, help, value) in [
        (
            "chitin_job_log_failed_writes_total",
            "Writes of the job log that failed.",
            health.failed_writes,
        ),
        (
            "chitin_job_log_failed_rewrites_total",
            "Times that the job log could not be shortened.",
            health.failed_rewrites,
        ),
        (
            "chitin_job_log_recreated_total",
            "Times that the job log was gone and was made again.",
            health.recreated,
        ),
        (
            "chitin_job_log_torn_lines_total",
            "Lines found on start whose write was interrupted; nobody was told that they were stored.",
            health.torn,
        ),
    ] {
        sheet.one(name, "counter", help, value);
    }
}
