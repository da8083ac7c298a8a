import { constants, crc32, deflateRawSync } from "node:zlib";

/** A PDF with these lines of ASCII text on its pages. */
export function pdfOf(pages: readonly (readonly string[])[]): Buffer {
  const objects: string[] = [];
  const kids = pages.map((_, n) => `${4 + 2 * n} 0 R`).join(" ");
  objects[1] = "<< /Type /Catalog /Pages 2 0 R >>";
  objects[2] = `<< /Type /Pages /Kids [${kids}] /Count ${pages.length} >>`;
  objects[3] = "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>";
  for (const [n, lines] of pages.entries()) {
    const shown = lines.map((line) => `(${line.replace(/[\\()]/g, "\\$&")}) Tj 0 -14 Td`).join("\n");
    const content = `BT /F1 12 Tf 50 750 Td\n${shown}\nET`;
    objects[4 + 2 * n] =
      `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents ${5 + 2 * n} 0 R /Resources << /Font << /F1 3 0 R >> >> >>`;
    objects[5 + 2 * n] = `<< /Length ${content.length} >>\nstream\n${content}\nendstream`;
  }
  let text = "%PDF-1.4\n";
  const offsets = objects.map((object, id) => {
    const at = text.length;
    text += `${id} 0 obj\n${object}\nendobj\n`;
    return at;
  });
  const rows = offsets.slice(1).map((at) => `${String(at).padStart(10, "0")} 00000 n \n`);
  text += `xref\n0 ${objects.length}\n0000000000 65535 f \n${rows.join("")}trailer\n<< /Size ${objects.length} /Root 1 0 R >>\n`;
  return Buffer.from(`${text}startxref\n${text.lastIndexOf("xref\n")}\n%%EOF\n`, "latin1");
}

const types = `<?xml version="1.0"?><Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Override PartName="/word/document.xml" ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/></Types>`;
const relations = `<?xml version="1.0"?><Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="rId1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" Target="word/document.xml"/></Relationships>`;

/** A Word document. A paragraph that starts with `# ` is a heading. `packed`: raw deflate in the place of its main part. */
export function docxOf(
  paragraphs: readonly string[],
  { main = "word/document.xml", packed }: { main?: string; packed?: Buffer } = {},
): Buffer {
  const body = paragraphs
    .map((text) => {
      const style = text.startsWith("# ") ? '<w:pPr><w:pStyle w:val="Heading1"/></w:pPr>' : "";
      return `<w:p>${style}<w:r><w:t xml:space="preserve">${text.replace(/^# /, "")}</w:t></w:r></w:p>`;
    })
    .join("");
  const document = `<?xml version="1.0"?><w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body>${body}</w:body></w:document>`;
  const named = (xml: string) => xml.replace("word/document.xml", main);
  return zipOf({
    "[Content_Types].xml": named(types),
    "_rels/.rels": named(relations),
    [main]: packed ? { packed } : document,
  });
}

/** Raw deflate of so many spaces, a thousandth as long. */
export function packedSpaces(bytes: number): Buffer {
  const part = deflateRawSync(Buffer.alloc(1_000_000, " "), { finishFlush: constants.Z_FULL_FLUSH });
  return Buffer.concat([...Array.from({ length: bytes / 1_000_000 }, () => part), deflateRawSync("")]);
}

/** `packed`: raw deflate, taken as it is. */
export function zipOf(files: Readonly<Record<string, string | Buffer | { packed: Buffer }>>): Buffer {
  const parts: Buffer[] = [];
  const directory: Buffer[] = [];
  let at = 0;
  for (const [name, content] of Object.entries(files)) {
    const isPacked = typeof content === "object" && "packed" in content;
    const bytes = isPacked ? Buffer.alloc(0) : Buffer.from(content);
    const packed = isPacked ? content.packed : deflateRawSync(bytes);
    const shared = Buffer.alloc(26);
    shared.writeUInt16LE(20, 0);
    shared.writeUInt16LE(8, 4);
    shared.writeUInt32LE(crc32(bytes), 10);
    shared.writeUInt32LE(packed.length, 14);
    shared.writeUInt32LE(isPacked ? 1 : bytes.length, 18);
    shared.writeUInt16LE(Buffer.byteLength(name), 22);
    const local = [Buffer.from("PK\x03\x04"), shared, Buffer.from(name), packed];
    const tail = Buffer.alloc(14);
    tail.writeUInt32LE(at, 10);
    directory.push(Buffer.from("PK\x01\x02"), Buffer.from([20, 0]), shared, tail, Buffer.from(name));
    parts.push(...local);
    at += local.reduce((sum, { length }) => sum + length, 0);
  }
  const entries = Buffer.concat(directory);
  const end = Buffer.alloc(18);
  end.writeUInt16LE(Object.keys(files).length, 4);
  end.writeUInt16LE(Object.keys(files).length, 6);
  end.writeUInt32LE(entries.length, 8);
  end.writeUInt32LE(at, 12);
  return Buffer.concat([...parts, entries, Buffer.from("PK\x05\x06"), end]);
}
