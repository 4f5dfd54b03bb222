import type { Credentials } from './authenticator.ts';

/**
 * Every value of a header that may be sent more than once, in order. The parsed headers join them with commas, and a comma
 * may be part of a value.
 */
export function headerValues({ raw }: Pick<Credentials, 'raw'>, name: string): string[] {
  return headerEntries({ raw }, (header) => header === name.toLowerCase()).map(([, value]) => value);
}

/** Names in lower case, with values. */
export function headerEntries(
  { raw }: Pick<Credentials, 'raw'>,
  wanted: (name: string) => boolean,
): [string, string][] {
  const found: [string, string][] = [];
  for (let at = 0; at + 1 < raw.headers.length; at += 2) {
    const name = (raw.headers[at] ?? '').toLowerCase();
    if (wanted(name)) found.push([name, raw.headers[at + 1] ?? '']);
  }
  return found;
}

/** Keys of extra values travel percent-encoded, because a header's name has few characters. */
export function decodeExtraKey(encoded: string): string {
  try {
    return decodeURIComponent(encoded);
  } catch {
    return encoded;
  }
}
