import { z } from "zod";
import { manifestFields } from "../../manifest-schema.ts";
import { takenDown } from "../../take-downs.ts";

/**
 * Models in the OpenAPI document. Fields are those of a manifest; input and output are shortened, because their
 * keywords are in the manifest schema.
 */
const fieldsOf = (meaning: string) =>
  z
    .looseObject({
      type: z.literal("object"),
      properties: z.record(z.string(), z.looseObject({})),
      required: z.array(z.string()).optional(),
    })
    .describe(`${meaning} See \`/docs/manifest.schema.json\` for the keywords.`);

const { $schema, ...ofModel } = {
  ...manifestFields,
  input: fieldsOf("JSON Schema of the input; its properties are the fields of a request."),
  output: fieldsOf("JSON Schema of the output; its properties are the fields of an answer."),
};
const { title, input, output } = ofModel;

/** A Cog container defines its own input and output. */
export const putModelBody = z.strictObject({
  $schema,
  ...ofModel,
  title: title.optional(),
  input: input.optional(),
  output: output.optional(),
});

/** Omitted fields keep their value, so no default is shown. */
function changeOf(field: z.ZodType): z.ZodType {
  const { description } = field;
  const plain = field instanceof z.ZodDefault ? (field.unwrap() as z.ZodType) : field;
  const change = plain.nullable().optional();
  return description === undefined ? change : change.describe(description);
}

export const changeModelBody = z
  .strictObject(Object.fromEntries(Object.entries(ofModel).map(([name, field]) => [name, changeOf(field)])))
  .describe("The fields to change, each as a whole; null removes an optional field or resets it to its default.");

export const modelCard = z
  .object({
    endpoint_id: z.string().describe("`owner/name`, used to call the model."),
    owner: z.string(),
    name: z.string(),
    ...ofModel,
    backend: ofModel.backend.describe("The backend. Only for the owner and admins."),
    backends: ofModel.backends.describe("Several backends instead of one. Only for the owner and admins."),
    taken_down: takenDown
      .optional()
      .describe("Set if an admin took the model down: it stays private until an admin restores it."),
    version: z.int().describe("Number of the revision, from 1."),
    created_at: z.iso.datetime(),
    updated_at: z.iso.datetime(),
    urls: z.record(z.string(), z.string()).describe("The routes of the model, by name."),
  })
  .describe("A model for its callers: address, input, output and price.");
