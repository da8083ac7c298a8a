/** The parsed data of each event as it arrives. */
// biome-ignore lint/suspicious/noExplicitAny: a test reads what came over the wire and states what it must be
export async function* readStream(response: Response): AsyncGenerator<any> {
  if (!response.body) throw new Error("an answer without a body");
  const decoder = new TextDecoder();
  let rest = "";
  for await (const chunk of response.body) {
    rest += decoder.decode(chunk, { stream: true });
    const blocks = rest.split("\n\n");
    rest = blocks.pop() ?? "";
    for (const block of blocks) {
      if (block.startsWith(":")) continue;
      if (!block.startsWith("data: ")) throw new Error(`not a data line: ${block}`);
      yield JSON.parse(block.slice(6));
    }
  }
  if (rest !== "") throw new Error(`the stream ended within an event: ${rest}`);
}
