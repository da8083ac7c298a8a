import Anthropic from "@anthropic-ai/sdk";
import type OpenAI from "openai";
import { beforeAll, expect, test } from "vitest";
import { openaiClient } from "../../support/agent-chats.ts";
import { useRunsPlatform } from "../../support/runs-platform.ts";
import { inTurn } from "../../support/scripted-llm.ts";

const platform = useRunsPlatform();
const model = "agents/admin/helper";
let client: OpenAI;
let other: string;

beforeAll(async () => {
  client = openaiClient(platform.gantry, platform.gantry.adminKey);
  await platform.makeAgent({ name: "Helper", goal: "Answer {{input}}." });
  other = await platform.makeAgent({ name: "Other", goal: "Answer {{input}}." });
});

const user = (content: string) => ({ role: "user" as const, content });
const assistant = (content: string) => ({ role: "assistant" as const, content });
const runOf = (response: { id: string }) => platform.read(response.id.replace("resp", "run"));
/** The turns that the model was shown in its last request, as `question → answer`. */
const earlier = () => {
  const [, ...messages] = platform.llm.requests.at(-1)?.messages ?? [];
  const texts = messages.slice(0, -1).map(({ content }) => content?.replace("Earlier input:\n", ""));
  return texts.flatMap((text, n) => (n % 2 === 0 ? [`${text} → ${texts[n + 1]}`] : []));
};

test("a chat completion with metadata.thread_id continues the thread with its new messages", async () => {
  platform.llm.script = inTurn({ text: "Rome." }, { text: "Two." }, { text: "Yes." });
  const ask = (messages: OpenAI.ChatCompletionMessageParam[]) =>
    client.chat.completions.create({ model, messages, metadata: { thread_id: "chat-1" } }).withResponse();
  const instructions = { role: "system" as const, content: "Be short." };
  const conversation = [instructions, user("Capital?")];
  const first = await ask(conversation);
  expect(first.data.choices[0]?.message.content).toBe("Rome.");
  await ask([...conversation, assistant("Rome."), user("How many?")]);
  // Clients that do not keep the conversation send only their question.
  const image = { type: "image_url" as const, image_url: { url: "data:image/png;base64,iVBORw0KGgo=" } };
  const { response } = await ask([{ role: "user", content: [{ type: "text", text: "And this?" }, image] }]);
  expect(earlier()).toEqual(["Capital? → Rome.", "How many? → Two."]);
  const run = await platform.read(response.headers.get("x-gantry-run-id") ?? "");
  expect(run).toMatchObject({ thread_id: "chat-1", input: { input: "And this?" } });
  const { turns } = (await platform.gantry.call("GET", "/v1/threads/chat-1")).body;
  expect(turns[1].input).toEqual({ messages: [instructions, user("How many?")], input: "How many?" });
  await ask([user("Last?")]);
  expect(earlier().at(-1)).toBe("And this?\n[image] → Yes.");
});

test("metadata.thread_id is checked and bound to the agent; runs without it are not in a thread", async () => {
  const ask = (name: string, metadata?: Record<string, string>) =>
    client.chat.completions
      .create({ model: name, messages: [user("Hi")], ...(metadata && { metadata }) })
      .withResponse();
  await expect(ask(model, { thread_id: "not valid" })).rejects.toMatchObject({
    status: 400,
    param: "metadata.thread_id",
  });
  await ask(model, { thread_id: "chat-2" });
  await expect(ask("agents/admin/other", { thread_id: "chat-2" })).rejects.toMatchObject({ status: 409 });
  const { response } = await ask(model);
  expect((await platform.read(response.headers.get("x-gantry-run-id") ?? "")).thread_id).toBeUndefined();
});

test("a message with metadata.thread_id continues the thread", async () => {
  const anthropic = new Anthropic({ baseURL: platform.gantry.url, apiKey: platform.gantry.adminKey, maxRetries: 0 });
  platform.llm.script = inTurn({ text: "Rome." }, { text: "Two." });
  const metadata = { user_id: "u", thread_id: "messages-1" };
  const ask = (messages: Anthropic.MessageParam[]) =>
    anthropic.messages.stream({ model, max_tokens: 100, messages, metadata }).finalMessage();
  await ask([user("Capital?")]);
  expect(await ask([user("Capital?"), assistant("Rome."), user("How many?")])).toMatchObject({
    content: [{ text: "Two." }],
  });
  expect(earlier()).toEqual(["Capital? → Rome."]);
});

