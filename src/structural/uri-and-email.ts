import { parseIp } from '../object/ip.ts';

/** Validates addresses as Go's parsers do: net/url.ParseRequestURI and net/mail.ParseAddress. */

const SCHEME = /^[a-zA-Z][a-zA-Z0-9+.-]*:/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: the parser refuses these.
const CONTROL = /[\0-\x1f\x7f]/;
const BAD_ESCAPE = /%(?![0-9a-fA-F]{2})/;

/** An absolute URI, or an absolute path. A `#` begins no fragment here. */
export function isRequestUri(text: string): boolean {
  if (text === '' || CONTROL.test(text)) return false;
  if (text === '*') return true;
  const scheme = SCHEME.exec(text)?.[0] ?? '';
  if (text.startsWith(':')) return false;
  const [rest = ''] = text.slice(scheme.length).split('?');
  if (!rest.startsWith('/')) return scheme !== '';
  if (scheme === '' || !rest.startsWith('//')) return !BAD_ESCAPE.test(rest);
  const path = rest.indexOf('/', 2);
  const authority = path < 0 ? rest.slice(2) : rest.slice(2, path);
  return isAuthority(authority) && (path < 0 || !BAD_ESCAPE.test(rest.slice(path)));
}

const USER = /^[A-Za-z0-9\-._:~!$&'()*+,;=%@]*$/;
const PORT = /^(?::\d*)?$/;

function isAuthority(authority: string): boolean {
  const at = authority.lastIndexOf('@');
  const user = authority.slice(0, Math.max(at, 0));
  if (!USER.test(user) || BAD_ESCAPE.test(user)) return false;
  return isHost(authority.slice(at + 1));
}

function isHost(host: string): boolean {
  if (host.startsWith('[')) {
    const end = host.lastIndexOf(']');
    if (end < 0 || !PORT.test(host.slice(end + 1))) return false;
    const zone = host.indexOf('%25');
    const address = host.slice(1, zone >= 0 && zone < end ? zone : end);
    return !/[\s#@\\^`{|}]/.test(address) && !BAD_ESCAPE.test(host.slice(zone < 0 ? end : zone, end));
  }
  const colon = host.lastIndexOf(':');
  if (colon >= 0 && !PORT.test(host.slice(colon))) return false;
  // In a host, an escape stands for a character that is not ASCII.
  return !/[\s#@\\^`{|}]/.test(host) && !/%(?!25|[89a-fA-F][0-9a-fA-F])/.test(host);
}

const ATOM = "[\\p{L}\\p{N}\\p{M}\\p{S}\\p{P}!#$%&'*+/=?^_`{|}~-]";
const SPECIAL = '()<>[]:;@\\\\,."';
const ATEXT = `(?:(?![${SPECIAL.replace(/[[\]]/g, '\\$&')}])${ATOM})`;
const DOT_ATOM = `${ATEXT}+(?:\\.${ATEXT}+)*`;
const QUOTED = '"(?:[^"\\\\\\r\\n]|\\\\.)*"';
const LITERAL = '\\[([^\\[\\]\\\\]*)\\]';
const ADDRESS = new RegExp(`^(?:${DOT_ATOM}|${QUOTED})@(?:${DOT_ATOM}|${LITERAL})$`, 'u');
const NAMED = new RegExp(
  `^(?:(?:${ATEXT}|\\.)+|${QUOTED})?(?:[ \\t]+(?:(?:${ATEXT}|\\.)+|${QUOTED}))*[ \\t]*<([^<>]*)>$`,
  'u',
);

/** Longer ones are no addresses: RFC 5321, section 4.5.3.1, allows a quarter of it. */
const MAX_EMAIL_CHARS = 1024;

/** `name@example.com`, `Some One <name@example.com>` (RFC 5322, section 3.4). */
export function isEmail(text: string): boolean {
  if (text.length > MAX_EMAIL_CHARS) return false;
  const trimmed = text.replace(/^[ \t]+|[ \t]+$/g, '');
  const match = ADDRESS.exec(NAMED.exec(trimmed)?.[1]?.trim() ?? trimmed);
  if (match === null) return false;
  const [, literal] = match;
  return literal === undefined || parseIp(literal.replace(/^IPv6:/i, '')) !== undefined;
}
