import type { FieldPath } from '../../object/field-path.ts';
import { checkName, checkPort } from '../../object/text-formats.ts';
import { mustBeName } from './name-rules.ts';

/** How admission and conversion webhooks are reached. */

interface Service {
  readonly namespace?: string;
  readonly name?: string;
  readonly path?: string;
  readonly port?: number;
}

interface WebhookClient {
  readonly url?: string;
  readonly service?: Service;
}

/** Requires either a URL or a service. */
export function validateWebhookClient(at: FieldPath, { url, service }: WebhookClient): void {
  if ((url === undefined) === (service === undefined))
    at.required('exactly one of url or service is required');
  else if (url !== undefined) validateUrl(at.field('url'), url);
  else if (service !== undefined) validateService(at.field('service'), service);
}

const FORM = '; desired format: https://host[/path]';
/** RFC 3986, appendix B: scheme, authority, path, query, fragment. */
const URL_PARTS = /^(?:([^:/?#]+):)?(?:\/\/([^/?#]*))?[^?#]*(?:\?([^#]*))?(?:#(.*))?$/s;

function validateUrl(at: FieldPath, url: string): void {
  const problem = urlProblem(url);
  if (problem !== undefined) {
    at.required(`url must be a valid URL: ${problem}${FORM}`);
    return;
  }
  const [, scheme = '', authority = '', query = '', fragment = ''] = URL_PARTS.exec(url) ?? [];
  const userEnd = authority.lastIndexOf('@');
  const host = authority.slice(userEnd + 1);
  if (scheme.toLowerCase() !== 'https') at.invalid(scheme, `'https' is the only allowed URL scheme${FORM}`);
  if (host === '') at.invalid(host, `host must be specified${FORM}`);
  if (userEnd >= 0) at.invalid(authority.slice(0, userEnd), 'user information is not permitted in the URL');
  if (fragment !== '') at.invalid(fragment, 'fragments are not permitted in the URL');
  if (query !== '') at.invalid(query, 'query parameters are not permitted in the URL');
}

/** The texts of Go's net/url. */
function urlProblem(url: string): string | undefined {
  const inUrl = (why: string): string => `parse ${JSON.stringify(url)}: ${why}`;
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
  if (/[\u0000-\u001f\u007f]/.test(url)) return inUrl('net/url: invalid control character in URL');
  if (url.startsWith(':')) return inUrl('missing protocol scheme');
  const badEscape = /%(?![0-9A-Fa-f]{2}).{0,2}/s.exec(url);
  if (badEscape !== null) return inUrl(`invalid URL escape ${JSON.stringify(badEscape[0])}`);
  const port = /^[^:/?#]+:\/\/[^/?#]*?(:[^:/?#\]]*[^0-9:/?#\]][^:/?#\]]*)(?=[/?#]|$)/.exec(url);
  return port === null || port[1]?.includes('@') === true
    ? undefined
    : inUrl(`invalid port ${JSON.stringify(port[1])} after host`);
}

function validateService(at: FieldPath, { name = '', namespace = '', port = 0, path = '' }: Service): void {
  if (name === '') at.field('name').required('service name is required');
  if (namespace === '') at.field('namespace').required('service namespace is required');
  const problems = checkPort(port);
  if (problems.length > 0) at.field('port').invalid(port, `port is not valid: ${problems.join(', ')}`);
  validateServicePath(at.field('path'), path);
}

function validateServicePath(at: FieldPath, path: string): void {
  if (path === '' || path === '/') return;
  if (path === '//') {
    at.invalid(path, 'segment[0] may not be empty');
    return;
  }
  if (!path.startsWith('/')) at.invalid(path, "must start with a '/'");
  for (const [index, step] of path.slice(1).replace(/\/$/, '').split('/').entries()) {
    if (step === '') at.invalid(path, `segment[${index}] may not be empty`);
    else for (const why of checkName(step, 'dns-subdomain')) at.invalid(path, `segment[${index}]: ${why}`);
  }
}

/** Versions of the review object that this server can send. */
const REVIEW_VERSIONS = ['v1', 'v1beta1'];

/** Versions of the review object that a webhook takes: each once, and one of them known here. */
export function mustBeReviewVersions(at: FieldPath, versions: readonly string[]): void {
  if (versions.length === 0) {
    at.required(`must specify one of ${REVIEW_VERSIONS.join(', ')}`);
    return;
  }
  const seen = new Set<string>();
  for (const [path, version] of at.each(versions)) {
    if (seen.has(version)) path.invalid(version, 'duplicate version');
    else mustBeName(path, version, 'dns-1035-label');
    seen.add(version);
  }
  if (!REVIEW_VERSIONS.some((known) => seen.has(known)))
    at.invalid(versions, `must include at least one of ${REVIEW_VERSIONS.join(', ')}`);
}
