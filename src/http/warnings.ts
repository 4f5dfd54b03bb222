/**
 * Warnings of one response. Together they have 4096 characters at most; when they would have more, each is cut to 256, and
 * what does not fit even so is left out (Kubernetes: apiserver/pkg/endpoints/filters/warning.go). A proxy that meets more
 * headers than it has room for drops the whole answer.
 */
const MAX_CHARS = 4096;
const MAX_CUT_CHARS = 256;

export class Warnings {
  readonly #texts = new Set<string>();
  #chars = 0;
  #cuts = false;
  #isFull = false;

  add(text: string): void {
    if (text === '' || this.#isFull || this.#texts.has(text)) return;
    // No more of a text than can be shown is kept.
    const kept = cut(text, MAX_CHARS);
    if (this.#chars + kept.length > MAX_CHARS) this.#cuts = true;
    this.#texts.add(kept);
    this.#chars = 0;
    for (const one of this.shown()) this.#chars += one.length;
    this.#isFull = this.#cuts && this.#chars >= MAX_CHARS;
  }

  /** In the order in which they came. */
  shown(): string[] {
    const texts = [...this.#texts];
    return this.#cuts ? texts.map((text) => cut(text, MAX_CUT_CHARS)) : texts;
  }
}

/** Never between the halves of a character. */
function cut(text: string, chars: number): string {
  if (text.length <= chars) return text;
  const end = (text.charCodeAt(chars - 1) & 0xfc00) === 0xd800 ? chars - 1 : chars;
  return text.slice(0, end);
}
