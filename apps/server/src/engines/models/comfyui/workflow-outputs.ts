import type { FieldSchema, Manifest, Workflow } from "@gantry/wire";
import type { Media } from "../media/output-files.ts";

export interface FoundOutputs {
  kind: Manifest["kind"];
  properties: Record<string, FieldSchema>;
  required: string[];
  /** By output: the id of its node. */
  nodes: Record<string, string>;
}

interface SavingRow {
  classes: RegExp;
  media: Media;
  /** Shown, not saved: used only if nothing is saved. */
  isPreview?: true;
}

/** The first row that fits decides. A node that answers only by websocket saves no file. */
const savingRows: readonly (SavingRow | { classes: RegExp; media: undefined })[] = [
  { classes: /Websocket/i, media: undefined },
  { classes: /^(SaveVideo|SaveWEBM|VHS_VideoCombine|SaveAnimatedWEBP|SaveAnimatedPNG)$/, media: "video" },
  { classes: /^(SaveAudio|SaveAudioMP3|SaveAudioOpus)$/, media: "audio" },
  { classes: /^(SaveImage|SaveImageAdvanced|SaveSVGNode|Image Save)$/, media: "image" },
  { classes: /^SaveGLB$/, media: "file" },
  { classes: /^PreviewImage$/, media: "image", isPreview: true },
  { classes: /^PreviewAudio$/, media: "audio", isPreview: true },
  // Nodes that people have added.
  { classes: /save.*(video|gif|webm|mp4)|(video|gif|webm|mp4).*save|video_?combine/i, media: "video" },
  { classes: /save.*(audio|mp3)|audio.*save/i, media: "audio" },
  { classes: /save.*image|image.*save/i, media: "image" },
];

const titles: Readonly<Record<Media, string>> = { image: "Image", video: "Video", audio: "Audio", file: "File" };
const mostOutputs = 8;

/** One field for each node that saves files; undefined if no node does. `images` asks for more fields of a single image. */
export function foundOutputs(workflow: Workflow, images: number): FoundOutputs | undefined {
  const all = Object.entries(workflow).flatMap(([id, { class_type: name }]) => {
    const row = savingRows.find(({ classes }) => classes.test(name));
    return row?.media === undefined ? [] : [{ id, media: row.media, isPreview: row.isPreview === true }];
  });
  const saved = all.filter(({ isPreview }) => !isPreview);
  const nodes = (saved.length > 0 ? saved : all).slice(0, mostOutputs);
  const [first] = nodes;
  if (!first) return undefined;
  const isSingleImage = nodes.length === 1 && first.media === "image";
  const places = isSingleImage ? Array.from({ length: images }, () => first) : nodes;
  const found: FoundOutputs = { kind: kindOf(nodes), properties: {}, required: [], nodes: {} };
  for (const { id, media } of places) {
    const taken = Object.values(found.properties).filter((field) => field["x-media"] === media).length;
    const name = taken === 0 ? media : `${media}_${taken + 1}`;
    const title = taken === 0 ? titles[media] : `${titles[media]} ${taken + 1}`;
    found.properties[name] = { type: "string", title, format: "binary", "x-media": media };
    found.nodes[name] = id;
    if (!isSingleImage || taken === 0) found.required.push(name);
  }
  return found;
}

function kindOf(nodes: readonly { media: Media }[]): Manifest["kind"] {
  if (nodes.some(({ media }) => media === "video")) return "video";
  return nodes.some(({ media }) => media === "image") ? "image" : "other";
}
