import { expect, test } from "vitest";
import { answering, type Behaviour, refusing } from "../../../src/engines/models/test-upstreams/text-upstream.ts";
import { useDoorsPlatform } from "../../support/doors-platform.ts";

/** Refusals of one client's request must not change the requests of others. */
const platform = useDoorsPlatform();
const question = [{ role: "user", content: "Say hello." }];
const answered = answering({ text: ["Hello."], usage: { input: 9, output: 500 } });

function ask(name: string, key: string, body: object) {
  const json = { model: `admin/${name}`, messages: question, ...body };
  return platform.gantry.call("POST", "/v1/chat/completions", { json, key });
}

function refusingIf(isRefused: (body: Record<string, unknown>) => boolean, status: number, told: string): Behaviour {
  return (exchange) => (isRefused(exchange.body) ? refusing(status, told) : answered)(exchange);
}

test("stream options of one client do not switch off reports of usage for another", async () => {
  const { gantry, native } = platform;
  const [one, other] = [await gantry.newUser("options"), await gantry.newUser("plain")];
  await platform.makeModel("options", "native");
  const isOdd = ({ stream_options }: Record<string, unknown>) => "foo" in ((stream_options as object) ?? {});
  native.play(refusingIf(isOdd, 400, "Unknown parameter: 'stream_options.foo'."));
  const refused = await ask("options", one, { stream: true, stream_options: { foo: 1 } });
  expect([refused.status, refused.body.error.message]).toEqual([400, expect.stringContaining("stream_options.foo")]);
  expect((await ask("options", other, { stream: true })).status).toBe(200);
  expect(native.requests.at(-1)?.body.stream_options).toEqual({ include_usage: true });
  const [row] = (await gantry.call("GET", "/api/v2/usage", { key: other })).body.results;
  expect(row).toMatchObject({ input_tokens: 9, output_tokens: 500 });
});

test("clients with either name of the limit reach a server that knows only the older one", async () => {
  const { gantry, native } = platform;
  const [one, other] = [await gantry.newUser("newer"), await gantry.newUser("older")];
  await platform.makeModel("limits", "native");
  const refused = { type: "extra_forbidden", loc: ["body", "max_completion_tokens"] };
  native.play(refusingIf((body) => "max_completion_tokens" in body, 422, JSON.stringify(refused)));
  expect((await ask("limits", one, { max_completion_tokens: 5 })).status).toBe(200);
  expect((await ask("limits", other, { max_tokens: 6 })).status).toBe(200);
  expect(native.requests.at(-1)?.body).toMatchObject({ max_tokens: 6 });
});
