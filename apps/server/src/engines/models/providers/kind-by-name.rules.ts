import type { UpstreamModel } from "@gantry/wire";

type Kind = UpstreamModel["kind"];

/** Speech, video, moderation, ranking and realtime models, and models without chat. */
const notCallable =
  /whisper|(?:^|[-_])tts(?:[-_.]|\d|$)|speech|transcri|realtime|moderation|re-?rank|audio|(?:^|[-_])(?:sora|veo|lyria|aqa|orpheus|kokoro|parakeet|omni-moderation)(?:[-_.]|\d|$)|guard|davinci-002|babbage-002|turbo-instruct|native-audio|-live-/;
const embedding =
  /embed|(?:^|[-_/])(?:bge|e5|gte|minilm|ada-002|paraphrase)(?:[-_.:]|$)|sentence-transformers|colbert|mxbai|nomic-bert/;
const image =
  /dall-e|gpt-image|chatgpt-image|(?:^|[-_])(?:flux|sdxl|sd3|imagen|seedream|hidream)(?:[-_.]|\d|$)|stable-diffusion|qwen-image|z-image|-image(?:[-_.]|$)/;

const longestName = 300;

/**
 * The kind of a model whose server states nothing but a name. Undefined for models that Gantry cannot call. Most unknown
 * names are chat models.
 */
export function kindByName(id: string): Kind | undefined {
  // A tuned model is named after its base, as in `ft:gpt-4o-mini-2024-07-18:acme::abc`.
  const base = id.startsWith("ft:") ? (id.split(":")[1] ?? id) : id;
  const whole = base.slice(-longestName).toLowerCase();
  const name = whole.slice(whole.lastIndexOf("/") + 1);
  if (notCallable.test(name)) return undefined;
  if (embedding.test(whole)) return "embedding";
  return image.test(name) ? "image" : "text";
}