test("a response continues the thread of the one before; the chain is not replayed", async () => {
  platform.llm.script = inTurn({ text: "Rome." }, { text: "Two." }, { text: "Yes." });
  const first = await client.responses.create({ model, input: "Capital?" });
  const second = await client.responses
    .stream({ model, input: "How many?", previous_response_id: first.id })
    .finalResponse();
  const third = await client.responses.create({ model, input: "Sure?", previous_response_id: second.id });
  expect(third.output_text).toBe("Yes.");
  expect(earlier()).toEqual(["Capital? → Rome.", "How many? → Two."]);
  const runs = await Promise.all([first, second, third].map(runOf));
  expect(new Set(runs.map(({ thread_id }) => thread_id)).size).toBe(1);
  expect(runs[0]?.thread_id).toMatch(/^thr_/);
  expect(runs[2]?.input).toEqual({ messages: [user("Sure?")], input: "Sure?" });
  // A response that asks for nothing to be stored is not continued, but continues.
  const unstored = await client.responses.create({ model, input: "Bye", previous_response_id: third.id, store: false });
  expect(await runOf(unstored)).not.toHaveProperty("thread_id");
  expect((await runOf(unstored)).input.messages).toHaveLength(7);
});

test("a response that others follow, or of another agent, is continued in a thread of its own", async () => {
  platform.llm.script = ({ messages }) => ({ text: `to ${/Answer (.*)\./.exec(messages.at(-1)?.content ?? "")?.[1]}` });
  const first = await client.responses.create({ model, input: "1" });
  const [left, right] = await Promise.all(
    ["2a", "2b"].map((input) => client.responses.create({ model, input, previous_response_id: first.id })),
  );
  const ends = await Promise.all([left, right].map((one) => runOf(one as { id: string })));
  expect(new Set(ends.map(({ thread_id }) => thread_id)).size).toBe(2);
  const alone = ends.find(({ input }) => input.messages.length > 1);
  expect(alone.input.messages.slice(0, 2)).toEqual([user("1"), assistant("to 1")]);
  expect(alone.input.messages).toHaveLength(3);

  const elsewhere = await client.responses.create({
    model: "agents/admin/other",
    input: "3",
    previous_response_id: left?.id ?? "",
  });
  const run = await runOf(elsewhere);
  expect(run).toMatchObject({ agent_id: other });
  expect(run.input.messages.map(({ content }: { content: string }) => content).slice(-3)).toEqual(["2a", "to 2a", "3"]);
  expect(ends.map(({ thread_id }) => thread_id)).not.toContain(run.thread_id);
});

test("an unknown or deleted response is 404; one of a deleted thread too", async () => {
  const unknown = client.responses.create({ model, input: "1", previous_response_id: "resp_unknown" });
  await expect(unknown).rejects.toMatchObject({ status: 404, param: "previous_response_id" });
  const without = client.responses.create({ model, input: "1", previous_response_id: "resp_unknown", store: false });
  await expect(without).rejects.toMatchObject({ status: 404, param: "previous_response_id" });
  const first = await client.responses.create({ model, input: "1" });
  const { thread_id } = await runOf(first);
  const gone = await platform.gantry.call("DELETE", `/v1/threads/${thread_id}`);
  expect(gone.status, gone.text).toBe(204);
  await expect(client.responses.retrieve(first.id)).rejects.toMatchObject({ status: 404 });
  const after = client.responses.create({ model, input: "2", previous_response_id: first.id });
  await expect(after).rejects.toMatchObject({ status: 404, param: "previous_response_id" });
});

test("repeats of a response under one key at the same time leave one thread with one run", async () => {
  const options = { headers: { "idempotency-key": "same" } };
  const made = await Promise.all([1, 2, 3].map(() => client.responses.create({ model, input: "once" }, options)));
  expect(new Set(made.map(({ id }) => id)).size).toBe(1);
  const { total, threads } = (await platform.gantry.call("GET", "/v1/threads?limit=100")).body;
  expect(threads).toHaveLength(total);
  expect(threads.filter(({ title }: { title: string }) => title === "once")).toMatchObject([{ runs: 1 }]);
});
