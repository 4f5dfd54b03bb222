import { RE2JS } from 're2js';

/** Headers that depend on nothing but the request's origin and the server's settings. */
export interface ResponsePolicy {
  /** --strict-transport-security-directives, joined; '' adds none. */
  readonly strictTransportSecurity: string;
  /** --cors-allowed-origins */
  readonly allowedOrigins: readonly string[];
}

export type HeaderMap = Readonly<Record<string, string>>;

const NONE: HeaderMap = {};

const CORS: HeaderMap = {
  'access-control-allow-methods': 'POST, GET, OPTIONS, PUT, DELETE, PATCH',
  'access-control-allow-headers':
    'Content-Type, Content-Length, Accept-Encoding, X-CSRF-Token, Authorization, X-Requested-With, If-Modified-Since',
  'access-control-expose-headers': 'Date',
  'access-control-allow-credentials': 'true',
};

/** Answers the headers to add, and whether the origin is one of those allowed. */
export type HeaderChooser = (origin: string | undefined) => {
  readonly headers: HeaderMap;
  readonly allowed: boolean;
};

/** The patterns are RE2's, which match in linear time whatever an origin looks like. @throws Error for one that is wrong */
export function createHeaderChooser({
  strictTransportSecurity,
  allowedOrigins,
}: ResponsePolicy): HeaderChooser {
  const base: HeaderMap =
    strictTransportSecurity === '' ? NONE : { 'strict-transport-security': strictTransportSecurity };
  const patterns = allowedOrigins.map((pattern) => RE2JS.compile(pattern));
  const plain = { headers: base, allowed: false };
  return (origin) => {
    if (origin === undefined || patterns.length === 0) return plain;
    if (!patterns.some((pattern) => pattern.matcher(origin).find())) return plain;
    // The answer depends on the origin, so no cache may give it to another one.
    const headers = { ...base, ...CORS, 'access-control-allow-origin': origin, vary: 'Origin' };
    return { headers, allowed: true };
  };
}
