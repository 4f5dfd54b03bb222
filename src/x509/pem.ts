/** A block of PEM (RFC 1421, RFC 7468). */
export interface PemBlock {
  /** `CERTIFICATE` */
  readonly type: string;
  readonly hasHeaders: boolean;
  readonly der: Buffer;
}

const BEGIN = '-----BEGIN ';
const END = '-----END ';
const DASHES = '-----';
const BASE64 = /[A-Za-z0-9+/= \t\r\n]*/y;

/**
 * The blocks of a text, as Go's pem.Decode reads them: text around blocks and malformed blocks are skipped. This is the only
 * reader of PEM from callers: if two readers disagreed about the first block, a request would be checked as one thing and served
 * as another. Its time is linear in the length of the text.
 */
export function* pemBlocks(text: string): Generator<PemBlock> {
  // Many beginnings may stand before one end, which is read once.
  let nextEnd: EndOfBlock | undefined = { at: -1, line: '', next: 0 };
  const endAfter = (from: number): EndOfBlock | undefined => {
    if (nextEnd !== undefined && nextEnd.at <= from) nextEnd = endFrom(text, from);
    return nextEnd;
  };
  for (let at = lineWith(text, BEGIN, 0); at >= 0; ) {
    const { line, next } = lineAt(text, at);
    if (line.length < BEGIN.length + DASHES.length || !line.endsWith(DASHES)) {
      at = lineWith(text, BEGIN, next);
      continue;
    }
    const type = line.slice(BEGIN.length, -DASHES.length);
    const start = skipHeaders(text, next);
    at = lineWith(text, BEGIN, start);
    const isEmpty = start === next && text.startsWith(END, start);
    const end = isEmpty ? { at: start, ...lineAt(text, start) } : endAfter(start);
    if (end === undefined) return;
    if (end.line !== `${END}${type}${DASHES}`) continue;
    const der = decode(text, start, end.at);
    if (der === undefined) continue;
    yield { type, hasHeaders: start !== next, der };
    at = lineWith(text, BEGIN, end.next);
  }
}

/** The first block, for callers that expect one. */
export function firstPemBlock(text: string): PemBlock | undefined {
  return pemBlocks(text).next().value ?? undefined;
}

/** DER of the certificates in a text; other blocks and blocks with headers are skipped, as in Go. */
export const certificatesIn = (text: string): Buffer[] =>
  [...pemBlocks(text)]
    .filter(({ type, hasHeaders }) => type === 'CERTIFICATE' && !hasHeaders)
    .map(({ der }) => der);

/** Writes a block that every reader (also OpenSSL's) reads alike. */
export function toPem(type: string, der: Buffer): string {
  const lines = der.toString('base64').match(/.{1,64}/g) ?? [];
  return [`${BEGIN}${type}${DASHES}`, ...lines, `${END}${type}${DASHES}`, ''].join('\n');
}

/** A bundle of certificates without any other text. */
export const toBundle = (certificates: readonly Buffer[]): string =>
  certificates.map((der) => toPem('CERTIFICATE', der)).join('');

interface EndOfBlock extends Line {
  /** Its offset. */
  readonly at: number;
}

/** The first line behind `from` that ends a block; not the one at `from` itself. */
function endFrom(text: string, from: number): EndOfBlock | undefined {
  const feed = text.indexOf(`\n${END}`, from);
  return feed < 0 ? undefined : { at: feed + 1, ...lineAt(text, feed + 1) };
}

/** The offset of the next line that begins with `beginning`; -1 for none. */
function lineWith(text: string, beginning: string, from: number): number {
  if (text.startsWith(beginning, from)) return from;
  const at = text.indexOf(`\n${beginning}`, from);
  return at < 0 ? -1 : at + 1;
}

interface Line {
  /** Without its line end and the spaces before it. */
  readonly line: string;
  /** The offset of the next line. */
  readonly next: number;
}

function lineAt(text: string, from: number): Line {
  const feed = text.indexOf('\n', from);
  const whole = feed < 0 ? text.length : feed;
  let end = whole > from && text.charCodeAt(whole - 1) === RETURN ? whole - 1 : whole;
  while (end > from && isBlank(text.charCodeAt(end - 1))) end -= 1;
  return { line: text.slice(from, end), next: feed < 0 ? text.length : feed + 1 };
}

const [TAB, RETURN, SPACE] = [9, 13, 32];
const isBlank = (code: number): boolean => code === SPACE || code === TAB;

/** `Proc-Type: 4,ENCRYPTED`: every line with a colon, up to the first without. */
function skipHeaders(text: string, from: number): number {
  let at = from;
  while (at < text.length) {
    const feed = text.indexOf('\n', at);
    const end = feed < 0 ? text.length : feed;
    if (!text.slice(at, end).includes(':')) break;
    at = feed < 0 ? end : feed + 1;
  }
  return at;
}

/** Undefined: invalid base64. */
function decode(text: string, start: number, end: number): Buffer | undefined {
  BASE64.lastIndex = start;
  BASE64.test(text);
  if (BASE64.lastIndex < end) return undefined;
  const digits = text.slice(start, end).replace(/[ \t\r\n]+/g, '');
  const padding = digits.indexOf('=');
  const isWhole = digits.length % 4 === 0 && (padding < 0 || /^={1,2}$/.test(digits.slice(padding)));
  return isWhole ? Buffer.from(digits, 'base64') : undefined;
}
