/** The chunks of a streamed answer, framed for HTTP. */
export interface TokenDialect {
  first: string;
  token(text: string): string;
  last: string;
}

function chunkOf(text: string): string {
  return `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`;
}

const end = "0\r\n\r\n";

function openai(tokens: number): TokenDialect {
  const common = `"id":"chatcmpl-9XbQ2hVbN3yT5sKd0wLmE1aR","object":"chat.completion.chunk","created":1760000000,"model":"mock-1","system_fingerprint":"fp_44709d6fcb"`;
  const data = (text: string) => chunkOf(`data: ${text}\n\n`);
  const choice = (delta: string, reason: string) =>
    data(`{${common},"choices":[{"index":0,"delta":${delta},"logprobs":null,"finish_reason":${reason}}]}`);
  const usage = `"usage":{"prompt_tokens":12,"completion_tokens":${tokens},"total_tokens":${12 + tokens}}`;
  return {
    first: choice(`{"role":"assistant","content":""}`, "null"),
    token: (text) => choice(`{"content":"${text}"}`, "null"),
    last: choice("{}", `"stop"`) + data(`{${common},"choices":[],${usage}}`) + data("[DONE]") + end,
  };
}

function anthropic(tokens: number): TokenDialect {
  const event = (type: string, fields: string) => chunkOf(`event: ${type}\ndata: {"type":"${type}",${fields}}\n\n`);
  const message = `"message":{"id":"msg_01XbQ2hVbN3yT5sKd0wLmE1a","type":"message","role":"assistant","model":"mock-1","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":12,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":1}}`;
  return {
    first:
      event("message_start", message) +
      event("content_block_start", `"index":0,"content_block":{"type":"text","text":""}`),
    token: (text) => event("content_block_delta", `"index":0,"delta":{"type":"text_delta","text":"${text}"}`),
    last:
      event("content_block_stop", `"index":0`) +
      event(
        "message_delta",
        `"delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"output_tokens":${tokens}}`,
      ) +
      chunkOf(`event: message_stop\ndata: {"type":"message_stop"}\n\n`) +
      end,
  };
}

export const tokenDialects = { openai, anthropic };
