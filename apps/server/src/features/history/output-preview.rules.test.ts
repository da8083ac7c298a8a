import { expect, test } from "vitest";
import { previewOfOutput } from "./output-preview.rules.ts";

test.each([
  ['{"output":"Hello\\nthere"}', "Hello there"],
  ['{ "a \\" b" : "quo\\"te" , "x":1}', 'quo"te'],
  ['{"output":"cut in the mid', "cut in the mid"],
  ['{"output":"cut after a backslash\\', "cut after a backslash"],
  ['{"output":"cut in an escape\\u00', "cut in an escape"],
  ['{"output":"\\ud83d\\ude00!"}', "😀!"],
  ['{"image":"s3://gantry/outputs/x"}', null],
  ['{"vectors":["abc"]}', null],
  ["{}", null],
  [null, null],
])("of %j", (head, text) => expect(previewOfOutput(head)).toBe(text));
