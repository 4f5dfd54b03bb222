import { RE2JS } from 're2js';

/** Headers that depend only on the request's origin and the server's settings. */
export interface ResponsePolicy {
  /** --strict-transport-security-directives, joined; '' adds none. */
  readonly strictTransportSecurity: string;
  /** --cors-allowed-origins */
  readonly allowedOrigins: readonly string[];
}

type HeaderMap = Readonly<Record<string, string>>;

const NONE: HeaderMap = {};

const CORS: HeaderMap = {
  'access-control-allow-methods': 'POST, GET, OPTIONS, PUT, DELETE, PATCH',
  'access-control-allow-headers':
    'Content-Type, Content-Length, Accept-Encoding, X-CSRF-Token, Authorization, X-Requested-With, If-Modified-Since',
  'access-control-expose-headers': 'Date',
  'access-control-allow-credentials': 'true',
};

/** Returns the headers to add, and whether the origin is allowed. */
export type HeaderChooser = (origin: string | undefined) => {
  readonly headers: HeaderMap;
  readonly allowed: boolean;
};

/** Whether --cors-allowed-origins names an origin. RE2 matches any in linear time. @throws Error for an invalid pattern */
export function createOriginMatcher(allowedOrigins: readonly string[]): (origin: string) => boolean {
  const patterns = allowedOrigins.map((pattern) => RE2JS.compile(pattern));
  return (origin) => patterns.some((pattern) => pattern.matcher(origin).find());
}

/** @throws Error for an invalid pattern */
export function createHeaderChooser({
  strictTransportSecurity,
  allowedOrigins,
}: ResponsePolicy): HeaderChooser {
  const base: HeaderMap =
    strictTransportSecurity === '' ? NONE : { 'strict-transport-security': strictTransportSecurity };
  const allows = createOriginMatcher(allowedOrigins);
  const plain = { headers: base, allowed: false };
  return (origin) => {
    if (origin === undefined || !allows(origin)) return plain;
    // The answer depends on the origin, so a cache must not use it for another origin.
    const headers = { ...base, ...CORS, 'access-control-allow-origin': origin, vary: 'Origin' };
    return { headers, allowed: true };
  };
}

/**
 * Warnings of one response, 4096 characters at most. When they would exceed that, each is cut to 256 characters, and those that
 * still do not fit are left out (Kubernetes: apiserver/pkg/endpoints/filters/warning.go): a proxy that has no room for all
 * headers drops the whole answer.
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
    // A longer text could not be shown whole.
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

/** Never cuts a surrogate pair. */
function cut(text: string, chars: number): string {
  if (text.length <= chars) return text;
  const end = (text.charCodeAt(chars - 1) & 0xfc00) === 0xd800 ? chars - 1 : chars;
  return text.slice(0, end);
}
