"""Talks to a server of ours with OpenAI's own client. Nothing is changed but the address and the key."""

import sys

import openai


def main(base_url: str, key: str) -> None:
    client = openai.OpenAI(base_url=base_url, api_key=key)

    models = [model.id for model in client.models.list()]
    assert models[0] == "chitin", models
    assert "chitin/main" in models, models
    assert client.models.retrieve("chitin/main").owned_by == "chitin"

    answer = client.chat.completions.create(
        model="chitin", messages=[{"role": "user", "content": "What is on the board?"}]
    )
    assert answer.choices[0].message.content == "Five larch, two oak.", answer
    assert answer.choices[0].finish_reason == "stop"
    assert answer.usage.total_tokens == answer.usage.prompt_tokens + answer.usage.completion_tokens > 0

    stream = client.chat.completions.create(
        model="chitin/main",
        messages=[{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Say it piece by piece."}],
        stream=True,
        stream_options={"include_usage": True},
    )
    text, finish, usage = "", None, None
    for piece in stream:
        usage = piece.usage or usage
        for choice in piece.choices:
            text += choice.delta.content or ""
            finish = choice.finish_reason or finish
    assert text == "Larch first, then oak, then the rest of the list.", text
    assert finish == "stop"
    assert usage.total_tokens > 0

    with client.chat.completions.stream(
        model="chitin", user="ada", messages=[{"role": "user", "content": "Remember the harbour."}]
    ) as events:
        final = events.get_final_completion()
    assert final.choices[0].message.content == "I will.", final
    answer = client.chat.completions.create(
        model="chitin", user="ada", messages=[{"role": "user", "content": "What did I ask you to remember?"}]
    )
    assert answer.choices[0].message.content == "The harbour.", answer

    def fails(kind: type, code: str, client: openai.OpenAI = client, **asked: object) -> None:
        request = {"model": "chitin", "messages": [{"role": "user", "content": "Hi"}], **asked}
        try:
            client.chat.completions.create(**request)
        except kind as error:
            assert error.code == code, error
            return
        raise AssertionError(f"no {kind.__name__}")

    fails(openai.NotFoundError, "model_not_found", model="gpt-4")
    fails(openai.BadRequestError, "unsupported_parameter", n=2)
    fails(openai.BadRequestError, "bad_request", messages=[])
    fails(openai.InternalServerError, "turn_failed", messages=[{"role": "user", "content": "Fail, please."}])
    fails(
        openai.AuthenticationError,
        "unauthorized",
        client=openai.OpenAI(base_url=base_url, api_key="sk-wrong", max_retries=0),
    )
    print(f"openai {openai.__version__}: models, answers, streams, sessions and errors are as the client expects them")


main(*sys.argv[1:])
