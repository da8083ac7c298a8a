const alphabetEnd = /={1,2}$/;

/** What arrived is no base64: a foreign character, padding in the middle, or cut in the middle of a group. */
class Base64Error extends Error {
  override name = "Base64Error";
}

/**
 * Decodes base64 that arrives in pieces. Node's own decoder skips what it does not understand, so a damaged or cut text
 * would quietly become a damaged file: here every group of four is accounted for. White space between is allowed.
 */
export class Base64Decoder {
  #rest = "";
  #padded = false;

  push(piece: string): Buffer {
    const text = this.#rest + (/\s/.test(piece) ? piece.replace(/\s+/g, "") : piece);
    const whole = text.length - (text.length % 4);
    this.#rest = text.slice(whole);
    if (whole === 0) return Buffer.alloc(0);
    if (this.#padded) throw new Base64Error("The base64 text goes on after its padding");
    const groups = text.slice(0, whole);
    const padding = alphabetEnd.exec(groups)?.[0].length ?? 0;
    this.#padded = padding > 0;
    const bytes = Buffer.from(groups, "base64");
    if (bytes.length !== (whole / 4) * 3 - padding) throw new Base64Error("The text is no base64");
    return bytes;
  }

  /** Must be called at the end: a rest means that the text was cut. */
  end(): void {
    if (this.#rest !== "") throw new Base64Error("The base64 text ends in the middle of a group");
  }
}
