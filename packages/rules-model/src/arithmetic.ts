const inWords: readonly (readonly [RegExp, string])[] = [
  [/\bsum of\s+(-?[\d.]+)\s+and\s+(-?\d[\d.]*)/gi, "$1 + $2"],
  [/\bproduct of\s+(-?[\d.]+)\s+and\s+(-?\d[\d.]*)/gi, "$1 * $2"],
  [/\bdifference (?:of|between)\s+(-?[\d.]+)\s+and\s+(-?\d[\d.]*)/gi, "$1 - $2"],
  [/\b(?:multiplied by|times)\b/gi, "*"],
  [/\bdivided by\b/gi, "/"],
  [/\bto the power of\b/gi, "^"],
  [/\bplus\b/gi, "+"],
  [/\bminus\b/gi, "-"],
  [/\b(?:mod|modulo)\b/gi, "%%"],
  [/(\d)\s*(?:%|percent)\s+of\b/gi, "$1/100*"],
  [/[×·]/g, "*"],
  [/÷/g, "/"],
  [/[−–]/g, "-"],
  [/\*\*/g, "^"],
  [/(\d),(?=\d{3}\b)/g, "$1"],
];

const longestExpression = 200;

/** The first calculation in a text. */
export function calculationIn(text: string): { expression: string; result: number } | undefined {
  let plain = text.slice(0, 2000);
  for (const [pattern, sign] of inWords) plain = plain.replace(pattern, sign);
  // A date is not a subtraction.
  plain = plain.replace(/\d{4}-\d{2}-\d{2}/g, " ");
  const rooted = /square root of\s+(\d+(?:\.\d+)?)/i.exec(plain);
  if (rooted) return { expression: `sqrt(${rooted[1]})`, result: Math.sqrt(Number(rooted[1])) };
  for (const [found] of plain.matchAll(/[\d(.][\d\s.()+\-*/^%]*/g)) {
    const expression = trimmed(found);
    if (expression.length > longestExpression || !/\d\s*[+\-*/^%]+\s*[(\-.\d]/.test(expression)) continue;
    const result = evaluate(expression);
    if (result !== undefined) return { expression, result };
  }
  return undefined;
}

function trimmed(found: string): string {
  let expression = found.trim().replace(/[.+\-*/^%\s]+$/, "");
  // The bracket may belong to the sentence.
  const opened = expression.split("(").length;
  const closed = expression.split(")").length;
  if (closed > opened && expression.endsWith(")")) expression = expression.slice(0, -1);
  return expression;
}

/** + - * / ^ %% (remainder) and brackets, by precedence. */
function evaluate(expression: string): number | undefined {
  const tokens = expression.match(/\d+(?:\.\d+)?|\.\d+|%%|[()+\-*/^%]/g) ?? [];
  let at = 0;

  function sum(): number {
    let value = product();
    for (let sign = tokens[at]; sign === "+" || sign === "-"; sign = tokens[at]) {
      at++;
      const right = product();
      value = sign === "+" ? value + right : value - right;
    }
    return value;
  }

  function product(): number {
    let value = power();
    for (let sign = tokens[at]; sign === "*" || sign === "/" || sign === "%" || sign === "%%"; sign = tokens[at]) {
      at++;
      const right = power();
      value = sign === "*" ? value * right : sign === "/" ? value / right : value % right;
    }
    return value;
  }

  function power(): number {
    const base = single();
    if (tokens[at] !== "^") return base;
    at++;
    return base ** power();
  }

  function single(): number {
    const token = tokens[at++];
    if (token === "-") return -power();
    if (token === "+") return single();
    if (token === "(") {
      const value = sum();
      return tokens[at++] === ")" ? value : Number.NaN;
    }
    return token === undefined ? Number.NaN : Number(token);
  }

  const value = sum();
  // 1/0 is a calculation without a finite result; NaN means that the text is not a calculation.
  return at < tokens.length || Number.isNaN(value) ? undefined : value;
}

/** Removes rounding errors of binary fractions: 0.1 + 0.2 is 0.3. */
export function plainNumber(value: number): number {
  return Number.isInteger(value) ? value : Number(value.toPrecision(15));
}

export function numberText(value: number): string {
  if (!Number.isFinite(value)) return "not a number: it divides by zero or is too large";
  // Larger values have lost their last digits.
  if (Math.abs(value) > Number.MAX_SAFE_INTEGER) return `about ${value.toPrecision(12)}`;
  return String(plainNumber(value));
}
