import type { Manifest, ObjectSchema } from "@gantry/wire";

/** The kind of a model that states only its fields. */
export function kindOfOutput({ properties }: ObjectSchema): Manifest["kind"] {
  const fields = Object.values(properties);
  if (fields.some(({ isStream }) => isStream)) return "text";
  const media = new Set(fields.map((field) => field["x-media"] ?? field.items?.["x-media"]));
  return media.has("video") ? "video" : media.has("image") ? "image" : "other";
}
