type Input = Readonly<Record<string, unknown>>;

/** Programs that use an agent as a model send `messages`, and the text of the last one as `input`. That text is enough. */
export function withoutMessages(input: Input): Input {
  const { messages, ...rest } = input;
  return Array.isArray(messages) && typeof rest.input === "string" ? rest : input;
}
