import { isRecord } from "../../kernel/is-record.ts";

export interface NativeSize {
  /** Everything that the model reads as text. */
  text: string;
  images: number;
  /** The request has documents, audio, or tools that the upstream runs itself. */
  readsMore: boolean;
}

/** Types of content parts, of both protocols. */
const imageTypes: ReadonlySet<unknown> = new Set(["image", "image_url", "input_image"]);
const largeTypes: ReadonlySet<unknown> = new Set([
  "document",
  "file",
  "input_file",
  "input_audio",
  "container_upload",
  "search_result",
]);
/** Fields that make an upstream read more than the request contains. */
const readingFields = ["web_search_options", "search_parameters", "plugins", "mcp_servers", "container"];
/** Contain parts such as images. */
const contentFields = ["messages", "system"];
const schemaFields = ["tools", "functions", "response_format", "output_format", "output_config"];
/** Fields of a part with what is not text. The rest of the part counts, so that a type cannot hide a text. */
const mediaFields: ReadonlySet<string> = new Set(["image_url", "source", "file", "input_audio", "file_data"]);

/** Measures a request of a chat protocol without translating it. */
export function nativeSize(body: Readonly<Record<string, unknown>>): NativeSize {
  const texts: string[] = [];
  const size: NativeSize = { text: "", images: 0, readsMore: readingFields.some((name) => Boolean(body[name])) };
  for (const name of contentFields) collect(body[name], texts, size);
  for (const name of schemaFields) collect(body[name], texts, undefined);
  if (Array.isArray(body.tools) && body.tools.some(isServerTool)) size.readsMore = true;
  return { ...size, text: texts.join("\n") };
}

/** `size` is given where parts are. The depth of bodies is bounded, so recursion is safe. */
function collect(value: unknown, texts: string[], size: NativeSize | undefined): void {
  if (typeof value === "string") {
    texts.push(value);
    return;
  }
  if (Array.isArray(value)) {
    for (const item of value) collect(item, texts, size);
    return;
  }
  if (!isRecord(value)) return;
  const isMedia = size !== undefined && measured(value, size);
  for (const [name, inner] of Object.entries(value)) {
    // Property names of schemas and arguments are read too.
    texts.push(name);
    if (!isMedia || !mediaFields.has(name)) collect(inner, texts, size);
  }
}

/** True if it is an image, a document or audio. */
function measured(part: Record<string, unknown>, size: NativeSize): boolean {
  if (imageTypes.has(part.type)) {
    size.images += 1;
    return true;
  }
  // An assistant message refers to audio of its own by an id.
  const isLarge = largeTypes.has(part.type) || isRecord(part.audio);
  if (isLarge) size.readsMore = true;
  return isLarge;
}

function isServerTool(tool: unknown): boolean {
  if (!isRecord(tool)) return false;
  return tool.type !== "function" && tool.type !== "custom" && tool.type !== undefined && !("input_schema" in tool);
}
