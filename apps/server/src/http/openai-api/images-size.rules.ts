import type { FieldSchema, ObjectSchema } from "@gantry/wire";
import { fault } from "../../kernel/errors.ts";

interface Shape {
  ratio: number;
  /** Undefined for an aspect ratio such as `16:9`. */
  area: number | undefined;
}

export interface ChosenSize {
  /** Inputs of the model. */
  values: Record<string, string | number>;
  /** Set if the model does not have the requested size. */
  replaced?: string;
}

const longestSide = 100_000;
/** Ratios closer than this count as equal: sizes are rounded to multiples of 8 or 64. */
const sameRatio = 0.01;

/** Inputs by which models choose the size of an image. */
const sizeFields = ["size", "image_size", "aspect_ratio"];

/**
 * The inputs for a size of the OpenAI API. A size that the model does not list becomes the listed one with the nearest
 * aspect ratio, then the nearest area. A model without any of the inputs has one size.
 */
export function chooseSize({ properties }: ObjectSchema, asked: unknown): ChosenSize {
  if (asked === undefined || asked === null || asked === "" || asked === "auto") return { values: {} };
  const shape = typeof asked === "string" ? shapeOf(asked) : undefined;
  const fields = sizeFields.filter((name) => isText(properties[name]));
  const values: ChosenSize["values"] = {};
  for (const name of fields) {
    const value = valueFor(properties[name] ?? {}, asked, shape);
    if (value === undefined) throw unknownSize(properties[name]);
    values[name] = value;
  }
  if (fields.length === 0 && shape) Object.assign(values, sidesFor(properties, shape));
  else if (fields.length === 0) throw unknownSize(undefined);
  const used = usedSize(values);
  return used === undefined || used.toLowerCase() === String(asked).toLowerCase()
    ? { values }
    : { values, replaced: used };
}

function isText(field: FieldSchema | undefined): boolean {
  return [field?.type].flat().includes("string");
}

function valueFor(field: FieldSchema, asked: unknown, shape: Shape | undefined): string | undefined {
  const { enum: listed, default: usual } = field;
  if (!listed) return shape && String(asked);
  const sizes = listed.filter((value) => typeof value === "string");
  const exact = sizes.find((size) => size.toLowerCase() === String(asked).toLowerCase());
  if (exact !== undefined || !shape) return exact;
  // The default first: it wins where a bare ratio fits several sizes.
  const inOrder = sizes.toSorted((a, b) => Number(b === usual) - Number(a === usual));
  return nearest(inOrder, shape);
}

function nearest(sizes: readonly string[], asked: Shape): string | undefined {
  const measured = sizes.flatMap((size) => {
    const shape = shapeOf(size);
    if (!shape) return [];
    const area = shape.area === undefined || asked.area === undefined ? 0 : distance(shape.area, asked.area);
    return [{ size, ratio: distance(shape.ratio, asked.ratio), area }];
  });
  const least = Math.min(...measured.map(({ ratio }) => ratio));
  const [best] = measured.filter(({ ratio }) => ratio <= least + sameRatio).toSorted((a, b) => a.area - b.area);
  return best?.size;
}

function distance(a: number, b: number): number {
  return Math.abs(Math.log(a / b));
}

const pixels = /^(\d{1,6})\s*[x*×]\s*(\d{1,6})$/i;
const ratio = /^(\d{1,5}(?:\.\d{1,5})?):(\d{1,5}(?:\.\d{1,5})?)$/;
/** `2k` is a square of 2048 pixels. */
const thousands = /^(\d{1,2}(?:\.\d{1,2})?)k$/i;

/** Undefined for a text that is not a size. */
function shapeOf(text: string): Shape | undefined {
  const [, width, height] = pixels.exec(text) ?? [];
  if (width !== undefined && height !== undefined) return shape(Number(width), Number(height), true);
  const [, wide, high] = ratio.exec(text) ?? [];
  if (wide !== undefined && high !== undefined) return shape(Number(wide), Number(high), false);
  const side = Number(thousands.exec(text)?.[1] ?? 0) * 1024;
  return shape(side, side, true);
}

function shape(width: number, height: number, isPixels: boolean): Shape | undefined {
  if (!(width > 0 && height > 0 && width <= longestSide && height <= longestSide)) return undefined;
  return { ratio: width / height, area: isPixels ? width * height : undefined };
}

/** For models with `width` and `height`: at most what their fields allow. */
function sidesFor(properties: ObjectSchema["properties"], { ratio, area }: Shape): ChosenSize["values"] {
  const { width, height } = properties;
  if (!isNumber(width) || !isNumber(height) || area === undefined) return {};
  return {
    width: within(width, Math.round(Math.sqrt(area * ratio))),
    height: within(height, Math.round(Math.sqrt(area / ratio))),
  };
}

function isNumber(field: FieldSchema | undefined): field is FieldSchema {
  return [field?.type].flat().some((type) => type === "integer" || type === "number");
}

function within({ minimum = 1, maximum = longestSide }: FieldSchema, side: number): number {
  return Math.min(Math.max(side, minimum), maximum);
}

function usedSize({ width, height, ...values }: ChosenSize["values"]): string | undefined {
  if (width !== undefined && height !== undefined) return `${width}x${height}`;
  const used = Object.values(values);
  return used.length === 0 ? undefined : used.join(", ");
}

function unknownSize(field: FieldSchema | undefined) {
  const listed = field?.enum?.filter((value) => typeof value === "string") ?? [];
  const options = listed.length > 0 ? ` Sizes of this model: ${listed.join(", ")}.` : "";
  return fault("value_error", `The size must be auto, or width x height such as 1024x1024.${options}`, {
    loc: ["body", "size"],
  });
}
