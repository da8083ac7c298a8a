import { describe, expect, test } from "vitest";
import { type ArrivingToolCall, finishedToolCall, TextAnswer } from "./answer.ts";
import { answerToolName } from "./answer-tool.ts";

const arriving = (json = "", name = "look"): ArrivingToolCall => ({ id: "call_1", name, json });
const finished = ({ toolCalls }: TextAnswer) => toolCalls.map((call) => finishedToolCall(call).arguments);

describe("a call without argument text", () => {
  test("has no arguments if the answer is complete", () => {
    const answer = new TextAnswer({});
    answer.toolCalls.push(arriving());
    expect(finished(answer)).toEqual([{}]);
    expect(answer.stop).toBe("tool_calls");
  });

  test("is invalid if the answer was cut; earlier calls stay valid", () => {
    const answer = new TextAnswer({});
    answer.toolCalls.push(arriving(), arriving('{"a":1}'), arriving());
    answer.cutByLength = true;
    expect(finished(answer)).toEqual([{}, { a: 1 }, { __invalid: "" }]);
    expect(answer.stop).toBe("length");
  });

  test("is invalid if it arrives together with the finish reason", () => {
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

  test.each([41, 5000, 1_000_000])("%i levels stay text", (levels) => {
    const json = nested(levels);
    expect(finishedToolCall(arriving(json)).arguments.__invalid === json).toBe(true);
  });

  test("40 levels are parsed", () => {
    expect(finishedToolCall(arriving(nested(40))).arguments).toEqual(JSON.parse(nested(40)));
  });
});

describe("a submitted answer", () => {
  const handedIn = (json: string, cutByLength: boolean) => {
    const answer = new TextAnswer({ responseSchema: {} });
    answer.toolCalls.push(arriving(json, answerToolName));
    answer.cutByLength = cutByLength;
    void answer.finishCalls();
    return { text: answer.text, calls: answer.toolCalls.length, stop: answer.stop };
  };

  test("is the text, and an empty object without arguments", () => {
    expect(handedIn('{"n":4}', false)).toEqual({ text: '{"n":4}', calls: 0, stop: "end" });
    expect(handedIn("", false)).toEqual({ text: "{}", calls: 0, stop: "end" });
  });

  test("is the part that arrived if it was cut: nothing is not an object", () => {
    expect(handedIn('{"n":', true)).toEqual({ text: '{"n":', calls: 0, stop: "length" });
    expect(handedIn("", true)).toEqual({ text: "", calls: 0, stop: "length" });
  });
});

describe("calls", () => {
  const tooMuch = expect.objectContaining({ type: "downstream_service_error" });
  const thrownBy = (work: () => unknown) => {
    try {
      work();
    } catch (error) {
      return error;
    }
  };

  test("are bounded in number", () => {
    const answer = new TextAnswer({});
    for (let n = 0; n < 1024; n++) void answer.startCall(arriving());
    expect(thrownBy(() => answer.startCall(arriving()))).toEqual(tooMuch);
  });

  test("count with their ids and names", () => {
    const long = "x".repeat(5 * 1024 * 1024);
    const answer = new TextAnswer({});
    void answer.startCall({ ...arriving(), id: long });
    expect(thrownBy(() => answer.startCall(arriving("", long)))).toEqual(tooMuch);
    const unnamed = new TextAnswer({});
    const call = arriving("", "");
    void unnamed.startCall({ ...call, id: long });
    expect(thrownBy(() => unnamed.nameCall(call, { name: long, restore: undefined }))).toEqual(tooMuch);
  });
});
