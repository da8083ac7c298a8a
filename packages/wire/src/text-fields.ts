import type { ObjectSchema } from "./manifest.ts";

const usualTokens = 4096;

/** The input of a text model that answers a prompt. */
export function textInput({
  mostTokens,
  readsImages = false,
}: {
  /** The longest answer that a caller may ask for. */
  mostTokens: number;
  readsImages?: boolean;
}): ObjectSchema {
  return {
    type: "object",
    required: ["prompt"],
    properties: {
      prompt: { type: "string", title: "Prompt", description: "The question or task.", minLength: 1 },
      ...(readsImages && {
        image: {
          type: ["string", "null"],
          format: "binary",
          "x-media": "image",
          title: "Image",
          description: "A picture that the prompt is about.",
          default: null,
        },
      }),
      system: {
        type: ["string", "null"],
        title: "System",
        description: "Instructions for the answer: role, tone, rules.",
        default: null,
      },
      max_tokens: {
        type: ["integer", "null"],
        title: "Max tokens",
        description: "Maximum length of the answer, in tokens.",
        minimum: 1,
        maximum: mostTokens,
        default: Math.min(usualTokens, mostTokens),
      },
      temperature: {
        type: ["number", "null"],
        title: "Temperature",
        description: "Sampling temperature. At 0 the model always chooses the most likely token.",
        minimum: 0,
        maximum: 2,
        default: null,
      },
      seed: {
        type: ["integer", "null"],
        title: "Seed",
        description: "The same seed and input give the same answer, if the model supports seeds.",
        minimum: 0,
        maximum: 2_147_483_647,
        default: null,
      },
    },
  };
}

export const textOutput: ObjectSchema = {
  type: "object",
  required: ["output"],
  properties: {
    output: { type: "string", title: "Output", description: "The answer, streamed.", isStream: true },
  },
};
