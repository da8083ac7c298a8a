import { Fault, fault } from "../../kernel/errors.ts";
import { Rendering } from "./evaluate.ts";
import { fill } from "./fill.ts";
import { placeholdersOf } from "./placeholders.ts";
import { readTemplate } from "./read-template.ts";
import type { Templates } from "./templates.ts";

/** Uses the parser of Handlebars and our own interpreter. */
export function createTemplates(): Templates {
  return {
    check(source) {
      const { program, faults } = readTemplate(source);
      return { faults, placeholders: faults.length > 0 ? [] : placeholdersOf(program) };
    },
    render(source, input) {
      const { program, faults } = readTemplate(source);
      const [first] = faults;
      if (first !== undefined)
        throw fault("value_error", `The goal cannot be used. ${first}`, { loc: ["body", "goal"] });
      return unlessTooDeep(() => new Rendering(input, "The goal").text(program));
    },
    fill: (template, data) => unlessTooDeep(() => fill(template, new Rendering(data, "The input"))),
  };
}

function unlessTooDeep<T>(render: () => T): T {
  try {
    return render();
  } catch (error) {
    if (error instanceof Fault || !(error instanceof RangeError)) throw error;
    // Serializing a value with thousands of levels overflows the stack.
    throw fault("value_error", "The input is nested too deeply", { loc: ["body", "input"], cause: error });
  }
}
