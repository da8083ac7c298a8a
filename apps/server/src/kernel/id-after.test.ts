import { isId, newId } from "@gantry/wire";
import { expect, test } from "vitest";
import { idAfter } from "./id-after.ts";

test.each([newId("run"), "run_01hzzzzzzzzzzzzzzzzzzzzzzz", "run_0000000000000z0000000000aa"])(
  "the id after %s is greater, and an id of its kind",
  (last) => {
    const next = idAfter("run", last);
    expect(next > last).toBe(true);
    expect(isId("run", next)).toBe(true);
  },
);
