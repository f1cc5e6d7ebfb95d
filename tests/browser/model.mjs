// A model over a real socket, in the wire format of Anthropic. A test says what it answers, and when each word comes.

import { createServer } from "node:http";

/** A promise that a test keeps when it is time. */
export function gate() {
  let open;
  const opened = new Promise((resolve) => {
    open = resolve;
  });
  return { open, opened };
}

/**
 * Starts a model. Each rule is `{ when, reply }`: it answers requests whose last message holds `when`. A reply has `thinking`,
 * `text` (a text, or a list of texts and gates) and `calls` (`{ name, input }`).
 */
export async function startModel(rules) {
  let calls = 0;
  const requests = [];
  const server = createServer(async (request, response) => {
    const parts = [];
    for await (const part of request) parts.push(part);
    const body = JSON.parse(Buffer.concat(parts).toString("utf8"));
    requests.push(body);
    const last = JSON.stringify(body.messages.at(-1));
    const reply = rules.find((rule) => last.includes(rule.when))?.reply ?? { text: "I have nothing to say to that." };
    response.writeHead(200, { "content-type": "text/event-stream" });
    const send = (type, more) => response.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...more })}\n\n`);
    const usage = { input_tokens: 4000, output_tokens: 1, cache_read_input_tokens: 0, cache_creation_input_tokens: 0 };
    send("message_start", { message: { id: `msg_${requests.length}`, type: "message", role: "assistant", model: body.model, content: [], usage } });
    let index = 0;
    const block = async (begin, deltas) => {
      send("content_block_start", { index, content_block: begin });
      for (const delta of deltas) {
        if (delta?.opened) await delta.opened;
        else send("content_block_delta", { index, delta });
      }
      send("content_block_stop", { index });
      index += 1;
    };
    if (reply.thinking) await block({ type: "thinking", thinking: "", signature: "" }, [{ type: "thinking_delta", thinking: reply.thinking }, { type: "signature_delta", signature: "c2ln" }]);
    const texts = [reply.text ?? []].flat();
    if (texts.length) await block({ type: "text", text: "" }, texts.map((text) => (typeof text === "string" ? { type: "text_delta", text } : text)));
    for (const call of reply.calls ?? []) {
      calls += 1;
      await block({ type: "tool_use", id: `toolu_${calls}`, name: call.name, input: {} }, [{ type: "input_json_delta", partial_json: JSON.stringify(call.input) }]);
    }
    send("message_delta", { delta: { stop_reason: reply.calls ? "tool_use" : "end_turn" }, usage: { output_tokens: 25 } });
    send("message_stop", {});
    response.end();
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    requests,
    stop: () => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(resolve));
    },
  };
}
