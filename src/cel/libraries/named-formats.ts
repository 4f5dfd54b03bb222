import { type Environment, Optional } from '@marcbachmann/cel-js';
import { checkLabelValue, checkName, checkQualifiedName, type NameRule } from '../../object/text-formats.ts';

type Check = (text: string) => readonly string[];

/** A named format that texts can be checked against. */
class CelFormat {
  readonly name: string;
  readonly check: Check;

  constructor(name: string, check: Check) {
    this.name = name;
    this.check = check;
  }

  equals(other: unknown): boolean {
    return other instanceof CelFormat && other.name === this.name;
  }
}

/** A prefix of a generated name may end in a dash. */
const prefixOf =
  (rule: NameRule): Check =>
  (text) =>
    checkName(text.length > 1 && text.endsWith('-') ? `${text.slice(0, -1)}a` : text, rule);
const nameOf =
  (rule: NameRule): Check =>
  (text) =>
    checkName(text, rule);
const matching =
  (pattern: RegExp, why: string): Check =>
  (text) =>
    pattern.test(text) ? [] : [why];

const UUID = /^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i;
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;
const DATETIME =
  /^\d{4}-\d{2}-\d{2}[Tt ](?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:[.,]\d+)?(?:[Zz]|[+-]\d{2}:?\d{2})$/;

function checkDate(text: string): readonly string[] {
  const date = new Date(`${text}T00:00:00Z`);
  const right = /^\d{4}-\d{2}-\d{2}$/.test(text) && !Number.isNaN(date.getTime());
  return right && date.toISOString().startsWith(text) ? [] : ['invalid date'];
}

const FORMATS: ReadonlyMap<string, CelFormat> = new Map(
  Object.entries<Check>({
    dns1123Label: nameOf('dns-label'),
    dns1123Subdomain: nameOf('dns-subdomain'),
    dns1035Label: nameOf('dns-1035-label'),
    qualifiedName: checkQualifiedName,
    dns1123LabelPrefix: prefixOf('dns-label'),
    dns1123SubdomainPrefix: prefixOf('dns-subdomain'),
    dns1035LabelPrefix: prefixOf('dns-1035-label'),
    labelValue: checkLabelValue,
    uri: (text) => (isRequestUri(text) ? [] : [`parse ${JSON.stringify(text)}: invalid URI for request`]),
    uuid: matching(UUID, 'does not match the UUID format'),
    byte: matching(BASE64, 'invalid base64'),
    date: checkDate,
    datetime: (text) =>
      DATETIME.test(text) && checkDate(text.slice(0, 10)).length === 0 ? [] : ['invalid datetime'],
  }).map(([name, check]) => [name, new CelFormat(name, check)]),
);

/** The namespace in `format.named(…)`. */
class Formats {}

const FORMAT_TYPE = 'kubernetes.NamedFormat';
const NAMESPACE = 'kubernetes.Formats';

/** Formats by their names (Kubernetes: cel/library, format). */
export function registerFormats(environment: Environment): Environment {
  environment
    .registerType(FORMAT_TYPE, CelFormat)
    .registerType(NAMESPACE, Formats)
    .registerConstant('format', NAMESPACE, new Formats())
    .registerOperator(`${FORMAT_TYPE} == ${FORMAT_TYPE}`, (a: CelFormat, b: CelFormat) => a.equals(b))
    .registerFunction(`${NAMESPACE}.named(string): optional<${FORMAT_TYPE}>`, (_: Formats, name: string) =>
      toOptional(FORMATS.get(name)),
    )
    .registerFunction(
      `${FORMAT_TYPE}.validate(string): optional<list<string>>`,
      (format: CelFormat, text: string) => {
        const reasons = format.check(text);
        return toOptional(reasons.length === 0 ? undefined : [...reasons]);
      },
    );
  for (const [name, format] of FORMATS)
    environment.registerFunction(`${NAMESPACE}.${name}(): ${FORMAT_TYPE}`, () => format);
  return environment;
}

const toOptional = (value: unknown): Optional => (value === undefined ? Optional.none() : Optional.of(value));

/** A URL as Go reads the target of a request: absolute, or an absolute path. */
class CelUrl {
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
const URL_TYPE = 'kubernetes.URL';

const FRAGMENT = /#.*$/s;

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

const isRequestUri = (text: string): boolean => parse(text) !== undefined;

/** Uniform resource locators (Kubernetes: cel/library, urls). */
export const registerUrls = (environment: Environment): Environment =>
  environment
    .registerType(URL_TYPE, CelUrl)
    .registerOperator(`${URL_TYPE} == ${URL_TYPE}`, (a: CelUrl, b: CelUrl) => a.equals(b))
    .registerFunction(`url(string): ${URL_TYPE}`, (text: string) => {
      const url = parse(text);
      if (url !== undefined) return parse(text.replace(FRAGMENT, '')) ?? url;
      const why = `parse ${JSON.stringify(text)}: invalid URI for request`;
      throw new Error(`URL parse error during conversion from string: ${why}`);
    })
    .registerFunction('isURL(string): bool', isRequestUri)
    .registerFunction(`${URL_TYPE}.getScheme(): string`, ({ scheme }: CelUrl) => scheme)
    .registerFunction(`${URL_TYPE}.getHost(): string`, ({ host }: CelUrl) => host)
    .registerFunction(`${URL_TYPE}.getHostname(): string`, ({ hostname }: CelUrl) => hostname)
    .registerFunction(`${URL_TYPE}.getPort(): string`, ({ port }: CelUrl) => port)
    .registerFunction(`${URL_TYPE}.getEscapedPath(): string`, ({ path }: CelUrl) => escapePath(path))
    .registerFunction(`${URL_TYPE}.getQuery(): map<string, list<string>>`, ({ query }: CelUrl) =>
      queryOf(query),
    );

/** Escapes a path, without escaping it twice. */
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
