import { errorTable } from "@gantry/wire";
import { expect, test } from "vitest";
import { errorsPage } from "./errors-page.ts";

const page = errorsPage();
const sectionOf = (type: string) => new RegExp(`<section id="${type}">.*?</section>`, "s").exec(page)?.[0] ?? "";
const sentence = '{"detail": "…", "status_code": …}';
const typed = '{"detail": "…", "status_code": …, "type": "…"}';
const ofAgents = '{"error": {"type", "code", "message", "details"}}';

test("every type has a section with its status", () => {
  for (const [type, { status }] of Object.entries(errorTable)) expect(sectionOf(type)).toContain(String(status));
});

test("errors that only the agents platform returns have its form", () => {
  for (const type of ["agent_not_published", "confirmation_required"]) {
    expect(sectionOf(type)).toContain(ofAgents);
    expect(sectionOf(type)).not.toContain(sentence);
  }
});

test("errors of both platforms have both forms", () => {
  for (const type of ["precondition_failed", "not_found", "conflict"]) {
    expect(sectionOf(type)).toContain(`${sentence}</code>; under <code>/v1</code> <code>${ofAgents}`);
  }
  expect(sectionOf("missing")).not.toContain(ofAgents);
});

test("limits have a type in the body", () => {
  for (const type of ["rate_limit", "concurrent_requests_limit"]) expect(sectionOf(type)).toContain(typed);
});

test("421 is shown inside a 200", () => {
  expect(sectionOf("misdirected_request")).toContain("<dd>200, with 421 in the body</dd>");
  expect(sectionOf("misdirected_request")).toContain(sentence);
});
