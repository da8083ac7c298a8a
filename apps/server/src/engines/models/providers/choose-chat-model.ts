import type { UpstreamModel } from "@gantry/wire";

/** Models that Ollama passes on to its cloud need an account. */
const isElsewhere = ({ id }: UpstreamModel) => /[:-]cloud$/.test(id);

const toolsRank = ({ tools }: UpstreamModel) => (tools === true ? 2 : tools === null ? 1 : 0);

/** The model of a local server that agents use by default. The same list gives the same model in any order. */
export function chooseChatModel(models: readonly UpstreamModel[]): UpstreamModel | undefined {
  const chat = models.filter(({ kind }) => kind === "text");
  return chat.toSorted(
    (a, b) =>
      Number(isElsewhere(a)) - Number(isElsewhere(b)) ||
      toolsRank(b) - toolsRank(a) ||
      (b.context_window ?? 0) - (a.context_window ?? 0) ||
      (b.model_size_in_billions ?? 0) - (a.model_size_in_billions ?? 0) ||
      (a.id < b.id ? -1 : 1),
  )[0];
}
