import type { Content, ContentPart, ReadImage } from "../../features/predictions/index.ts";
import { isRecord } from "../../kernel/is-record.ts";
import {
  type Field,
  fieldOf,
  invalid,
  missing,
  optionalList,
  optionalText,
  requiredRecord,
  requiredText,
} from "../doors/body-fields.ts";

export interface Block extends Field {
  value: Record<string, unknown>;
}

/** The blocks of a content. Text alone is one block. */
export function blocksOf(field: Field): Block[] {
  if (field.value === undefined) throw missing(field);
  if (typeof field.value === "string") return [{ value: { type: "text", text: field.value }, loc: field.loc }];
  return (optionalList(field) ?? []).map((value, index) => {
    const loc = [...field.loc, index];
    return { value: requiredRecord({ value, loc }), loc };
  });
}

export function textOfBlock({ value, loc }: Block): string {
  return optionalText(fieldOf(value, "text", loc)) ?? "";
}

/** A block that a user or a tool sends, as parts. Blocks of tools that Anthropic runs, and unknown ones, have no parts. */
export async function partsOf(block: Block, readImage: ReadImage): Promise<ContentPart[]> {
  switch (block.value.type) {
    case "text":
      return textPart(textOfBlock(block));
    case "image":
      return [await imageOf(block, readImage)];
    case "document":
      return documentOf(block, readImage);
    case "search_result":
      return searchResultOf(block, readImage);
    default:
      return [];
  }
}

export async function partsOfAll(blocks: readonly Block[], readImage: ReadImage): Promise<ContentPart[]> {
  const parts: ContentPart[] = [];
  for (const block of blocks) parts.push(...(await partsOf(block, readImage)));
  return parts;
}

export function contentOf(parts: readonly ContentPart[]): Content {
  return parts.every((part) => part.type === "text") ? parts.map(({ text }) => text).join("\n") : parts;
}

function textPart(text: string): ContentPart[] {
  return text === "" ? [] : [{ type: "text", text }];
}

function sourceOf({ value, loc }: Block): Block {
  const source = fieldOf(value, "source", loc);
  return { value: requiredRecord(source), loc: source.loc };
}

async function imageOf(block: Block, readImage: ReadImage): Promise<ContentPart> {
  const { value, loc } = sourceOf(block);
  switch (value.type) {
    case "url": {
      const url = fieldOf(value, "url", loc);
      return { type: "image", ...(await readImage(requiredText(url), url.loc)) };
    }
    case "base64": {
      const data = fieldOf(value, "data", loc);
      const type = requiredText(fieldOf(value, "media_type", loc));
      return { type: "image", ...(await readImage(`data:${type};base64,${requiredText(data)}`, data.loc)) };
    }
    default:
      throw invalid({ loc: [...loc, "type"] }, "This model accepts images of type base64 or url.");
  }
}

/** Models of other protocols read text only. */
async function documentOf(block: Block, readImage: ReadImage): Promise<ContentPart[]> {
  const { value, loc } = sourceOf(block);
  const about = ["title", "context"].map((name) => optionalText(fieldOf(block.value, name, block.loc)) ?? "");
  const heading = textPart(about.filter((text) => text !== "").join("\n"));
  if (value.type === "text") return [...heading, ...textPart(requiredText(fieldOf(value, "data", loc)))];
  if (value.type === "content") {
    const inner = blocksOf(fieldOf(value, "content", loc)).filter(isTextOrImage);
    return [...heading, ...(await partsOfAll(inner, readImage))];
  }
  const type = JSON.stringify(String(value.type).slice(0, 64));
  throw invalid(block, `This model cannot read documents of type ${type}. Send the document as text.`);
}

async function searchResultOf(block: Block, readImage: ReadImage): Promise<ContentPart[]> {
  const { value, loc } = block;
  const about = ["title", "source"].map((name) => optionalText(fieldOf(value, name, loc)) ?? "");
  const inner = blocksOf(fieldOf(value, "content", loc)).filter(isTextOrImage);
  return [...textPart(about.filter((text) => text !== "").join("\n")), ...(await partsOfAll(inner, readImage))];
}

/** Documents contain no documents. */
function isTextOrImage({ value }: Block): boolean {
  return isRecord(value) && (value.type === "text" || value.type === "image");
}
