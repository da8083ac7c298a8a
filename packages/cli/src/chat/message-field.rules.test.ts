import { expect, test } from "vitest";
import { messageField } from "./message-field.rules.ts";

const schema = (properties: object, required: string[] = []) => ({ type: "object", properties, required });

test("the field for a message is found by its name, or because it is the only required text", () => {
  expect(messageField(undefined)).toBe("message");
  expect(messageField(schema({ n: { type: "number" }, topic: { type: "string" } }, ["topic"]))).toBe("topic");
  expect(messageField(schema({ style: { type: "string" }, question: { type: "string" } }))).toBe("question");
  expect(() => messageField(schema({ a: { type: "string" }, n: { type: "number" } }, ["a", "n"]))).toThrow(
    "gantry agents run",
  );
});
