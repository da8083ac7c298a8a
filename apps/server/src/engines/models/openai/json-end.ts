/** Finds the end of a JSON object, list or text that arrives in pieces. */
export class JsonEnd {
  #depth = 0;
  #isInText = false;
  #isEscaped = false;
  isReached = false;

  read(piece: string): void {
    for (const character of piece) {
      if (this.isReached) return;
      if (this.#isInText) this.#readText(character);
      else this.#readStructure(character);
    }
  }

  #readText(character: string): void {
    if (this.#isEscaped) this.#isEscaped = false;
    else if (character === "\\") this.#isEscaped = true;
    else if (character === '"') {
      this.#isInText = false;
      this.isReached = this.#depth === 0;
    }
  }

  #readStructure(character: string): void {
    if (character === '"') this.#isInText = true;
    else if (character === "{" || character === "[") this.#depth += 1;
    else if (character === "}" || character === "]") {
      this.#depth -= 1;
      this.isReached = this.#depth <= 0;
    }
  }
}
