import { describe, expect, test } from "vitest";
import { type ArrivingToolCall, finishedToolCall, TextAnswer } from "./answer.ts";
import { answerToolName, takeSubmittedAnswer } from "./answer-tool.ts";

const arriving = (json = "", name = "look"): ArrivingToolCall => ({ id: "call_1", name, json });
const finished = ({ toolCalls }: TextAnswer) => toolCalls.map((call) => finishedToolCall(call).arguments);

describe("a call without any text of arguments", () => {
  test("has none where the answer ended whole", () => {
    const answer = new TextAnswer({});
    answer.toolCalls.push(arriving());
    expect(finished(answer)).toEqual([{}]);
    expect(answer.stop).toBe("tool_calls");
  });

  test("has no valid ones where the answer was cut while it arrived; the calls before it are whole", () => {
    const answer = new TextAnswer({});
    answer.toolCalls.push(arriving(), arriving('{"a":1}'), arriving());
    answer.cutByLength = true;
    expect(finished(answer)).toEqual([{}, { a: 1 }, { __invalid: "" }]);
    expect(answer.stop).toBe("length");
  });

  test("is cut as well where it comes together with the reason of the end", () => {
    const answer = new TextAnswer({});
    answer.cutByLength = true;
    const call = arriving();
    answer.toolCalls.push(call);
    answer.addArguments(call, "");
    expect(finished(answer)).toEqual([{ __invalid: "" }]);
  });
});

describe("arguments that are nested too deeply", () => {
  const nested = (levels: number) => `{"a":${"[".repeat(levels - 1)}${"]".repeat(levels - 1)}}`;

  test.each([41, 5000, 1_000_000])("%i levels: are the text that they came as", (levels) => {
    const json = nested(levels);
    expect(finishedToolCall(arriving(json)).arguments.__invalid === json).toBe(true);
  });

  test("40 levels are not", () => {
    expect(finishedToolCall(arriving(nested(40))).arguments).toEqual(JSON.parse(nested(40)));
  });
});

describe("an answer that is handed in", () => {
  const handedIn = (json: string, cutByLength: boolean) => {
    const answer = new TextAnswer({});
    answer.toolCalls.push(arriving(json, answerToolName));
    answer.cutByLength = cutByLength;
    takeSubmittedAnswer(answer);
    return { text: answer.text, calls: answer.toolCalls.length, stop: answer.stop };
  };

  test("is the text, and an empty object where nothing was handed in", () => {
    expect(handedIn('{"n":4}', false)).toEqual({ text: '{"n":4}', calls: 0, stop: "end" });
    expect(handedIn("", false)).toEqual({ text: "{}", calls: 0, stop: "end" });
  });

  test("is what came of it where it was cut: nothing is not an object", () => {
    expect(handedIn('{"n":', true)).toEqual({ text: '{"n":', calls: 0, stop: "length" });
    expect(handedIn("", true)).toEqual({ text: "", calls: 0, stop: "length" });
  });
});
