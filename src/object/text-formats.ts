import { parseCidr, parseIp } from './ip.ts';

/**
 * Formats that many resources share (apimachinery, util/validation/validation.go). Clients match the texts. Each function
 * returns the reasons why a value is invalid; an empty list means that it is valid.
 */

/** Rules for names: RFC 1123, RFC 1035, and the looser one that only keeps a name usable as a path segment. */
export type NameRule = 'dns-subdomain' | 'dns-label' | 'dns-1035-label' | 'path-segment';

/** The result for every valid value. */
const GOOD: readonly string[] = Object.freeze([]);

const DNS_1035 = /^[a-z]([-a-z0-9]*[a-z0-9])?$/;

const MAX_LABEL_CHARS = 63;
const MAX_SUBDOMAIN_CHARS = 253;
const SUBDOMAIN_TEXT =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an " +
  "alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
const LABEL_TEXT =
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an " +
  "alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
const LABEL_1035_TEXT =
  "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an " +
  "alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')";
const QUALIFIED_TEXT =
  "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character " +
  "(e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
const VALUE_TEXT =
  "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an " +
  "alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";

/** A subdomain breaks the rule by its dots alone (Kubernetes: util/validation, IsDNS1123Label). */
function notDnsLabel(name: string): readonly string[] {
  if (isDnsLabel(name)) return GOOD;
  return [isDnsSubdomain(name) ? 'must not contain dots' : LABEL_TEXT];
}

export function checkName(name: string, rule: NameRule): readonly string[] {
  switch (rule) {
    case 'dns-label':
      if (name.length <= MAX_LABEL_CHARS && isDnsLabel(name)) return GOOD;
      return [...longerThan(name, MAX_LABEL_CHARS), ...notDnsLabel(name)];
    case 'dns-1035-label':
      return [...longerThan(name, MAX_LABEL_CHARS), ...(DNS_1035.test(name) ? [] : [LABEL_1035_TEXT])];
    case 'dns-subdomain':
      if (name.length <= MAX_SUBDOMAIN_CHARS && isDnsSubdomain(name)) return GOOD;
      return [...longerThan(name, MAX_SUBDOMAIN_CHARS), ...(isDnsSubdomain(name) ? [] : [SUBDOMAIN_TEXT])];
    case 'path-segment':
      return checkPathSegment(name);
    default:
      return rule satisfies never;
  }
}

const SEARCH_DOMAIN = /^_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?(\._?[a-z0-9]([-_a-z0-9]*[a-z0-9])?)*$/;
const SEARCH_DOMAIN_TEXT =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '_', '-' or '.', and must start and end with " +
  "an alphanumeric character (e.g. 'example.com', regex used for validation is '_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?(\\._?[a-z0-9]([-_a-z0-9]*[a-z0-9])?)*')";

/** A domain in which a resolver searches names. Those of services may begin with an underscore. */
export const checkSearchDomain = (name: string): readonly string[] => [
  ...longerThan(name, MAX_SUBDOMAIN_CHARS),
  ...(SEARCH_DOMAIN.test(name) ? [] : [SEARCH_DOMAIN_TEXT]),
];

function checkPathSegment(name: string): string[] {
  if (name === '.' || name === '..') return [`may not be '${name}'`];
  return ['/', '%'].filter((part) => name.includes(part)).map((part) => `may not contain '${part}'`);
}

const longerThan = (text: string, most: number): string[] =>
  text.length > most ? [`must be no more than ${most} characters`] : [];

export function checkLabelValue(value: string): readonly string[] {
  if (value.length <= MAX_LABEL_CHARS && isQualifiedPart(value)) return GOOD;
  return [
    ...longerThan(value, MAX_LABEL_CHARS),
    ...(value === '' || isQualifiedPart(value) ? [] : [VALUE_TEXT]),
  ];
}

