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
const messageFields = ["messages", "system", "tools", "functions", "response_format", "output_format", "output_config"];

/** Measures a request of a chat protocol without translating it. */
export function nativeSize(body: Readonly<Record<string, unknown>>): NativeSize {
  const texts: string[] = [];
  const size: NativeSize = { text: "", images: 0, readsMore: readingFields.some((name) => Boolean(body[name])) };
  for (const name of messageFields) collect(body[name], texts, size);
  if (Array.isArray(body.tools) && body.tools.some(isServerTool)) size.readsMore = true;
  return { ...size, text: texts.join("\n") };
}

/** The depth of bodies is bounded before. */
function collect(value: unknown, texts: string[], size: NativeSize): void {
  if (typeof value === "string") {
    texts.push(value);
    return;
  }
  if (Array.isArray(value)) {
    for (const item of value) collect(item, texts, size);
    return;
  }
  if (!isRecord(value)) return;
  if (imageTypes.has(value.type)) size.images += 1;
  else if (largeTypes.has(value.type)) size.readsMore = true;
  else
    for (const [name, inner] of Object.entries(value)) {
      // Property names of schemas and arguments are read too.
      texts.push(name);
      collect(inner, texts, size);
    }
}

function isServerTool(tool: unknown): boolean {
  if (!isRecord(tool)) return false;
  return tool.type !== "function" && tool.type !== "custom" && tool.type !== undefined && !("input_schema" in tool);
}
