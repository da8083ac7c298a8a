/** More than any answer of the service is long in one line. */
const longestLine = 64 * 1024 * 1024;

/** The lines of a body as they arrive. Whoever leaves the loop closes the connection. */
export async function* readLines(body: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  // What has arrived of a line is joined once it is whole: joined with every piece, a long one would take for ever.
  let begun: string[] = [];
  let length = 0;
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      const ends = decoder.decode(value, { stream: true }).split("\n");
      const rest = ends.pop() ?? "";
      for (const end of ends) {
        begun.push(end);
        const line = begun.join("");
        begun = [];
        length = 0;
        yield line.endsWith("\r") ? line.slice(0, -1) : line;
      }
      begun.push(rest);
      length += rest.length;
      if (length > longestLine) throw new Error("a line of the answer has no end");
    }
  } finally {
    // Rejects when the connection is already broken, which whoever reads has been told.
    await reader.cancel().catch(() => {});
  }
}

export interface ServerSentEvent {
  id: string | undefined;
  name: string | undefined;
  data: string;
}

/** Server-Sent Events. Comments are skipped, and so is an event that the end cut short. */
export async function* readEvents(lines: AsyncIterable<string>): AsyncGenerator<ServerSentEvent> {
  let id: string | undefined;
  let name: string | undefined;
  let data: string[] = [];
  for await (const line of lines) {
    if (line === "") {
      if (data.length > 0) yield { id, name, data: data.join("\n") };
      name = undefined;
      data = [];
      continue;
    }
    const [, field = "", value = ""] = /^([^:]*):? ?(.*)$/s.exec(line) ?? [];
    if (field === "data") data.push(value);
    else if (field === "event") name = value;
    else if (field === "id") id = value;
  }
}
