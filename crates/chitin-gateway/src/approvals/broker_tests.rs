//! What holds for the questions of a gateway, whoever asks and answers.

use super::*;
use std::time::Duration;

fn broker() -> Broker {
    Broker::new(ApprovalOptions {
        timeout: Duration::from_mins(10),
        redact: Arc::new(str::to_owned),
    })
}

fn question(id: &str, session: &str) -> PendingApproval {
    PendingApproval {
        id: id.to_owned(),
        agent_id: "main".to_owned(),
        session_key: session.to_owned(),
        job_id: "job".to_owned(),
        tool: "exec".to_owned(),
        what: "make".to_owned(),
        why: String::new(),
        diff: None,
        diff_truncated: false,
        pattern: Some("make *".to_owned()),
        exact: false,
        asked_at: 0,
        expires_at: 600_000,
    }
}

fn answer(broker: &Broker, id: &str, answer: ApprovalAnswer) -> Result<(), AnswerError> {
    let why = Some("because".to_owned());
    let answered = broker.answer(id, answer, why, AnsweredBy::Token, 7);
    answered.map(|_| ())
}

#[test]
fn the_first_answer_reaches_whoever_waits_and_the_second_hears_of_it() {
    let broker = broker();
    let (_, mut waiting) = broker.add(question("a", "s")).unwrap();
    answer(&broker, "a", ApprovalAnswer::No).unwrap();
    assert_eq!(
        waiting.try_recv().unwrap(),
        Approval::Denied(Some("because".to_owned()))
    );
    let first = ResolvedApproval {
        id: "a".to_owned(),
        outcome: ApprovalOutcome::No,
        why: Some("because".to_owned()),
        by: Some(AnsweredBy::Token),
        at: 7,
    };
    assert_eq!(
        answer(&broker, "a", ApprovalAnswer::Once),
        Err(AnswerError::AnsweredBefore(first))
    );
    assert_eq!(
        answer(&broker, "b", ApprovalAnswer::Once),
        Err(AnswerError::Unknown)
    );
}

#[test]
fn a_question_that_is_over_takes_no_answer() {
    let broker = broker();
    let (_, waiting) = broker.add(question("a", "s")).unwrap();
    assert!(broker.end("a", ApprovalOutcome::Expired, 9).is_some());
    assert!(broker.end("a", ApprovalOutcome::Withdrawn, 9).is_none());
    let late = answer(&broker, "a", ApprovalAnswer::Once);
    assert!(matches!(late, Err(AnswerError::Over(_))), "{late:?}");
    drop(waiting);

    let (_, waiting) = broker.add(question("b", "s")).unwrap();
    drop(waiting);
    let unheard = answer(&broker, "b", ApprovalAnswer::Always);
    assert!(
        matches!(&unheard, Err(AnswerError::Over(over)) if over.outcome == ApprovalOutcome::Withdrawn),
        "{unheard:?}"
    );
}

#[test]
fn what_has_no_pattern_is_allowed_once_or_not_at_all() {
    let broker = broker();
    let mut asked = question("a", "s");
    asked.pattern = None;
    let (_, mut waiting) = broker.add(asked).unwrap();
    for lasting in [ApprovalAnswer::Session, ApprovalAnswer::Always] {
        assert_eq!(answer(&broker, "a", lasting), Err(AnswerError::OnlyOnce));
    }
    answer(&broker, "a", ApprovalAnswer::Once).unwrap();
    assert_eq!(waiting.try_recv().unwrap(), Approval::Once);
}

#[test]
fn questions_have_a_bound_in_a_session_and_in_all() {
    let broker = broker();
    let mut waiting = Vec::new();
    for number in 0..MOST_OF_SESSION {
        waiting.push(broker.add(question(&format!("s{number}"), "s")).unwrap());
    }
    assert!(broker.add(question("more", "s")).is_err());
    for number in MOST_OF_SESSION..MOST {
        let name = format!("t{number}");
        waiting.push(broker.add(question(&name, &name)).unwrap());
    }
    assert!(broker.add(question("more", "other")).is_err());
    answer(&broker, "s0", ApprovalAnswer::Once).unwrap();
    assert!(broker.add(question("more", "other")).is_ok());
    assert_eq!(broker.pending().len(), MOST);
}
