/** Longer than any line that the service sends. */
const maxLineLength = 64 * 1024 * 1024;

/** Lines of a body as they arrive. Leaving the loop closes the connection. */
export async function* readLines(body: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  // Joins the pieces of a line once it is complete, to avoid quadratic time.
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
      if (length > maxLineLength) throw new Error("A line of the response is too long");
    }
  } finally {
    // Rejects if the connection is broken, which the reader already knows.
    await reader.cancel().catch(() => {});
  }
}

export interface ServerSentEvent {
  id: string | undefined;
  name: string | undefined;
  data: string;
}

/** Server-Sent Events. Skips comments and an incomplete last event. */
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
