/** More than any answer of the service is long in one line. */
const longestLine = 64 * 1024 * 1024;

/** The lines of a body as they arrive. Whoever leaves the loop closes the connection. */
export async function* readLines(body: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let rest = "";
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      const lines = (rest + decoder.decode(value, { stream: true })).split("\n");
      rest = lines.pop() ?? "";
      if (rest.length > longestLine) throw new Error("a line of the answer has no end");
      for (const line of lines) yield line.endsWith("\r") ? line.slice(0, -1) : line;
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
