import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";

interface HalfSent {
  /** Sends the other half. */
  finish(): Promise<{ status: number; text: string }>;
}

/** Resolves when the server reads the body, so has checked the head, and has got half of the body. */
export async function sendHalf(
  method: string,
  url: string,
  body: object,
  headers: Record<string, string> = {},
): Promise<HalfSent> {
  const text = JSON.stringify(body);
  const middle = Math.floor(text.length / 2);
  const sending = request(url, {
    method,
    headers: {
      "content-type": "application/json",
      "content-length": Buffer.byteLength(text),
      expect: "100-continue",
      ...headers,
    },
  });
  const answer = once(sending, "response") as Promise<[IncomingMessage]>;
  sending.flushHeaders();
  await once(sending, "continue");
  sending.write(text.slice(0, middle));
  return {
    async finish() {
      sending.end(text.slice(middle));
      const [response] = await answer;
      const chunks = await response.setEncoding("utf8").toArray();
      return { status: response.statusCode ?? 0, text: chunks.join("") };
    },
  };
}
