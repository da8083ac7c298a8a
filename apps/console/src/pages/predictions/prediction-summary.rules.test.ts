import { describe, expect, it } from "vitest";
import { answerOf, firstLine, modelParamsOf, refreshEvery, titleOf } from "./prediction-summary.rules.ts";

const preview = { input: null, output: null, file: null };

describe("a prediction in a list", () => {
  it("is recognised by its prompt, then its agent, then its id", () => {
    const agent = { id: "agent_1", name: "Reporter" };
    expect(titleOf({ id: "pred_1", agent, preview: { ...preview, input: "\n  A ship\nat sea" } })).toBe("A ship");
    expect(titleOf({ id: "pred_1", agent, preview })).toBe("Model call by Reporter");
    expect(titleOf({ id: "pred_1", agent: null, preview: { ...preview, input: " \n" } })).toBe("pred_1");
  });

  it("shows the first line with text", () => {
    expect(firstLine("\n\n  one \n two")).toBe("one");
    expect(firstLine("")).toBeUndefined();
    expect(firstLine(null)).toBeUndefined();
  });

  it("shows the answer without marks of Markdown", () => {
    const answer = (output: string | null) => answerOf({ preview: { input: null, output, file: null } });
    expect(answer("\n## What is new\n- **Faster**")).toBe("What is new");
    expect(answer("# New # - **Fast** `npm start` in C# and #1")).toBe("New - Fast npm start in C# and #1");
    expect(answer(null)).toBeUndefined();
  });

  it("is refreshed more often while it runs", () => {
    expect(refreshEvery([{ status: "succeeded" }, { status: "waiting" }])).toBeLessThan(refreshEvery([]));
    expect(refreshEvery(undefined)).toBe(refreshEvery([{ status: "failed" }]));
  });

  it("links to models, not to agents", () => {
    expect(modelParamsOf("gantry/image")).toEqual({ owner: "gantry", name: "image" });
    expect(modelParamsOf("agents/ann/reporter")).toBeUndefined();
    expect(modelParamsOf("image")).toBeUndefined();
  });
});
