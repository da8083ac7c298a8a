import type { Manifest } from "@gantry/sdk";

export const modelKinds = ["image", "video", "text", "other"] as const satisfies readonly Manifest["kind"][];
