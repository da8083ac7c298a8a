import type { Manifest } from "@gantry/sdk";

export const kindLabels: Record<Manifest["kind"], string> = {
  image: "Image",
  video: "Video",
  text: "Text",
  embedding: "Embedding",
  other: "Other",
};

export const modelKinds = Object.keys(kindLabels) as Manifest["kind"][];
