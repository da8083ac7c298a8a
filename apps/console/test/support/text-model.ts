const text = { type: "string" };

export const textModel = (url: string, changes: object = {}) => ({
  title: "A language model",
  kind: "text",
  visibility: "public",
  capacity: 10,
  context_window: 8000,
  pricing: { per_million_input_tokens: 1, per_million_output_tokens: 10 },
  input: { type: "object", properties: { prompt: { ...text, title: "Prompt" } }, required: ["prompt"] },
  output: { type: "object", properties: { output: { ...text, isStream: true } }, required: ["output"] },
  backend: { type: "openai-chat", url, model: "any" },
  ...changes,
});