/** `prefix/name` or `name`. */
export function checkQualifiedName(key: string): readonly string[] {
  if (isQualifiedName(key)) return GOOD;
  const [first = '', second, ...more] = key.split('/');
  if (more.length > 0)
    return [
      `a qualified name ${QUALIFIED_TEXT} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`,
    ];
  const name = second ?? first;
  const errors: string[] = [];
  if (second !== undefined) {
    if (first === '') errors.push('prefix part must be non-empty');
    else errors.push(...checkName(first, 'dns-subdomain').map((why) => `prefix part ${why}`));
  }
  if (name === '') errors.push('name part must be non-empty');
  if (name.length > MAX_LABEL_CHARS)
    errors.push(`name part must be no more than ${MAX_LABEL_CHARS} characters`);
  if (!isQualifiedPart(name)) errors.push(`name part ${QUALIFIED_TEXT}`);
  return errors;
}

function isQualifiedName(key: string): boolean {
  const slash = key.indexOf('/');
  const start = slash + 1;
  if (key.length - start > MAX_LABEL_CHARS || !isQualifiedPart(key, start)) return false;
  return slash < 0 || (slash <= MAX_SUBDOMAIN_CHARS && isDnsSubdomain(key, slash));
}

/** 1 to 65535. */
/** `acme.io/foo`. Each problem with the part that it is about. */
export function checkDomainPrefixedPath(text: string): { readonly value: string; readonly why: string }[] {
  const [domain = '', ...rest] = text.split('/');
  const path = rest.join('/');
  if (domain === '' || path === '')
    return [{ value: text, why: 'must be a domain-prefixed path (such as "acme.io/foo")' }];
  const problems = checkName(domain, 'dns-subdomain').map((why) => ({ value: domain, why }));
  return /^[A-Za-z0-9/\-._~%!$&'()*+,;=:]+$/.test(path)
    ? problems
    : [...problems, { value: path, why: 'Invalid path' }];
}

export function checkPort(port: number): readonly string[] {
  return Number.isInteger(port) && port >= 1 && port <= MAX_PORT
    ? GOOD
    : [`must be between 1 and ${MAX_PORT}, inclusive`];
}

const MAX_PORT = 65535;
const MAX_PORT_NAME_CHARS = 15;
const PORT_NAME = /^(?=.*[a-z])[a-z0-9]+(-[a-z0-9]+)*$/;

/** Names of ports: IANA service names (RFC 6335, section 5.1). */
export function checkPortName(name: string): readonly string[] {
  if (name.length <= MAX_PORT_NAME_CHARS && PORT_NAME.test(name)) return GOOD;
  const errors: string[] = [];
  if (name.length > MAX_PORT_NAME_CHARS)
    errors.push(`must be no more than ${MAX_PORT_NAME_CHARS} characters`);
  if (!/^[-a-z0-9]+$/.test(name))
    errors.push('must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)');
  if (!/[a-z]/.test(name)) errors.push('must contain at least one letter (a-z)');
  if (name.includes('--')) errors.push('must not contain consecutive hyphens');
  if (name.startsWith('-') || name.endsWith('-')) errors.push('must not begin or end with a hyphen');
  return errors;
}

export function checkIp(address: string): readonly string[] {
  return parseIp(address) === undefined
    ? ['must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)']
    : GOOD;
}

/** `10.0.0.0/8`, `2001:db8::/32`. */
export function checkCidr(range: string): readonly string[] {
  return parseCidr(range) === undefined
    ? ['must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)']
    : GOOD;
}

export function checkPercent(text: string): string[] {
  return /^[0-9]+%$/.test(text)
    ? []
    : [
        "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')",
      ];
}

/** Keys of config maps and secrets. */
export function checkConfigMapKey(key: string): string[] {
  const errors = longerThan(key, MAX_SUBDOMAIN_CHARS);
  if (!/^[-._a-zA-Z0-9]+$/.test(key)) {
    errors.push(
      "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')",
    );
  }
  if (key === '.') errors.push("must not be '.'");
  else if (key === '..') errors.push("must not be '..'");
  else if (key.startsWith('..')) errors.push("must not start with '..'");
  return errors;
}

const ENVIRONMENT_NAME = /^[-._a-zA-Z][-._a-zA-Z0-9]*$/;

/** Names of environment variables while the feature RelaxedEnvironmentVariableValidation is off. */
export function checkEnvironmentName(name: string): readonly string[] {
  if (ENVIRONMENT_NAME.test(name) && !name.startsWith('.')) return GOOD;
  const errors: string[] = [];
  if (!ENVIRONMENT_NAME.test(name)) {
    errors.push(
      "a valid environment variable name must consist of alphabetic characters, digits, '_', '-', or '.', and must not start with a digit (e.g. 'my.env-name',  or 'MY_ENV.NAME',  or 'MyEnvName1', regex used for validation is '[-._a-zA-Z][-._a-zA-Z0-9]*')",
    );
  }
  if (name === '.') errors.push("must not be '.'");
  else if (name === '..') errors.push("must not be '..'");
  else if (name.startsWith('..')) errors.push("must not start with '..'");
  return errors;
}

/** Names of environment variables while the feature RelaxedEnvironmentVariableValidation is on. */
export const checkRelaxedEnvironmentName = (name: string): readonly string[] =>
  /^[ -<>-~]*$/.test(name)
    ? GOOD
    : ["a valid environment variable name must consist only of printable ASCII characters other than '='"];

export function checkHttpHeaderName(name: string): string[] {
  return /^[-A-Za-z0-9]+$/.test(name)
    ? []
    : [
        "a valid HTTP header must consist of alphanumeric characters or '-' (e.g. 'X-Header-Name', regex used for validation is '[-A-Za-z0-9]+')",
      ];
}

/** `*.example.com` */
export function checkWildcardSubdomain(name: string): string[] {
  const errors = longerThan(name, MAX_SUBDOMAIN_CHARS);
  if (!name.startsWith('*.') || !isDnsSubdomain(name.slice(2))) {
    errors.push(
      "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, which must consist of lower case alphanumeric characters, '-' or '.' and end with an alphanumeric character (e.g. '*.example.com', regex used for validation is '\\*\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
    );
  }
  return errors;
}

/**
 * Names are checked with one look at each character: a pod has fifty names, and a regular expression takes twice as long for
 * most of them.
 */

const OTHER = 0;
const LOWER_OR_DIGIT = 1;
const UPPER = 2;
const DASH = 3;
const DOT = 4;
const UNDERSCORE = 5;

const KINDS = new Uint8Array(128);
for (const character of 'abcdefghijklmnopqrstuvwxyz0123456789')
  KINDS[character.charCodeAt(0)] = LOWER_OR_DIGIT;
for (const character of 'ABCDEFGHIJKLMNOPQRSTUVWXYZ') KINDS[character.charCodeAt(0)] = UPPER;
KINDS['-'.charCodeAt(0)] = DASH;
KINDS['.'.charCodeAt(0)] = DOT;
KINDS['_'.charCodeAt(0)] = UNDERSCORE;

function kindAt(text: string, at: number): number {
  const code = text.charCodeAt(at);
  return code < KINDS.length ? (KINDS[code] ?? OTHER) : OTHER;
}

/** `[a-z0-9]([-a-z0-9]*[a-z0-9])?` */
export const isDnsLabel = (text: string): boolean => areLabels(text, text.length, false);

/** Labels with dots between, up to `end`. */
export const isDnsSubdomain = (text: string, end: number = text.length): boolean =>
  areLabels(text, end, true);

function areLabels(text: string, end: number, dotted: boolean): boolean {
  // The start of the text counts as a dot: a letter or a digit must stand after a dot, and before one.
  let before = DOT;
  for (let at = 0; at < end; at += 1) {
    const kind = kindAt(text, at);
    if (kind === DASH ? before === DOT : kind !== LOWER_OR_DIGIT) {
      if (kind !== DOT || !dotted || before !== LOWER_OR_DIGIT) return false;
    }
    before = kind;
  }
  return before === LOWER_OR_DIGIT;
}

/** `([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]`, from `start` on. */
export function isQualifiedPart(text: string, start = 0): boolean {
  const last = text.length - 1;
  if (last < start || !isLetterOrDigit(text, start) || !isLetterOrDigit(text, last)) return false;
  for (let at = start + 1; at < last; at += 1) if (kindAt(text, at) === OTHER) return false;
  return true;
}

function isLetterOrDigit(text: string, at: number): boolean {
  const kind = kindAt(text, at);
  return kind === LOWER_OR_DIGIT || kind === UPPER;
}
