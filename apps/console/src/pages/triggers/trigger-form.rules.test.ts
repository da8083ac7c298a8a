import type { TriggerRecord } from "@gantry/sdk";
import { expect, test } from "vitest";
import { enteredOf, newTrigger, triggerBody } from "./trigger-form.rules.ts";

const stored: TriggerRecord = {
  id: "trg_1",
  agent_id: "agt_1",
  agent_name: "Triage",
  name: "Issues",
  input: { title: "{{body.issue.title}}" },
  verification: { type: "hmac", header: "X-Sign", algorithm: "sha1", encoding: "base64", prefix: "v1=" },
  delivery_id: { path: "event.id" },
  enabled: true,
  overlap: "queue",
  max_cost: 0.5,
  approve: ["drive_write"],
  connectors: [],
  thread_id: null,
  expected_price: null,
  status: "active",
  paused_reason: null,
  last_delivery_at: null,
  last_run_id: null,
  created_at: "2026-11-18T00:00:00Z",
  updated_at: "2026-11-18T00:00:00Z",
};

const bodyOf = (...given: Parameters<typeof triggerBody>) => {
  const read = triggerBody(...given);
  if ("fault" in read) throw new Error(read.fault);
  return read.body;
};

test("an unchanged trigger keeps its verification, whose secret cannot be read", () => {
  expect(bodyOf(enteredOf(stored), stored)).toEqual({
    name: "Issues",
    input: stored.input,
    delivery_id: { path: "event.id" },
    overlap: "queue",
    max_cost: 0.5,
    approve: ["drive_write"],
    thread_id: null,
  });
});

test("a changed verification is sent whole", () => {
  const entered = { ...enteredOf(stored), header: "X-Other", secret: "12345678" };
  expect(bodyOf(entered, stored).verification).toEqual({
    type: "hmac",
    secret: "12345678",
    header: "X-Other",
    algorithm: "sha1",
    encoding: "base64",
    prefix: "v1=",
  });
  expect(bodyOf({ ...entered, verification: "none" }, stored).verification).toBeNull();
});

test("a new trigger fills the required inputs from the body", () => {
  expect(bodyOf(newTrigger(["title", "url"]))).toMatchObject({
    input: { title: "{{body.title}}", url: "{{body.url}}" },
    verification: null,
  });
  expect(bodyOf(newTrigger([])).input).toBeNull();
});

test("a template that is not JSON is named", () => {
  expect(triggerBody({ ...newTrigger(["a"]), template: "{" })).toHaveProperty("fault");
});
