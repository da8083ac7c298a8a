import { expect, test } from "vitest";
import { entryOfId, matching, movedTo } from "./palette.rules.ts";

const digits = "01m7kj17abcdefghjkmnpqrstv";

test("a pasted id opens its page", () => {
  const pathOf = (text: string) => entryOfId(text)?.path;
  expect(pathOf(`pred_${digits}`)).toBe(`/predictions/pred_${digits}`);
  expect(pathOf(` "run_${digits}",\n`)).toBe(`/runs/run_${digits}`);
  expect(pathOf(`RUN_${digits.toUpperCase()}`)).toBe(`/runs/run_${digits}`);
  expect(pathOf(`key_${digits}`)).toBe(`/keys?key=key_${digits}`);
  expect(pathOf(`trg_${digits}`)).toBe("/automations?tab=triggers");
  expect(pathOf(`batch_${digits}`)).toBe(`/batches/batch_${digits}`);
  expect(pathOf(`thr_${digits}`)).toBe(`/runs?thread=thr_${digits}`);
  expect(pathOf(`node_${digits}`)).toBeUndefined();
  expect(pathOf("run_short")).toBeUndefined();
  expect(pathOf(`run_${digits}/../x`)).toBeUndefined();
});

test("entries match by every word, and by their start first", () => {
  const entries = ["API keys", "New key", "Keyboard"].map((label) => ({ key: label, label, path: "/" }));
  const labels = (text: string) => matching(entries, text).map(({ label }) => label);
  expect(labels("key")).toEqual(["Keyboard", "API keys", "New key"]);
  expect(labels("key new")).toEqual(["New key"]);
  expect(labels("")).toHaveLength(3);
  expect(labels("nothing")).toEqual([]);
});

test("arrow keys move in a circle", () => {
  expect([movedTo(0, "ArrowDown", 3), movedTo(2, "ArrowDown", 3), movedTo(0, "ArrowUp", 3)]).toEqual([1, 0, 2]);
  expect(movedTo(0, "Enter", 3)).toBeUndefined();
  expect(movedTo(0, "ArrowDown", 0)).toBeUndefined();
});
