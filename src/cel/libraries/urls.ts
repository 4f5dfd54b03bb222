import type { Environment } from '@marcbachmann/cel-js';

/** A URL as Go reads the target of a request: absolute, or an absolute path; what follows a `#` is no part of its own. */
export class CelUrl {
  readonly scheme: string;
  readonly host: string;
  readonly path: string;
  readonly query: string;

  constructor(scheme: string, host: string, path: string, query: string) {
    this.scheme = scheme;
    this.host = host;
    this.path = path;
    this.query = query;
  }

  equals(other: unknown): boolean {
    return (
      other instanceof CelUrl &&
      other.scheme === this.scheme &&
      other.host === this.host &&
      other.path === this.path &&
      other.query === this.query
    );
  }

  get port(): string {
    return PORT.exec(this.host)?.[1] ?? '';
  }

  get hostname(): string {
    const host = this.host.replace(PORT, '');
    return host.startsWith('[') && host.endsWith(']') ? host.slice(1, -1) : host;
  }
}

const PORT = /:(\d*)$/;
const PARTS = /^(?:([A-Za-z][A-Za-z0-9+.-]*):)?(?:\/\/(?:[^@/?]*@)?([^/?]*))?([^?]*)(?:\?(.*))?$/s;
/** A name or an IPv4 address, or an IPv6 address in brackets; then perhaps a port. */
const HOST = /^(?:\[[0-9A-Fa-f:.%]+\]|[^\s[\]:"<>\\^`{|}]*)(?::\d*)?$/;
const TYPE = 'kubernetes.URL';

/** Undefined when the text is no URL. */
function parse(text: string): CelUrl | undefined {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: those are what is not allowed
  if (text === '' || /[\x00-\x1f\x7f]/.test(text)) return undefined;
  const [, scheme = '', host = '', path = '', query = ''] = PARTS.exec(text) ?? [];
  const rooted = path === '' || path.startsWith('/');
  if (scheme === '' && (!text.startsWith('/') || !rooted)) return undefined;
  if (!HOST.test(host) || /%(?![0-9A-Fa-f]{2})/.test(path)) return undefined;
  return new CelUrl(scheme.toLowerCase(), host, path, query);
}

export const isRequestUri = (text: string): boolean => parse(text) !== undefined;

/** Uniform resource locators (Kubernetes: cel/library, urls). */
export const registerUrls = (environment: Environment): Environment =>
  environment
    .registerType(TYPE, CelUrl)
    .registerOperator(`${TYPE} == ${TYPE}`, (a: CelUrl, b: CelUrl) => a.equals(b))
    .registerFunction(`url(string): ${TYPE}`, (text: string) => {
      const url = parse(text);
      if (url !== undefined) return url;
      const why = `parse ${JSON.stringify(text)}: invalid URI for request`;
      throw new Error(`URL parse error during conversion from string: ${why}`);
    })
    .registerFunction('isURL(string): bool', isRequestUri)
    .registerFunction(`${TYPE}.getScheme(): string`, ({ scheme }: CelUrl) => scheme)
    .registerFunction(`${TYPE}.getHost(): string`, ({ host }: CelUrl) => host)
    .registerFunction(`${TYPE}.getHostname(): string`, ({ hostname }: CelUrl) => hostname)
    .registerFunction(`${TYPE}.getPort(): string`, ({ port }: CelUrl) => port)
    .registerFunction(`${TYPE}.getEscapedPath(): string`, ({ path }: CelUrl) => escapePath(path))
    .registerFunction(`${TYPE}.getQuery(): map<string, list<string>>`, ({ query }: CelUrl) => queryOf(query));

/** Escapes what must be, and leaves alone what is. */
const escapePath = (path: string): string =>
  path.replaceAll(/%[0-9A-Fa-f]{2}|[^%A-Za-z0-9\-_.~!$&'()*+,;=:@/]+/g, (found) =>
    found.startsWith('%') ? found : encodeURIComponent(found),
  );

function queryOf(query: string): Map<string, string[]> {
  const values = new Map<string, string[]>();
  for (const [key, value] of new URLSearchParams(query)) {
    const known = values.get(key);
    if (known === undefined) values.set(key, [value]);
    else known.push(value);
  }
  return values;
}
