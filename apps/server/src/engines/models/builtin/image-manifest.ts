import { defaultPrompt, sizes } from "@gantry/painter/options";
import type { FieldSchema, Manifest } from "@gantry/wire";

/** In the order in which the picture shows them. */
export const referenceFields = ["image", ...Array.from({ length: 9 }, (_, i) => `image${i + 1}`)];

const reference = (slot: number): FieldSchema => ({
  type: ["string", "null"],
  format: "binary",
  "x-media": "image",
  title: slot === 0 ? "Reference image" : `Reference image ${slot + 1}`,
  description: "Appears in the scene on a billboard or as a print on a line. Its colours tint the palette.",
  default: null,
});

export const imageManifest: Manifest = {
  title: "Gantry Image",
  description:
    "A procedural painter, not a neural network. It reads the prompt for subjects it knows (drones, gates, " +
    "pillars, mountains, forests, cities, the sea, boats, houses, castles, lighthouses, cars, trains, roads, rockets, " +
    "balloons, planes, birds, robots, people, cats, dogs, rabbits, whales, flowers, sun, moon, stars, planets, " +
    "weather and more), for colours, numbers, sizes, sides, time of day and mood, and paints a layered scene. Any " +
    "other prompt becomes an abstract composition grown from its words. Up to ten reference images appear in the " +
    "scene on billboards or as prints on lines. The same input always gives the same bytes. It runs inside Gantry, " +
    "without a GPU, an API key or the network.",
  kind: "image",
  visibility: "public",
  capacity: 4,
  timeout_seconds: 60,
  max_queue_seconds: 86_400,
  pricing: { per_request: 0.03 },
  input: {
    type: "object",
    required: ["prompt"],
    properties: {
      prompt: {
        type: "string",
        title: "Prompt",
        description: "What to paint, in English.",
        default: defaultPrompt,
      },
      ...Object.fromEntries(referenceFields.map((field, slot) => [field, reference(slot)])),
      size: {
        type: ["string", "null"],
        title: "Size",
        description: "Width x height in pixels; 2k is 2048x2048.",
        enum: Object.keys(sizes),
        default: "2k",
      },
      watermark: {
        type: ["boolean", "null"],
        title: "Watermark",
        description: "Draws a small GANTRY mark in the lower right corner.",
        default: false,
      },
      optimize_prompt_mode: {
        type: ["string", "null"],
        title: "Prompt optimisation",
        description:
          "standard adds fitting details and a fine finish; fast paints the prompt literally and takes less time.",
        enum: ["standard", "fast"],
        default: "standard",
      },
      enable_safety_checker: {
        type: ["boolean", "null"],
        title: "Safety checker",
        description: "Refuse prompts with words from the documented list.",
        default: true,
      },
    },
  },
  output: {
    type: "object",
    required: ["image"],
    properties: {
      image: {
        type: "string",
        format: "binary",
        "x-media": "image",
        title: "Image",
        description: "The picture, a JPEG of exactly the requested size.",
      },
    },
  },
  backend: { type: "builtin", model: "image" },
};
