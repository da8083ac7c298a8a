import type { Input, InputField, ObjectSchema } from "@gantry/sdk";
import { wrongArguments } from "../frame/failure.ts";
import { readStdin } from "../frame/terminal.ts";
import { openFile } from "../shared/open-file.ts";
import { checkNames, fieldValue, isList, parsedJson, readFields, type TypedField, takesFiles } from "./input.rules.ts";

const mostTextBytes = 16 * 1024 * 1024;

/** The input of a call from `name=value` words, by the schema of the model. */
export async function readInput(words: readonly string[], schema: ObjectSchema): Promise<Input> {
  const fields = readFields(words, schema);
  checkNames(fields, schema);
  if (fields.filter(({ form }) => form.startsWith("stdin")).length > 1) {
    throw wrongArguments("Only one field can be read from stdin.");
  }
  const input: Record<string, InputField> = {};
  for (const field of fields) {
    const { name } = field;
    const rule = schema.properties[name] ?? {};
    const value = await contentOf(field, takesFiles(rule), (text) => fieldValue(name, rule, text));
    const isEntry = isList(rule) && !Array.isArray(value);
    const before = input[name];
    input[name] = isEntry ? ([...(Array.isArray(before) ? before : []), value] as InputField) : value;
  }
  return input;
}

async function contentOf(
  { name, form, value }: TypedField,
  isFile: boolean,
  convert: (text: string) => InputField,
): Promise<InputField> {
  switch (form) {
    case "json": {
      const parsed = parsedJson(value);
      if (parsed === undefined)
        throw wrongArguments(`${name}:= needs JSON, such as ${name}:='{"a": 1}' or ${name}:=3.`);
      return parsed;
    }
    case "file": {
      const file = await openFile(value);
      return isFile ? file : convert(await textOf(file, value));
    }
    case "stdin-file":
      return new File(await chunksOfStdin(), "stdin");
    case "stdin":
      if (isFile) return new File(await chunksOfStdin(), "stdin");
      return convert(await readStdin(mostTextBytes, "The text on stdin is too long."));
    case "text":
      if (isFile && !/^[a-z][a-z0-9+.-]*:/i.test(value)) {
        throw wrongArguments(
          `${name} takes a file or a URL. For a file on this machine write ${name}=@${value || "FILE"}.`,
        );
      }
      return isFile ? value : convert(value);
  }
}

async function textOf(file: File, path: string): Promise<string> {
  if (file.size > mostTextBytes) throw wrongArguments(`The file ${path} is too long for a text field.`);
  return file.text();
}

async function chunksOfStdin(): Promise<Uint8Array<ArrayBuffer>[]> {
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  for await (const chunk of process.stdin) chunks.push(chunk as Uint8Array<ArrayBuffer>);
  return chunks;
}
