import { z } from "zod";
import { manifestFields } from "../../manifest-schema.ts";
import { takenDown } from "../../take-downs.ts";

/**
 * What is sent and answered about a model, as a document tells it. The fields are those of a manifest. Only input and
 * output are told in short: they are JSON Schemas themselves, whose keywords the schema of a manifest has.
 */
const fieldsOf = (meaning: string) =>
  z
    .looseObject({
      type: z.literal("object"),
      properties: z.record(z.string(), z.looseObject({})),
      required: z.array(z.string()).optional(),
    })
    .describe(`${meaning} The keywords that it may have are at \`/docs/manifest.schema.json\`.`);

const { $schema, ...ofModel } = {
  ...manifestFields,
  input: fieldsOf("What the model takes: a JSON Schema whose properties are the fields of a request."),
  output: fieldsOf("What the model gives: a JSON Schema whose properties are the fields of an answer."),
};
const { title, input, output } = ofModel;

/** A Cog container tells input and output itself. */
export const putModelBody = z.strictObject({
  $schema,
  ...ofModel,
  title: title.optional(),
  input: input.optional(),
  output: output.optional(),
});

/** What is left out of a change stays as it is: no default is told of it. */
function changeOf(field: z.ZodType): z.ZodType {
  const { description } = field;
  const plain = field instanceof z.ZodDefault ? (field.unwrap() as z.ZodType) : field;
  const change = plain.nullable().optional();
  return description === undefined ? change : change.describe(description);
}

export const changeModelBody = z
  .strictObject(Object.fromEntries(Object.entries(ofModel).map(([name, field]) => [name, changeOf(field)])))
  .describe("The fields to change, each as a whole; null takes an optional one away, or back to its default.");

export const modelCard = z
  .object({
    endpoint_id: z.string().describe("`owner/name`, by which it is called."),
    owner: z.string(),
    name: z.string(),
    ...ofModel,
    backend: ofModel.backend.optional().describe("Who answers. For its owner and for admins."),
    taken_down: takenDown
      .optional()
      .describe("Only when an admin took the model down: it stays private until an admin restores it."),
    version: z.int().describe("Counts its changes, from 1."),
    created_at: z.iso.datetime(),
    updated_at: z.iso.datetime(),
    urls: z.record(z.string(), z.string()).describe("Its routes, by name."),
  })
  .describe("A model as its callers see it: where it is, what it takes, gives and costs.");
